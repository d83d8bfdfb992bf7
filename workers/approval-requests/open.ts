// POST /approval-requests: the request is judged, compared with open ones, signed and stored.
import { randomUUID } from 'node:crypto'
import { approvalRequest } from '../../src/formats/artifacts/approval-request.ts'
import type { PgBoss } from 'pg-boss'
import { approvalRequestText } from '../../src/core/approval-requests/reply.ts'
import { requestHash } from '../../src/formats/approval-requests/request-hash.ts'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import { addNotifications, type NotificationWay } from '../../src/store/queues/notification-queue.ts'
import { CHOICES_MAX, type ApprovalSignal } from '../../src/core/approval-requests/grants.ts'
import { seat } from '../../src/core/approval-requests/seats.ts'
import { askedFirst, type Ask } from '../../src/core/policy/ask.ts'
import { readMemberships } from '../../src/store/tables/approver-groups.ts'
import { isBehind, personOf, type Persons } from '../../src/formats/people/persons.ts'
import { counted } from '../../src/formats/text/text.ts'
import type { ApprovalRequestContent } from '../../src/formats/schemas/approval-request.ts'
import {
  ApprovalRequestRead,
  EXPIRES_IN_SECONDS_DEFAULT,
} from '../../src/formats/schemas/approval-request-body.ts'
import type { RefusalRecord } from '../../src/formats/schemas/refusal-record.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import {
  countOpenRequests,
  findOpenRequest,
  insertApprovalRequest,
  lockOpening,
  nextNotice,
  readApprovalRequest,
  secondsToNextOpening,
} from '../../src/store/tables/approval-requests.ts'
import { readApproversInEffect } from '../../src/store/tables/approvers.ts'
import { readRefusedTransaction } from '../../src/store/tables/refusal-records.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import type { Transaction } from '../../src/store/postgres/transaction.ts'
import { allOrNothing } from '../all-or-nothing.ts'
import type { ThreadContext } from '../context.ts'
import { startRecording } from '../evidence/recording.ts'
import type { ScopedCaller, WorkerRequest } from '../in-flight.ts'
import { judge, type Approvable } from './judge.ts'

interface OpenWith extends Pick<
  ThreadContext,
  'pool' | 'key' | 'startLogEntries' | 'policies' | 'connectors' | 'persons'
> {
  readonly notificationWays: readonly NotificationWay[]
  readonly joinQueue: () => Promise<PgBoss>
  /** APPROVAL_REQUESTS_PER_HOUR. */
  readonly perHour: number
}

/** The most open requests of a caller: a loop that asks again, with another note each time, cannot flood approvers. */
const OPEN_MAX_OF_CALLER = 100
/** The most open requests of all callers, since each of them waits for every approver: more than a human can look at. */
const OPEN_MAX = 1_000

const read = bodyOf(ApprovalRequestRead)

export async function openApprovalRequest({ caller, body }: WorkerRequest, thread: OpenWith) {
  const given = read(body)
  if (given instanceof Failure) return given
  const { note = '', expiresInSeconds = EXPIRES_IN_SECONDS_DEFAULT } = given
  const posted = await postedOf(given, caller, thread.pool)
  if (posted instanceof Failure) return posted
  const now = new Date()
  const approvable = judge(posted.transaction, { ...posted, ...thread, caller, now })
  if (approvable instanceof Failure) return approvable
  const content: ApprovalRequestContent = {
    requestId: randomUUID(),
    ...contentOf(approvable, caller),
    quorum: approvable.needed.reduce((sum, { quorum }) => sum + quorum, 0),
    note,
    createdAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + expiresInSeconds * 1000).toISOString(),
  }
  const notify = await openNotify(thread)
  const { needed, ask } = approvable
  return allOrNothing(thread.pool, (sql) => store(content, { ...thread, needed, ask, sql, notify }))
}

type Notify = (sql: Sql, message: { requestId: string; startAfter: string }) => Promise<void>

async function openNotify({ notificationWays, joinQueue }: OpenWith): Promise<Notify> {
  if (notificationWays.length === 0) return async () => undefined
  const boss = await joinQueue()
  return (sql, message) => addNotifications(boss, sql, message, notificationWays)
}

