// The signed Refusal Record of a transaction that is not executed (decisions §4), stored in the commit that claims its id.
import type { Fresh } from '../../fresh.ts'
import { canonicalize } from '../../../src/formats/json/canonical.ts'
import type { Mismatch } from '../../../src/core/policy/evaluate.ts'
import { sha256Hex } from '../../../src/store/sha256.ts'
import type { SigningKey } from '../../../src/core/signing/keys.ts'
import { signEd25519 } from '../../../src/core/signing/signature.ts'
import type { Decision } from './decision.ts'
import type { Accepted } from '../validate/validate.ts'

export interface Refusal {
  /** Canonical text of the signed members. */
  readonly body: string
  /** The members beside them, see src/store/tables/sealed.ts. */
  readonly seal: string
  /** refusalRecordHash. */
  readonly hash: string
}

export function refuse(
  accepted: Accepted,
  {
    decision,
    mismatches,
    approvable,
    key,
    now,
    newId,
  }: Pick<Fresh, 'newId'> & {
    decision: Decision
    mismatches: readonly Mismatch[]
    approvable: boolean
    key: SigningKey
    now: Date
  },
): Refusal {
  const body = canonicalize({
    refusalRecordId: newId(),
    businessTransactionId: accepted.transaction.businessTransactionId,
    decision: decision.text,
    evaluatedIntent: accepted.canonical.intent,
    mismatches: mismatches.map((mismatch) => ({ ...mismatch })),
    ...(approvable ? { approvable } : {}),
    submittedBy: accepted.request.caller.callerId,
    createdAt: accepted.createdAt,
  })
  const signature = { ...signEd25519('refusal-record', body, key), signedAt: now.toISOString() }
  const hash = sha256Hex(body)
  return { body, seal: canonicalize({ refusalRecordHash: hash, signature }), hash }
}
