// Seventh step: recomputes from the record's text what the record claims, as anyone who reads it later would (decisions §4).
import { randomUUID } from 'node:crypto'
import { canonicalize, type Json } from '../../src/canonical.ts'
import { sealedText, type Sealed } from '../../src/sealed.ts'
import { checkTrustRecord, type Crypto } from '../../src/verifier/trust-record.ts'
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

/** The members that are ours whatever else a record holds. */
interface SealedMembers {
  readonly businessTransactionId: string
  readonly trustRecordHash: string
  readonly [member: string]: Json
}

/** Trusts nothing that was in memory: it starts from the bytes that will be stored. */
export function verify(execution: SealedExecution, crypto: Crypto): VerifiedExecution {
  return { ...execution, verification: verification(execution.record, crypto, new Date()) }
}

/** Verifies a record as stored. Always answers: a record that does not hold gets a FAILED verification that says why. */
export function verification(record: Sealed, crypto: Crypto, now: Date): Verification {
  const parsed = JSON.parse(sealedText(record)) as SealedMembers
  const problems = checkTrustRecord(parsed, crypto).flatMap(({ problem }) => problem ?? [])
  const verificationId = randomUUID()
  const status = problems.length === 0 ? 'VERIFIED' : 'FAILED'
  const { trustRecordHash } = parsed
  const text = canonicalize({
    verificationId,
    businessTransactionId: parsed.businessTransactionId,
    status,
    message: problems.length === 0 ? 'Execution Trust Record verified successfully.' : problems.join('; '),
    verifiedAt: now.toISOString(),
    trustRecordHash,
  })
  return { verificationId, trustRecordHash, status, text }
}
