// GET /approval-requests/{id}/judgement: the decision that the requester would get now, with the approvals that its request asks for taken as
// given. The limits of a policy count the requester's executions, so no other caller's evaluation has their values.
import { randomUUID } from 'node:crypto'
import { grantsOf, quorumOf } from '../../src/core/approval-requests/grants.ts'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { denied, isLeftOut, type Mismatch } from '../../src/core/policy/evaluate.ts'
import type { ApprovalRequestContent } from '../../src/formats/schemas/approval-request.ts'
import type { BusinessTransactionInput } from '../../src/formats/schemas/business-transaction.ts'
import { isUuid } from '../../src/formats/schemas/primitives.ts'
import { readApprovalRequest } from '../../src/store/tables/approval-requests.ts'
import type { ThreadContext } from '../context.ts'
import { validate, type Accepted } from '../execute/validate/validate.ts'
import type { WorkerRequest } from '../in-flight.ts'
import type { LoadedPolicy } from '../policies.ts'
import { decideOn } from '../sandbox/evaluate.ts'
import { readPresent, type PresentState } from '../sandbox/present.ts'

export async function judgeRequest(request: WorkerRequest, thread: ThreadContext) {
  const id = (request.params['id'] ?? '').toLowerCase()
  const which = { persons: thread.persons.current(), owner: request.caller.reads }
  const found = isUuid(id) ? await readApprovalRequest(thread.pool, { requestId: id }, which) : null
  if (found === null) return failures.approvalRequestNotFound()
  const content = JSON.parse(found.body) as ApprovalRequestContent
  const now = thread.clock()
  const version = thread.policies.find(content.policy)
  const { quorum } = content
  const decision =
    version === undefined
      ? null
      : await decisionOf(asSubmitted(content, { request, now }), { ...thread, version, quorum, now })
  return { body: JSON.stringify({ requestId: id, evaluatedAt: now.toISOString(), decision }) }
}

/** The transaction that the requester will execute; members that no request has get values without meaning. */
function asSubmitted(
  {
    requestedBy,
    principalId,
    capability,
    target,
    parameters,
    policy,
    signals,
    createdAt,
  }: ApprovalRequestContent,
  { request, now }: { readonly request: WorkerRequest; readonly now: Date },
): Accepted {
  const [id, authorityId, authorizationId] = [randomUUID(), randomUUID(), randomUUID()]
  const transaction = {
    businessTransactionId: id,
    metadata: { businessTransactionId: id },
    authority: { authorityId, authorityType: 'SERVICE', principalId, issuedAt: createdAt },
    authorization: { authorizationId, authorityId, issuedAt: createdAt },
    intent: { intentId: id, authorizationId, action: capability, target, parameters, createdAt },
    policy: { name: policy.name, version: policy.version },
    signals,
  }
  const accepted = validate(
    {
      request: {
        ...request,
        // Its scope was checked when it asked, and is checked again when it executes.
        caller: { callerId: requestedBy, reads: requestedBy, scope: 'unchecked' },
        body: Buffer.from(JSON.stringify(transaction)),
      },
    },
    now.toISOString(),
  )
  if (accepted instanceof Failure)
    throw new Error(`an approval request is no transaction: ${accepted.message}`)
  return accepted
}

type Decided = ReturnType<typeof decideOn>['decision']

/** The decision with the cheapest approvals that the request asks for and the rules approve; where none is enough, with all of them. */
async function decisionOf(
  accepted: Accepted,
  { version, quorum, ...tools }: ThreadContext & { version: LoadedPolicy; quorum: number; now: Date },
): Promise<Decided> {
  const { policy, standing } = version
  const { signals } = accepted.transaction
  const state = standing === 'APPROVED' ? await readPresent({ ...accepted, version }, tools) : {}
  const approvals = policy.verify.filter((verifier) => verifier.by === 'approval')
  const [leftOut, declared] = [
    approvals.filter(({ signal }) => isLeftOut(signal, policy, signals)),
    approvals.filter(({ signal }) => signals[signal] === true),
  ]
  const forLeftOut = quorum - declared.reduce((sum, one) => sum + one.quorum, 0)
  let decided: Decided | undefined
  for (const granted of grantsOf(leftOut)) {
    if (decided !== undefined && quorumOf(leftOut, granted) > forLeftOut) break
    decided = decideOn(version, accepted.transaction, { now: tools.now, state, granted }).decision
    if (decided.outcome === 'APPROVED') break
  }
  return heldAgainst(state, { decided: decided!, signals })
}

/** A limit's value that the requester declared must be the present one, which the execution compares. */
function heldAgainst(
  state: PresentState,
  { decided, signals }: { decided: Decided; signals: BusinessTransactionInput['signals'] },
): Decided {
  const mismatches = Object.entries(state).flatMap(([signal, { value, by }]): Mismatch[] => {
    const { [signal]: declared } = signals
    if (by !== 'history' || declared === undefined || declared === value) return []
    return [{ signal, declared, verified: value, source: by }]
  })
  return decided.outcome !== 'APPROVED' || mismatches.length === 0
    ? decided
    : { ...decided, outcome: 'DENIED', reason: denied(mismatches).reason, mismatches }
}
