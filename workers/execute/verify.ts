// Seventh stage: verifies what each record claims from the bytes that will be stored (decisions §4; docs/design-notes.md "What is verified when").
import type { Json } from '../../src/formats/json/canonical.ts'
import type { Members } from '../../src/formats/json/members.ts'
import { checkBindings } from '../../src/formats/artifacts/trust-record.ts'
import { failures } from '../../src/core/errors/errors.ts'
import { openCrypto } from '../../src/core/signing/crypto.ts'
import { carriersIn, type Signature, type SignatureMemo } from '../../src/core/signing/signature.ts'
import { verified, verifySealed, type Verification } from '../../src/core/evidence/verification.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import type { ThreadContext } from '../context.ts'
import type { Finished } from '../in-flight.ts'
import { checkSampled } from './sampled.ts'
import { recordText, sealText, type SealedExecution } from './seal.ts'

export interface VerifiedExecution extends SealedExecution {
  readonly verification: Verification
}

interface VerifyWith extends Pick<ThreadContext, 'findKey' | 'approvers' | 'clock' | 'newId'> {
  /** The memo of the group that was sealed together: it knows the heads of its batch. */
  readonly signatureMemo: SignatureMemo
}

/**
 * Verifies a group that was sealed together. Records that rest on verified state are few, and their approvals are in their text: each is verified
 * whole.
 */
export function verify(
  sealed: readonly (SealedExecution | Finished)[],
  tools: VerifyWith & Pick<ThreadContext, 'pick' | 'evidenceFaults'>,
): (VerifiedExecution | Finished)[] {
  return checkSampled<SealedExecution, VerifiedExecution>(
    sealed,
    {
      isPlain: ({ decision }) => !decision.verifiesState,
      whole: (item) => verifyWhole(item, tools),
      holds: ({ verification }) => verification.status === 'VERIFIED',
      unaltered: sealedTogether,
      rest: (item) => verifyRest(item, tools),
    },
    tools,
    failures.outcomeUnknown,
  )
}

/** Verifies a record as any later reader would. */
function verifyWhole(execution: SealedExecution, tools: VerifyWith): VerifiedExecution {
  const { businessTransactionId } = execution.transaction
  const crypto = cryptoOf(execution, tools)
  const verification = verifySealed(execution.record, { ...tools, businessTransactionId, crypto })
  return { ...execution, verification }
}

/** The records whose bytes equal those made again from their batch's tree and their parts. The gate has passed the authorization's text. */
function sealedTogether(
  items: readonly SealedExecution[],
  sample: SealedExecution,
): ReadonlySet<SealedExecution> {
  return carriersIn<SealedExecution>('trust-record', items, {
    sample: { item: sample, signatures: sample.signatures },
    textOf: ({ record }) => record.body,
    carries: isMadeOf,
  })
}

function isMadeOf(item: SealedExecution, signatures: readonly Signature[]): boolean {
  const { body, seal } = item.record
  const hash = sha256Hex(body)
  return (
    hash === item.trustRecordHash &&
    body === recordText(item) &&
    seal === sealText(signatures, { signedAt: item.recordCreatedAt, hash })
  )
}

/** Everything but hash and signatures: the members of the permission against those of the transaction and of the execution. */
function verifyRest(item: SealedExecution, tools: VerifyWith): VerifiedExecution {
  const { transaction, canonical, permission, trustRecordHash } = item
  const { businessTransactionId, intent } = transaction
  const { parameters, policy, signals } = canonical
  const members = {
    businessTransactionId,
    transaction: { ...transaction, intent: { ...intent, parameters }, policy, signals } as Json,
    authorization: { payload: permission },
    executions: [JSON.parse(item.execution.text) as Json],
  }
  const holds = checkBindings(members as Members, cryptoOf(item, tools)).every(
    ({ problem }) => problem === undefined,
  )
  if (!holds) return verifyWhole(item, tools)
  return { ...item, verification: verified({ businessTransactionId, trustRecordHash }, tools) }
}

/** Takes over the signatures that are known to be valid: for the same bytes, by the same key. */
function cryptoOf({ authorizationMemo }: SealedExecution, { findKey, approvers, signatureMemo }: VerifyWith) {
  return openCrypto({ findKey, findApproverKey: approvers.find }, (artifact) =>
    artifact === 'execution-authorization' ? authorizationMemo : signatureMemo,
  )
}
