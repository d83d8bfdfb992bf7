// What a verification of a trust record says (interface §2.3), and the verification of a record as it is stored now.
import { randomUUID } from 'node:crypto'
import { canonicalize, type Json } from './json/canonical.ts'
import { sealedText, type Sealed } from './sealed.ts'
import { sha256Hex } from './signing/sha256.ts'
import { canonicalText, type Crypto } from './verifier/evidence.ts'
import { checkTrustRecord } from './verifier/trust-record.ts'

export interface Verification {
  readonly verificationId: string
  readonly trustRecordHash: string
  readonly status: 'VERIFIED' | 'FAILED'
  /** Canonical text of the Verification of interface §2.3. */
  readonly text: string
}

type Members = { readonly [name: string]: Json }

/**
 * Verifies the bytes that are about to be stored.
 * @throws SyntaxError where they are no JSON
 */
export function verifySealed(record: Sealed, businessTransactionId: string, crypto: Crypto): Verification {
  const evidence = parsed(record)
  const trustRecordHash = evidence['trustRecordHash'] as string
  return describe({ businessTransactionId, trustRecordHash }, problemsOf(evidence, crypto))
}

/** What else the tables hold of a record: its key, and the copies that the transaction's row keeps. */
interface StoredBeside {
  readonly id: string
  readonly transaction: string | null
  readonly executionAuthorization: string | null
}

/**
 * Verifies a record as it is stored now. Always answers: one that does not hold gets a FAILED verification that says why. Besides
 * the record's own checks, whatever stands twice in the tables must be the same: a change of either copy is one of the evidence.
 */
export function verifyStored(record: Sealed, beside: StoredBeside, crypto: Crypto): Verification {
  // Of the bytes that were verified: where they hold, it is the hash that the record states.
  const trustRecordHash = sha256Hex(record.body)
  const problems = storedProblems(record, { ...beside, trustRecordHash }, crypto)
  return describe({ businessTransactionId: beside.id, trustRecordHash }, problems)
}

function storedProblems(
  record: Sealed,
  beside: StoredBeside & { trustRecordHash: string },
  crypto: Crypto,
): string[] {
  const evidence = readable(record)
  if (evidence === undefined) return ['The stored trust record cannot be read']
  return [
    ...problemsOf(evidence, crypto),
    ...(evidence['trustRecordHash'] === beside.trustRecordHash
      ? []
      : ['The stored bytes do not match the trust record hash']),
    ...(evidence['businessTransactionId'] === beside.id
      ? []
      : ['The trust record is stored under another transaction']),
    ...(sameText(evidence['transaction'], beside.transaction)
      ? []
      : ['The stored transaction differs from the one in the trust record']),
    ...(sameText(evidence['authorization'], beside.executionAuthorization)
      ? []
      : ['The stored execution authorization differs from the one in the trust record']),
  ]
}

/** Undefined for what was changed in the database until it is no JSON object. */
function readable(record: Sealed): Members | undefined {
  try {
    const value: unknown = parsed(record)
    return typeof value === 'object' && value !== null ? (value as Members) : undefined
  } catch {
    return undefined
  }
}

function sameText(member: Json | undefined, stored: string | null): boolean {
  return member !== undefined && stored !== null && canonicalText(member) === stored
}

function parsed(record: Sealed): Members {
  return JSON.parse(sealedText(record)) as Members
}

function problemsOf(evidence: Members, crypto: Crypto): string[] {
  return checkTrustRecord(evidence, crypto).flatMap(({ problem }) => problem ?? [])
}

function describe(
  { businessTransactionId, trustRecordHash }: { businessTransactionId: string; trustRecordHash: string },
  problems: readonly string[],
): Verification {
  const verificationId = randomUUID()
  const status = problems.length === 0 ? 'VERIFIED' : 'FAILED'
  const text = canonicalize({
    businessTransactionId,
    message: problems.length === 0 ? 'Execution Trust Record verified successfully.' : problems.join('; '),
    status,
    trustRecordHash,
    verificationId,
    verifiedAt: new Date().toISOString(),
  })
  return { verificationId, trustRecordHash, status, text }
}
