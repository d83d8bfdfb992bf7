// POST /approvals (decisions §7): the authority of an approval is its approver's signature, so any caller may deliver it. An approval that
// does not verify is not stored; a stored one waits for the one execution that uses it up.
import { approval as approvalKind } from '../../src/formats/artifacts/approval.ts'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { maySign, whoMaySign } from '../../src/core/approval-requests/signers.ts'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { isBehind, isSamePerson, type Persons } from '../../src/formats/people/persons.ts'
import { SignedApproval } from '../../src/formats/schemas/approval.ts'
import type { ApprovalRequestContent } from '../../src/formats/schemas/approval-request.ts'
import { approvalText } from '../../src/store/tables/sealed.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import { approverKeyId, approverKeys } from '../../src/core/signing/approver-keys.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { humanSignatureProblem } from '../../src/core/signing/human-key.ts'
import { findCounterMisfit, insertApproval } from '../../src/store/tables/approvals.ts'
import {
  lockApprovalRequest,
  readApprovalRequest,
  type StandingRequest,
} from '../../src/store/tables/approval-requests.ts'
import { readApprover } from '../../src/store/tables/approvers.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import { allOrNothing } from '../all-or-nothing.ts'
import { instantMs } from '../../src/formats/artifacts/instant.ts'
import { startRecording } from '../evidence/recording.ts'
import type { ThreadContext } from '../context.ts'
import type { WorkerRequest } from '../in-flight.ts'

/** How far an approver's clock may be ahead of ours; an approval with a later time was not given yet. */
const CLOCK_TOLERANCE_MS = 60_000

const approvalOf = bodyOf(SignedApproval)

export async function deliverApproval({ caller, body }: WorkerRequest, thread: ThreadContext) {
  const { pool, persons } = thread
  const approval = approvalOf(body)
  if (approval instanceof Failure) return approval
  const now = new Date()
  const refused = untimely(approval, now) ?? (await unsigned(approval, pool))
  if (refused !== undefined) return refused
  const { payload } = approval
  const { approvalId, approverId, keyId, capability, requestHash } = payload
  const row = {
    ...payload,
    parametersHash: 'parametersHash' in payload.scope ? payload.scope.parametersHash : null,
    requestHash: requestHash ?? null,
    issuedAt: new Date(instantMs(payload.issuedAt)).toISOString(),
    expiresAt: new Date(instantMs(payload.expiresAt)).toISOString(),
    body: canonicalize(approval),
    deliveredBy: caller.callerId,
    deliveredAt: now.toISOString(),
  }
  return allOrNothing(pool, async (sql) => {
    const request =
      requestHash === undefined
        ? undefined
        : await requestOf({ ...payload, requestHash }, { sql, persons: persons.current() })
    if (request instanceof Failure) return request
    const completed = request?.missing === 1 && request.eligible.includes(approverId)
    const recording = startRecording(thread)
    // The approver's key was read from the database just now.
    const position = recording.enter(approvalKind, payload)
    if (!(await insertApproval(sql, { ...row, ...position })))
      return failures.conflict('An approval with this approvalId or this nonce was delivered before.')
    const misfit = approval.webauthn === undefined ? undefined : await findCounterMisfit(sql, approvalId)
    const done = { route: 'POST /approvals', by: row.deliveredBy, at: row.deliveredAt, capability } as const
    recording.audit({
      ...done,
      type: 'approval.delivered',
      reason: 'A signed approval was delivered.',
      detail: { approvalId, approverId, keyId },
    })
    // Reported and not refused: authenticators lose their counters too, and the approval is the human's all the same unless they say
    // otherwise.
    if (misfit !== undefined)
      recording.audit({
        ...done,
        type: 'approval.counter_went_back',
        reason: 'The signature counter of the passkey does not grow: there may be a copy of it.',
        severity: 'WARNING',
        detail: {
          approvalId,
          approverId,
          keyId,
          counter: misfit.counter,
          otherApprovalId: misfit.approvalId,
          otherCounter: misfit.other,
        },
      })
    if (request !== undefined && completed)
      recording.audit({
        ...done,
        type: 'approval_request.approved',
        reason: 'As many humans as the policy asks for have approved the request.',
        detail: { requestId: request.requestId, submittedBy: request.requestedBy },
      })
    await sql.run(recording.statements())
    return { body: approvalText({ ...row, status: 'UNUSED', consumedBy: null, consumedAt: null }) }
  })
}