/** Finds the transaction to judge, and its place in the body; or why there is none. */
async function postedOf(
  { transaction, fromRefusal }: { transaction?: unknown; fromRefusal?: string },
  { callerId }: ScopedCaller,
  sql: Sql,
): Promise<{ readonly transaction: unknown; readonly path: string } | Failure> {
  if (fromRefusal === undefined)
    return transaction === undefined
      ? failures.invalidField('transaction or fromRefusal is required.')
      : { transaction, path: 'transaction' }
  if (transaction !== undefined)
    return failures.invalidField('transaction and fromRefusal cannot be given together.')
  // The refusal must be the caller's own, also for humans and auditors: the request is for an execution by the requester.
  const refused = await readRefusedTransaction(sql, fromRefusal, callerId)
  if (refused === null) return failures.refusalNotFound()
  const { approvable } = JSON.parse(refused.refusal) as RefusalRecord
  return approvable === true
    ? { transaction: JSON.parse(refused.transaction) as unknown, path: 'fromRefusal' }
    : failures.notApprovable('The refusal does not say that approvals could lift it.')
}

function contentOf(
  { transaction, policyContentHash: contentHash }: Approvable,
  { callerId: requestedBy }: ScopedCaller,
) {
  const { authority, intent, policy, signals } = transaction
  return {
    requestedBy,
    principalId: authority.principalId,
    capability: intent.action,
    target: intent.target,
    parameters: intent.parameters,
    signals,
    policy: { name: policy.name, version: policy.version, contentHash },
  }
}

async function store(
  content: ApprovalRequestContent,
  {
    sql,
    needed,
    ask,
    connectors,
    persons: inEffect,
    notify,
    perHour,
    ...tools
  }: Pick<OpenWith, 'key' | 'startLogEntries' | 'connectors' | 'persons' | 'perHour'> & {
    sql: Transaction
    notify: Notify
    needed: readonly ApprovalSignal[]
    ask: Ask
  },
) {
  const { requestId, createdAt, requestedBy, principalId, capability } = content
  const askedHash = hashOfAsked(content)
  const persons = inEffect.current()
  await lockOpening(sql)
  const openId = await findOpenRequest(sql, { requestedBy, askedHash })
  if (openId !== undefined) return opened(openId, { sql, persons, status: 200 })
  const candidates = { sql, persons, at: createdAt, initiators: [requestedBy, principalId] }
  const refused =
    tooOften(await secondsToNextOpening(sql, { requestedBy, perHour })) ??
    tooMany(await countOpenRequests(sql, requestedBy)) ??
    (await tooFew(needed, candidates)) ??
    withoutConnector(content, connectors)
  if (refused !== undefined) return refused

  const recording = startRecording(tools)
  const row = recording.record(approvalRequest, content, { at: createdAt })
  recording.audit({
    type: 'approval_request.opened',
    route: 'POST /approval-requests',
    by: requestedBy,
    at: createdAt,
    reason: 'A caller asked for an approval.',
    capability,
    detail: { requestId },
  })
  const notice = await nextNotice(sql, requestedBy)
  await insertApprovalRequest(sql, {
    ...row,
    requestHash: requestHash(content, sha256Hex),
    askedHash,
    status: 'OPEN',
    policyName: content.policy.name,
    policyVersion: content.policy.version,
    noticeAt: notice.at,
    neededSignals: needed.length > CHOICES_MAX ? null : canonicalize(needed.map(neededSignal)),
    ...askTimes(content, { ask: await possibleAsk(ask, needed, candidates), noticeAt: notice.at }),
  })
  if (!notice.joins) await notify(sql, { requestId, startAfter: notice.at })
  await sql.run(recording.statements())
  return opened(requestId, { sql, persons, status: 201 })
}

async function opened(
  requestId: string,
  { sql, persons, status }: { sql: Sql; persons: Persons; status: 200 | 201 },
) {
  const request = await readApprovalRequest(sql, { requestId }, { persons })
  if (request === null) throw new Error('the request that was just stored is not there')
  return {
    status,
    headers: { Location: `/approval-requests/${requestId}` },
    body: approvalRequestText(request),
  }
}

/** The hash of the request without its id and times, which is the same each time that it is asked. */
function hashOfAsked({ requestId: _id, createdAt: _at, expiresAt: _end, ...asked }: ApprovalRequestContent) {
  return sha256Hex(canonicalize(asked as unknown as Json))
}

/** Withdrawing a request allows another open one, but not another message to the approvers. */
function tooOften(seconds: number): Failure | undefined {
  return seconds > 0 ? failures.rateLimited('approval requests', seconds) : undefined
}

