// A verification of a trust record (interface §2.3), made for the record as it is stored now.
import { canonicalize, type Json } from '../../formats/json/canonical.ts'
import { sealedText, type Sealed } from '../../store/tables/sealed.ts'
import { sha256Hex } from '../../store/sha256.ts'
import type { Crypto } from '../../formats/artifacts/evidence.ts'
import { VERIFIED_MESSAGE } from '../../formats/artifacts/whole-record.ts'
import { checkTrustRecord } from '../../formats/artifacts/trust-record.ts'

export interface Verification {
  readonly verificationId: string
  readonly trustRecordHash: string
  readonly status: 'VERIFIED' | 'FAILED'
  /** The reasons for a failure, as sentences. */
  readonly problems: readonly string[]
  /** Canonical text of the Verification of interface §2.3. */
  readonly text: string
}

interface Fresh {
  readonly clock: () => Date
  /** A new verificationId. */
  readonly newId: () => string
}

interface VerifyWith extends Fresh {
  readonly crypto: Crypto
}

type Members = { readonly [name: string]: Json }

/**
 * Verifies the bytes that are about to be stored.
 * @throws SyntaxError when they are not JSON
 */
export function verifySealed(
  record: Sealed,
  { businessTransactionId, crypto, ...fresh }: VerifyWith & { readonly businessTransactionId: string },
): Verification {
  const evidence = parsed(record)
  const trustRecordHash = evidence['trustRecordHash'] as string
  return describe({ businessTransactionId, trustRecordHash, problems: problemsOf(evidence, crypto) }, fresh)
}

/** The verification of a record that the caller has found valid. */
export function verified(
  { businessTransactionId, trustRecordHash }: { businessTransactionId: string; trustRecordHash: string },
  fresh: Fresh,
): Verification {
  return describe({ businessTransactionId, trustRecordHash, problems: [] }, fresh)
}

/** A record with its key. */
interface Stored extends Sealed {
  readonly id: string
}

/**
 * Verifies a record as it is stored now. Always answers: an invalid record gets a FAILED verification with the reason. Its
 * transaction and its authorization are read from `business_transactions`: a change there is a change of the evidence.
 */
export function verifyStored(stored: Stored, { crypto, ...fresh }: VerifyWith): Verification {
  const { trustRecordHash, problems } = judgeStored(stored, crypto)
  return describe({ businessTransactionId: stored.id, trustRecordHash, problems }, fresh)
}

/** @returns the hash of the stored bytes, which equals the record's own hash if it is valid, and the problems; none if it is valid */
export function judgeStored(stored: Stored, crypto: Crypto): { trustRecordHash: string; problems: string[] } {
  const trustRecordHash = sha256Hex(stored.body)
  return { trustRecordHash, problems: storedProblems({ ...stored, trustRecordHash }, crypto) }
}

function storedProblems(stored: Stored & { trustRecordHash: string }, crypto: Crypto): string[] {
  const evidence = readable(stored)
  if (evidence === undefined) return ['The stored trust record cannot be read']
  return [
    ...problemsOf(evidence, crypto),
    ...(evidence['trustRecordHash'] === stored.trustRecordHash
      ? []
      : ['The stored bytes do not match the trust record hash']),
    ...(evidence['businessTransactionId'] === stored.id
      ? []
      : ['The trust record is stored under another transaction']),
    ...(evidence['transaction'] === null ? ['The transaction of the trust record is missing'] : []),
  ]
}

/** Undefined for a record that was changed in the database and is no JSON object any more. */
function readable(record: Sealed): Members | undefined {
  try {
    const value: unknown = parsed(record)
    return typeof value === 'object' && value !== null ? (value as Members) : undefined
  } catch {
    return undefined
  }
}

function parsed(record: Sealed): Members {
  return JSON.parse(sealedText(record)) as Members
}

function problemsOf(evidence: Members, crypto: Crypto): string[] {
  return checkTrustRecord(evidence, crypto).flatMap(({ problem }) => problem ?? [])
}

function describe(
  {
    businessTransactionId,
    trustRecordHash,
    problems,
  }: { businessTransactionId: string; trustRecordHash: string; problems: readonly string[] },
  { clock, newId }: Fresh,
): Verification {
  const verificationId = newId()
  const status = problems.length === 0 ? 'VERIFIED' : 'FAILED'
  const text = canonicalize({
    businessTransactionId,
    message: problems.length === 0 ? VERIFIED_MESSAGE : problems.join('; '),
    status,
    trustRecordHash,
    verificationId,
    verifiedAt: clock().toISOString(),
  })
  return { verificationId, trustRecordHash, status, problems, text }
}