/**
 * Locks the request that an approval from version 2 on is for: of two approvals that come at once, one completes it.
 * @returns the request before this approval; or why the approval would not count
 */
async function requestOf(
  { requestHash, approverId, capability, target, scope }: SignedApproval['payload'] & { requestHash: string },
  { sql, persons }: { sql: Sql; persons: Persons },
): Promise<StandingRequest | Failure> {
  const request = (await lockApprovalRequest(sql, requestHash))
    ? await readApprovalRequest(sql, { requestHash }, { persons })
    : null
  if (request === null)
    return failures.invalidField('payload.requestHash must be the hash of an approval request.')
  const content = JSON.parse(request.body) as ApprovalRequestContent
  if (capability !== content.capability)
    return failures.invalidField('payload.capability must be that of the approval request.')
  if (target !== content.target)
    return failures.invalidField('payload.target must be that of the approval request.')
  const parametersHash = sha256Hex(canonicalize(content.parameters as Json))
  if (!('parametersHash' in scope) || scope.parametersHash !== parametersHash)
    return failures.invalidField(
      'payload.scope.parametersHash must be the hash of the parameters of the approval request.',
    )
  if (isBehind(persons, approverId, [content.requestedBy, content.principalId]))
    return failures.invalidField('payload.approverId must not be a person who asked for the approval.')
  if (request.status !== 'PENDING' && request.status !== 'APPROVED')
    return failures.conflict(`The approval request is ${request.status} already.`)
  if (!maySign(request, approverId))
    return failures.invalidField(`payload.approverId must be ${whoMaySign(request)}.`)
  const given = request.approvals.find((one) => isSamePerson(persons, one.approverId, approverId))
  return given === undefined
    ? request
    : failures.conflict(
        `Approver '${approverId}' has approved this request already${given.approverId === approverId ? '' : `, as '${given.approverId}'`}.`,
      )
}

function untimely({ payload }: SignedApproval, now: Date): Failure | undefined {
  // As every verifier will read them: a time that cannot be read, such as a leap second, compares as false.
  const issuedAt = instantMs(payload.issuedAt)
  const expiresAt = instantMs(payload.expiresAt)
  if (!(issuedAt <= now.getTime() + CLOCK_TOLERANCE_MS))
    return failures.invalidField('payload.issuedAt must not be in the future.')
  if (!(expiresAt > now.getTime())) return failures.invalidField('payload.expiresAt must be in the future.')
  if (!(expiresAt > issuedAt))
    return failures.invalidField('payload.expiresAt must be after payload.issuedAt.')
  return undefined
}

async function unsigned(
  { payload, algorithm, signature, webauthn }: SignedApproval,
  sql: Sql,
): Promise<Failure | undefined> {
  // From the database, not from this thread's memory: a key may have been revoked a moment ago.
  const approver = await readApprover(sql, payload)
  if (approver === null || approver.revokedAt !== null)
    return failures.invalidField(`payload.keyId must be an enrolled key of approver '${payload.approverId}'.`)
  const keyId = approverKeyId(approver)
  const key = approverKeys([approver]).get(keyId)?.key
  const signed = { algorithm, value: signature, webauthn }
  const why = key && humanSignatureProblem('approval', canonicalize(payload), signed, key)
  if (key !== undefined && why === undefined) return undefined
  const said = approver.passkey === undefined ? '' : `: ${why}`
  return failures.invalidField(`signature must be the signature of ${keyId} over the payload${said}.`)
}