function tooMany({ own, all }: { own: number; all: number }): Failure | undefined {
  if (own >= OPEN_MAX_OF_CALLER)
    return failures.tooManyApprovalRequests(
      `${OPEN_MAX_OF_CALLER} approval requests of this caller are open: withdraw some, or wait until they are decided.`,
    )
  if (all >= OPEN_MAX)
    return failures.tooManyApprovalRequests(
      `${OPEN_MAX} approval requests wait for the approvers: try again when some are decided.`,
    )
  return undefined
}

/** The data that decide who could sign. */
interface Candidates {
  readonly sql: Sql
  readonly persons: Persons
  /** ISO 8601. */
  readonly at: string
  readonly initiators: readonly string[]
}

/** Whether the approvers who could sign are too few for a signal, or for all of them together. */
async function tooFew(
  needed: readonly ApprovalSignal[],
  { sql, persons, at, initiators }: Candidates,
): Promise<Failure | undefined> {
  const enrolled = await readApproversInEffect(sql)
  const able = enrolled.filter((approverId) => !isBehind(persons, approverId, initiators))
  const people = [...Map.groupBy(able, (approverId) => personOf(persons, approverId)).values()]
  const memberships = await readMemberships(sql, {
    groups: needed.flatMap(({ from = [] }) => from),
    at,
    isBehind: (approverId) => isBehind(persons, approverId, initiators),
  })
  const seated = seat(
    needed.map(({ quorum, from }) => ({
      quorum,
      takes: (names: readonly string[]) =>
        from === undefined || names.some((approverId) => memberships(from, approverId) !== undefined),
    })),
    people,
  )
  const unmet = needed.flatMap(({ quorum, from }, i) =>
    seated[i]!.length < quorum ? [{ quorum, from, found: seated[i]!.length }] : [],
  )
  const [first] = unmet
  if (first === undefined) return undefined
  const { from } = first
  const quorum = needed.reduce((sum, one) => sum + one.quorum, 0)
  return failures.notApprovable(
    from === undefined
      ? `The policy asks for ${quorum} approvals; enrolled approvers who are other persons than the caller and the principal: ${people.length}.`
      : `The policy asks for ${counted(first.quorum, 'approval')} of ${from.join(' or ')}. Enrolled members who could sign, because they are other persons than the caller and the principal and do not stand for another signal: ${first.found}.`,
  )
}

/** Drops an escalation that would ask nobody later: where the others could not meet the quorums, everybody is asked at once. */
async function possibleAsk(
  ask: Ask,
  needed: readonly ApprovalSignal[],
  candidates: Candidates,
): Promise<Ask> {
  const { escalation, ...rest } = ask
  if (escalation === undefined) return ask
  const first = needed.map((one) => ({ ...one, from: askedFirst(one.from, escalation.to) }))
  const isSame = first.every(({ from }, i) => from === needed[i]!.from)
  return isSame || (await tooFew(first, candidates)) !== undefined ? rest : ask
}

/**
 * When approvers are told of a request again, counted from the message that told them first: so requests of one message are in one reminder too.
 * Times after the end of the request are left out.
 */
function askTimes(
  { expiresAt }: ApprovalRequestContent,
  { ask: { remindAfterMs, escalation }, noticeAt }: { readonly ask: Ask; readonly noticeAt: string },
) {
  const after = (ms: number | undefined) => {
    if (ms === undefined) return null
    const at = new Date(Date.parse(noticeAt) + ms).toISOString()
    return at < expiresAt ? at : null
  }
  const [remindAt, escalateAt] = [after(remindAfterMs), after(escalation?.afterMs)]
  return {
    remindAt,
    escalateAt,
    escalateTo: escalateAt === null ? null : escalation!.to,
    askNextAt: [remindAt, escalateAt].filter((at) => at !== null).toSorted()[0] ?? null,
  }
}

/** A signal as it is stored beside the request. */
function neededSignal({ signal, quorum, from }: ApprovalSignal): Json {
  return { signal, quorum, ...(from === undefined ? {} : { from: [...from] }) }
}

function withoutConnector(
  { capability, policy }: ApprovalRequestContent,
  connectors: OpenWith['connectors'],
): Failure | undefined {
  if (connectors.find(capability, policy.name) !== undefined) return undefined
  return failures.notApprovable(failures.noConnector(capability).message)
}
