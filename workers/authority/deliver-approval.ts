// POST /approvals (decisions §7): an approver's signature is its authority, so any caller may deliver it. What does not verify is not
// stored; what is stored waits for the one execution that uses it up.
import { canonicalize } from '../../src/canonical.ts'
import { failures, type Failure } from '../../src/errors.ts'
import { SignedApproval } from '../../src/schemas/approval.ts'
import { bodyOf } from '../../src/shape.ts'
import { approverKeyId, approverKeys } from '../../src/signing/approver-keys.ts'
import { verifySignature } from '../../src/signing/signature.ts'
import { approvalText, insertApproval } from '../../src/tables/approvals.ts'
import { readApprover } from '../../src/tables/approvers.ts'
import { failureOf } from '../../src/tables/sql.ts'
import { instant } from '../../src/verifier/instant.ts'
import type { Thread } from '../execute/index.ts'
import { arriveWithText, forward, forwardAsync, type Answered, type Travelling } from '../execute/road.ts'

/** A clock may be ahead of ours; an approval that says it was given later than this was not given yet. */
const CLOCK_TOLERANCE_MS = 60_000

const approvalOf = bodyOf(SignedApproval)

interface Delivered extends Travelling {
  readonly approval: SignedApproval
}

export async function deliverApprovals(batch: readonly Travelling[], thread: Thread): Promise<Answered[]> {
  const now = new Date()
  const read = forward(batch, ({ request }): Delivered | Failure => {
    const approval = approvalOf(request.body)
    return 'payload' in approval ? (untimely(approval, now) ?? { request, approval }) : approval
  })
  const delivered = await forwardAsync(read, (item) => deliver(item, { ...thread, now }), failureOf)
  return arriveWithText(delivered)
}

function untimely({ payload }: SignedApproval, now: Date): Failure | undefined {
  // As every verifier will read them: a time that cannot be read, such as a leap second, compares as false.
  const issuedAt = instant(payload.issuedAt)
  const expiresAt = instant(payload.expiresAt)
  if (!(issuedAt <= now.getTime() + CLOCK_TOLERANCE_MS))
    return failures.invalidField('payload.issuedAt must not be in the future.')
  if (!(expiresAt > now.getTime())) return failures.invalidField('payload.expiresAt must be in the future.')
  if (!(expiresAt > issuedAt))
    return failures.invalidField('payload.expiresAt must be after payload.issuedAt.')
  return undefined
}

async function deliver(
  { request, approval }: Delivered,
  { pool, now }: Pick<Thread, 'pool'> & { now: Date },
): Promise<(Travelling & { text: string }) | Failure> {
  const { payload, algorithm, signature } = approval
  // From the database, not from what this thread knows: a key may have been revoked a moment ago.
  const approver = await readApprover(pool, payload)
  if (approver === null || approver.revokedAt !== null)
    return failures.invalidField(`payload.keyId must be an enrolled key of approver '${payload.approverId}'.`)
  const keyId = approverKeyId(approver)
  const key = approverKeys([approver]).get(keyId)?.publicKey
  const signed = { algorithm, keyId, value: signature }
  if (key === undefined || !verifySignature('approval', canonicalize(payload), signed, key))
    return failures.invalidField(`signature must be the signature of ${keyId} over the payload.`)
  const row = {
    ...payload,
    parametersHash: 'parametersHash' in payload.scope ? payload.scope.parametersHash : null,
    issuedAt: new Date(instant(payload.issuedAt)).toISOString(),
    expiresAt: new Date(instant(payload.expiresAt)).toISOString(),
    body: canonicalize(approval),
    deliveredBy: request.caller.callerId,
    deliveredAt: now.toISOString(),
  }
  if (!(await insertApproval(pool, row)))
    return failures.conflict('An approval with this approvalId or this nonce was delivered before.')
  return { request, text: approvalText({ ...row, status: 'UNUSED', consumedBy: null, consumedAt: null }) }
}
