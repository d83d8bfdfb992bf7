// POST /approval-requests/{id}/decline and /withdraw: an approver declines a request, or its caller withdraws it. Both are final.
import { randomUUID } from 'node:crypto'
import { approvalRequestClose } from '../../src/formats/artifacts/approval-request.ts'
import { approvalRequestText } from '../../src/core/approval-requests/reply.ts'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import type {
  ApprovalRequestClose,
  ApprovalRequestContent,
} from '../../src/formats/schemas/approval-request.ts'
import { ApprovalRequestDecline } from '../../src/formats/schemas/approval-request-body.ts'
import { NoMembers } from '../../src/formats/schemas/execution-intent.ts'
import { isUuid } from '../../src/formats/schemas/primitives.ts'
import {
  closeApprovalRequest,
  lockApprovalRequest,
  lockForClosing,
  readApprovalRequest,
  type StandingRequest,
} from '../../src/store/tables/approval-requests.ts'
import type { Transaction } from '../../src/store/postgres/transaction.ts'
import { allOrNothing } from '../all-or-nothing.ts'
import type { ThreadContext } from '../context.ts'
import { startRecording } from '../evidence/recording.ts'
import type { ScopedCaller, WorkerRequest } from '../in-flight.ts'
import { ineligible, notOpen } from './eligible.ts'
import { timeOnRequest } from './times.ts'

type CloseWith = Pick<ThreadContext, 'pool' | 'key' | 'startLogEntries' | 'persons'>

const bodies = { decline: bodyOf(ApprovalRequestDecline), withdraw: bodyOf(NoMembers) }
type Action = keyof typeof bodies

export async function declineOrWithdraw({ caller, body, params }: WorkerRequest, thread: CloseWith) {
  const action = params['action'] as Action
  const given: { reason?: string } | Failure = bodies[action](body)
  if (given instanceof Failure) return given
  const { pool } = thread
  const persons = thread.persons.current()
  const id = (params['id'] ?? '').toLowerCase()
  // Only the requester may withdraw, not its other readers.
  const owner = action === 'withdraw' ? caller.callerId : null
  const found = isUuid(id) ? await readApprovalRequest(pool, { requestId: id }, { persons, owner }) : null
  if (found === null) return failures.approvalRequestNotFound()
  return allOrNothing(pool, async (sql) => {
    const content = JSON.parse(found.body) as ApprovalRequestContent
    // In this order everywhere: executions take the first lock, deliveries of approvals the second.
    await lockForClosing(sql, content)
    await lockApprovalRequest(sql, found.requestHash)
    const refused =
      (action === 'decline' ? await ineligible(caller, found, { sql, persons }) : undefined) ??
      notOpen(await readApprovalRequest(sql, { requestId: id }, { persons }))
    if (refused !== undefined) return refused
    await store({ action, caller, reason: given.reason ?? '', content, found }, { ...thread, sql })
    const closed = await readApprovalRequest(sql, { requestId: id }, { persons })
    return { body: approvalRequestText(closed!) }
  })
}

const DONE = {
  decline: {
    status: 'DECLINED',
    type: 'approval_request.declined',
    route: 'POST /approval-requests/{id}/decline',
  },
  withdraw: {
    status: 'WITHDRAWN',
    type: 'approval_request.withdrawn',
    route: 'POST /approval-requests/{id}/withdraw',
  },
} as const

async function store(
  {
    action,
    caller,
    reason,
    content,
    found,
  }: {
    action: Action
    caller: ScopedCaller
    reason: string
    content: ApprovalRequestContent
    found: StandingRequest
  },
  { sql, ...tools }: Omit<CloseWith, 'pool' | 'persons'> & { sql: Transaction },
): Promise<void> {
  const { requestId, requestHash, requestedBy } = found
  const { status, type, route } = DONE[action]
  const close: ApprovalRequestClose = {
    closeId: randomUUID(),
    requestId,
    requestHash,
    status,
    by: caller.callerId,
    reason,
    closedAt: timeOnRequest(content),
  }
  const { closeId, closedAt } = close
  const recording = startRecording(tools)
  const row = recording.record(approvalRequestClose, close, { at: closedAt, owner: requestedBy })
  await closeApprovalRequest(sql, row, status)
  recording.audit({
    type,
    route,
    by: caller.callerId,
    at: closedAt,
    reason: reason === '' ? 'The caller withdrew the request.' : reason,
    capability: content.capability,
    detail: { requestId, closeId },
  })
  await sql.run(recording.statements())
}
