// Seventh stage: recomputes from the record's text what the record claims, as anyone who reads it later would (decisions §4).
import { openCrypto } from '../../src/core/signing/crypto.ts'
import type { SignatureMemo } from '../../src/core/signing/signature.ts'
import { verifySealed, type Verification } from '../../src/core/evidence/verification.ts'
import type { ThreadContext } from '../context.ts'
import type { SealedExecution } from './seal.ts'

export interface VerifiedExecution extends SealedExecution {
  readonly verification: Verification
}

/**
 * Starts from the bytes that will be stored. What it takes from earlier stages is which signatures hold: the gate has verified the
 * authorization's, and sealing the head of the records' batch. They count only for the same bytes, signature and key.
 * @param tools.signatureMemo of the group that was sealed together
 */
export function verify(
  execution: SealedExecution,
  {
    findKey,
    approvers,
    signatureMemo,
    clock,
    newId,
  }: Pick<ThreadContext, 'findKey' | 'approvers' | 'clock' | 'newId'> & { signatureMemo: SignatureMemo },
): VerifiedExecution {
  const { businessTransactionId } = execution.transaction
  const crypto = openCrypto({ findKey, findApproverKey: approvers.find }, (artifact) =>
    artifact === 'execution-authorization' ? execution.authorizationMemo : signatureMemo,
  )
  const verification = verifySealed(execution.record, { businessTransactionId, crypto, clock, newId })
  return { ...execution, verification }
}
