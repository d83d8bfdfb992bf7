// Seventh step: recomputes from the record's text what the record claims, as anyone who reads it later would (decisions §4).
import { randomUUID } from 'node:crypto'
import { canonicalize, type Json } from '../../src/core/json/canonical.ts'
import { sealedText, type Sealed } from '../../src/core/sealed.ts'
import type { PublicKey } from '../../src/core/signing/keys.ts'
import { sha256Hex } from '../../src/core/signing/sha256.ts'
import {
  isSameVerification,
  type Signature,
  type VerifiedSignature,
} from '../../src/core/signing/signature.ts'
import { canonicalText } from '../../src/core/verifier/evidence.ts'
import { checkTrustRecord, type Crypto } from '../../src/core/verifier/trust-record.ts'
import type { SealedExecution } from './seal.ts'

export interface Verification {
  readonly verificationId: string
  readonly trustRecordHash: string
  readonly status: 'VERIFIED' | 'FAILED'
  /** Canonical text of the Verification of interface §2.3. */
  readonly text: string
}

export interface VerifiedExecution extends SealedExecution {
  readonly verification: Verification
}

type Members = { readonly [name: string]: Json }

/**
 * Starts from the bytes that will be stored. The one thing it takes from an earlier step is that the gate has verified the
 * authorization's signature, and only where the record holds the same bytes, signature and key.
 */
export function verify(
  execution: SealedExecution,
  tools: { readonly crypto: Crypto; readonly findKey: (keyId: string) => PublicKey | undefined },
): VerifiedExecution {
  const { businessTransactionId } = execution.transaction
  const crypto = withVerified(execution.verifiedSignature, tools)
  const evidence = parsed(execution.record)
  const trustRecordHash = evidence['trustRecordHash'] as string
  return {
    ...execution,
    verification: describe({ businessTransactionId, trustRecordHash }, problemsOf(evidence, crypto)),
  }
}

function withVerified(
  verified: VerifiedSignature | undefined,
  { crypto, findKey }: Parameters<typeof verify>[1],
): Crypto {
  if (verified === undefined) return crypto
  return {
    ...crypto,
    verifySignature(artifact, text, carried) {
      const publicKey = findKey(carried.keyId)
      const signature = carried as Signature
      const known =
        publicKey !== undefined &&
        isSameVerification(verified, { artifact, canonicalText: text, signature, publicKey })
      return known || crypto.verifySignature(artifact, text, carried)
    },
  }
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
