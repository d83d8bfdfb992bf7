// approval_requests, approval_request_notes and approval_request_closes: the signed requests of callers for human approval, the notes on them, and
// how they were closed.
import type { Pool } from 'pg'
import { approvalRequest, approvalRequestClose } from '../../formats/artifacts/approval-request.ts'
import { approvalRequestNote } from '../../formats/artifacts/approval-request-note.ts'
import type { Persons } from '../../formats/people/persons.ts'
import type { NotCounted } from '../../formats/schemas/approval-request.ts'
import type { CatalogueStatus } from '../../formats/schemas/catalogue.ts'
import type { ApprovalRequestStatus } from '../../formats/schemas/approval-request-statuses.ts'
import type { AskedAgain } from '../queues/notification-queue.ts'
import { artifactColumns, type Sealed } from './sealed.ts'
import { approvalLock } from './approvals.ts'
import { isMemberOf } from './approver-groups.ts'
import { APPROVERS, IS_KEY_OF_APPROVAL } from './approvers.ts'
import { isPolicyRetired, policyRetiredBy } from './policy-versions.ts'
import { textOrId, whereOf, type Conditions, type FiltersOf } from './filters.ts'
import { readPageOf, type Page, type PageRange } from './page.ts'
import { plainJson, plainText, storedJson } from '../postgres/json.ts'
import { isoTime, takeLocks, type Sql } from '../postgres/sql.ts'
import { rowsInto, type RowOf } from '../postgres/rows.ts'
import { inTransaction, type Transaction } from '../postgres/transaction.ts'

const columns = artifactColumns(approvalRequest)
type ApprovalRequestRow = RowOf<typeof columns>

/** Requests are opened one after the other: the number of open ones is exact, and the same request is opened only once. */
export async function lockOpening(sql: Sql): Promise<void> {
  await takeLocks(sql, [{ key: 'approval requests' }])
}

const OPEN = `r.status = 'OPEN' AND r.expires_at > now() AND NOT ${isPolicyRetired('r')}`

/** The caller's open request of the same content, under `lockOpening`; undefined where there is none. */
export async function findOpenRequest(
  sql: Sql,
  { requestedBy, askedHash }: Pick<ApprovalRequestRow, 'requestedBy' | 'askedHash'>,
): Promise<string | undefined> {
  const { rows } = await sql.query<{ id: string }>({
    text: `
      SELECT r.request_id AS id FROM approval_requests AS r
      WHERE ${OPEN} AND r.requested_by = $1::text AND r.asked_hash = $2::text`,
    values: [requestedBy, askedHash],
  })
  return rows[0]?.id
}

/** Counts the open requests: those of a caller, if one is given, and all. Exact under `lockOpening`. */
export async function countOpenRequests(
  sql: Sql,
  requestedBy: string | null,
): Promise<{ readonly own: number; readonly all: number }> {
  const { rows } = await sql.query<{ own: number; all: number }>({
    text: `
      SELECT count(*) FILTER (WHERE r.requested_by = $1::text)::integer AS own, count(*)::integer AS all
      FROM approval_requests AS r WHERE ${OPEN}`,
    values: [requestedBy],
  })
  return rows[0]!
}

/**
 * Whether the caller has opened as many requests within the last hour as it may, closed ones included.
 * @returns seconds until it may open the next one; 0: now. Exact under `lockOpening`
 */
export async function secondsToNextOpening(
  sql: Sql,
  { requestedBy, perHour }: { readonly requestedBy: string; readonly perHour: number },
): Promise<number> {
  const { rows } = await sql.query<{ seconds: number }>({
    text: `
      SELECT ceil(extract(epoch FROM created_at + interval '1 hour' - now()))::integer AS seconds
      FROM approval_requests WHERE requested_by = $1::text AND created_at > now() - interval '1 hour'
      ORDER BY created_at DESC OFFSET $2::bigint LIMIT 1`,
    values: [requestedBy, perHour - 1],
  })
  return rows[0]?.seconds ?? 0
}

/** The time at which approvers are told of a request, and whether that message already tells of others of its caller. */
export interface NoticeTime {
  /** ISO 8601, by the database's clock. */
  readonly at: string
  readonly joins: boolean
}

/**
 * The message for a caller's next request: sent at once where the last one is a minute old, else when that minute is over, with all that the caller
 * requests until then. Exact under `lockOpening`.
 */
export async function nextNotice(sql: Sql, requestedBy: string): Promise<NoticeTime> {
  const { rows } = await sql.query<NoticeTime>({
    text: `
      SELECT ${isoTime('greatest(clock.now, CASE WHEN newest.at > clock.now THEN newest.at ELSE newest.at + $2::interval END)')} AS at,
        coalesce(newest.at > clock.now, false) AS joins
      FROM (SELECT clock_timestamp() AS now) AS clock,
        -- One that is further ahead was set before the clock was set back, and nobody waits for it.
        (SELECT max(notice_at) AS at FROM approval_requests WHERE requested_by = $1::text
          AND created_at > now() - interval '1 hour' AND notice_at <= clock_timestamp() + $2::interval) AS newest`,
    values: [requestedBy, '1 minute'],
  })
  return rows[0]!
}

const insert = rowsInto(approvalRequest.stored.table, columns)

export async function insertApprovalRequest(sql: Transaction, row: ApprovalRequestRow): Promise<void> {
  await sql.run(insert([row]))
}

/** A request in its current state. */
export interface StandingRequest extends Sealed {
  readonly requestId: string
  readonly requestHash: string
  readonly requestedBy: string
  readonly principalId: string
  readonly quorum: number
  readonly status: ApprovalRequestStatus
  /** The least number of approvals that are still missing. */
  readonly missing: number
  /** The signals that approvals for it stand for; empty unless it is open, or where a release before opened it. */
  readonly signals: readonly NeededSignal[]
  /** For an open request the approvals that count, one for each person; for a used one those that were used up. Oldest first. */
  readonly approvals: readonly {
    readonly approvalId: string
    readonly approverId: string
    readonly keyId: string
    /** ISO 8601. */
    readonly approvedAt: string
    readonly reason?: string
  }[]
  /** Approvals for it that no longer count, or never did. Oldest first. */
  readonly notCounted: readonly {
    readonly approvalId: string
    readonly approverId: string
    readonly keyId: string
    /** ISO 8601, as `since`. */
    readonly approvedAt: string
    readonly because: NotCounted
    readonly since?: string
  }[]
  /** approverIds of the persons who are asked to sign: they may sign, have not, and their approval is missing. Empty unless it is open. */
  readonly eligible: readonly string[]
  /** Null unless it is open and its policy sets such times. */
  readonly ask: RequestAsk | null
  /** The change that retired its policy version, where that ended it. */
  readonly endedByChange: string | null
  /** The execution that used it up, with its outcome as far as the catalogue knows; null: no execution has. */
  readonly usedBy: {
    readonly businessTransactionId: string
    readonly outcome?: CatalogueStatus
  } | null
  /** The notes on it, oldest first. */
  readonly notes: readonly Sealed[]
  readonly closeBody: string | null
  readonly closeSeal: string | null
}

/** The times at which approvers who have not signed an open request are reminded of it, and at which a further group is asked. */
export interface RequestAsk {
  /** ISO 8601, as `escalateAt`. */
  readonly remindAt?: string
  readonly escalateAt?: string
  readonly escalateTo?: string
}

/** A signal that a request needs, and who may sign for it. */
export interface NeededSignal {
  readonly signal: string
  readonly quorum: number
  /** Null: every approver's approval counts. */
  readonly from: readonly string[] | null
  /** approverIds with a key in effect, whether they have signed or not, without the persons behind the request. */
  readonly approverIds: readonly string[]
}

/** The parameter of a statement that holds the persons (`ofNameJson`). */
type PersonsParameter = `$${number}`

/** As `personOf`: the person to whom a name belongs. */
function personIn(persons: PersonsParameter, name: string): string {
  const folded = `lower(${name} COLLATE "C")`
  return `coalesce(${persons}::jsonb ->> ${folded}, ${folded})`
}

/** Whether an approver is a person behind the request `item`, by the same rule as in the execution. */
function isBehindIn(persons: PersonsParameter, approverId: string): string {
  const initiators = ['item.requested_by', 'item.principal_id'].map((name) => personIn(persons, name))
  return `${personIn(persons, approverId)} IN (${initiators.join(', ')})`
}

/**
 * The signals that the request `item` needs, each with its place from 0. A request that a release before opened, or that needs more signals than are
 * looked through, has one signal without a name. Of a signal's groups, those other than `escalate_to` are asked first; if it has no other,
 * `escalate_to` is.
 */
const NEEDED = `
  (SELECT n.place::integer - 1 AS place, n.one, (n.one ->> 'quorum')::integer AS quorum, n.one -> 'from' AS groups,
     coalesce(nullif((n.one -> 'from') - item.escalate_to, '[]'), n.one -> 'from') AS first_groups
   FROM jsonb_array_elements(coalesce(item.needed_signals::jsonb, jsonb_build_array(jsonb_build_object('quorum', item.quorum))))
     WITH ORDINALITY AS n(one, place))`

/** The groups of the signal `n` of NEEDED whose members count, and those whose members are asked. */
const GROUPS = {
  counted: 'n.groups',
  askedFirst: 'n.first_groups',
  asked: '(CASE WHEN item.escalate_at > now() THEN n.first_groups ELSE n.groups END)',
} as const
type Groups = keyof typeof GROUPS

/** Whether an approver counts for the signal `n` of NEEDED, or is asked for an approval. It ignores whether the approver is behind the request. */
function countsFor(persons: PersonsParameter, approverId: string, groups: Groups = 'counted'): string {
  const isBehind = (name: string) => isBehindIn(persons, name)
  return `(n.groups IS NULL OR ${isMemberOf(approverId, GROUPS[groups], isBehind)})`
}

/** Approvals for the request `item` that count now, or were used up. */
function approvalsIn(persons: PersonsParameter): string {
  return `${APPROVALS_OF} AND ${whyNotCounted(persons)} IS NULL`
}

/** Every approval for the request `item`, with its key. */
const APPROVALS_OF = `
  approvals AS a JOIN authority AS k ON ${IS_KEY_OF_APPROVAL} WHERE a.request_hash = item.request_hash`

/** Why an approval `a` by the key `k` does not count; null: it counts, or was used up. */
function whyNotCounted(persons: PersonsParameter): string {
  return `
  (CASE WHEN a.consumed_by IS NOT NULL THEN NULL
    WHEN k.ended_at IS NOT NULL THEN 'KEY_REVOKED'
    WHEN a.expires_at <= now() OR k.began_at IS NULL THEN 'EXPIRED'
    WHEN ${isBehindIn(persons, 'a.approver_id')} THEN 'INITIATOR'
    WHEN NOT EXISTS (SELECT FROM ${NEEDED} AS n WHERE ${countsFor(persons, 'a.approver_id')}) THEN 'NOT_IN_GROUP' END)`
}

/** Whether the signal `n` is in the set `bits`, which has a bit for each. */
const IN_SET = '(s.bits >> n.place) & 1 = 1'

/**
 * Every set of signals that the request `item` needs, with how many approvals it lacks: a person stands for one signal, so the signals of a set need
 * as many persons as all their quorums together (Hall's theorem). The request lacks as many approvals as the set that lacks most.
 */
function setsIn(persons: PersonsParameter, groups: Groups = 'counted'): string {
  return `
  (SELECT s.bits, sum(n.quorum) - (
      SELECT count(DISTINCT ${personIn(persons, 'a.approver_id')}) FROM ${approvalsIn(persons)}
        AND EXISTS (SELECT FROM ${NEEDED} AS n WHERE ${IN_SET} AND ${countsFor(persons, 'a.approver_id', groups)})) AS lacking
   FROM generate_series(1, (1 << (SELECT count(*)::integer FROM ${NEEDED} AS n)) - 1) AS s(bits) JOIN ${NEEDED} AS n ON ${IN_SET}
   GROUP BY s.bits)`
}

/** How many persons have approved. */
function approvedIn(persons: PersonsParameter): string {
  return `(SELECT count(DISTINCT ${personIn(persons, 'a.approver_id')})::integer FROM ${approvalsIn(persons)})`
}

/** The policy version of the request `item` was retired before its time was over. */
const ENDED = isPolicyRetired('item', 'least(now(), item.expires_at)')

/** No approval helps any more. */
const OVER = '(item.expires_at <= now() OR standing.ended)'

/** The requests whose missing approvals are counted: all that were not used, however they ended; or open ones alone, which a status needs. */
const LACKING = { ofAll: `item.status <> 'USED'`, ofOpen: `item.status = 'OPEN'` } as const

/**
 * The values that the status of the request `item` and other columns need, computed once for each request: whether its policy version was retired
 * before its time was over, and how many approvals it lacks. Without OFFSET the planner would repeat the computation at each use.
 */
export function withStanding(persons: PersonsParameter, lacking: keyof typeof LACKING = 'ofOpen'): string {
  return `
  CROSS JOIN LATERAL (
    SELECT ${ENDED} AS ended, CASE WHEN ${LACKING[lacking]}
      THEN (SELECT greatest(max(one.lacking), 0)::integer FROM ${setsIn(persons)} AS one) ELSE 0 END AS missing
    OFFSET 0) AS standing`
}

/** The status of the request `item`, with its standing. */
export const STATUS = `
  CASE WHEN item.status NOT IN ('OPEN', 'EXPIRED') THEN item.status WHEN standing.ended THEN 'ENDED'
    WHEN item.status = 'EXPIRED' OR item.expires_at <= now() THEN 'EXPIRED'
    WHEN standing.missing = 0 THEN 'APPROVED' ELSE 'PENDING' END`

/** The notes on the request `item`. */
const NOTES = 'approval_request_notes AS n WHERE n.request_id = item.request_id'

/** The change that retired its policy version, where that ended it. */
const endedBy = (ended: string) =>
  `CASE WHEN item.status IN ('OPEN', 'EXPIRED') AND ${ended} THEN ${policyRetiredBy('item')} END`

/** The sets that lack most; none where nothing is missing. Only an approval that is in all of them reduces the number of missing ones. */
function shortestIn(persons: PersonsParameter, groups: Groups): string {
  return `
  (SELECT array_agg(one.bits) FROM (SELECT bits, lacking, max(lacking) OVER () AS most FROM ${setsIn(persons, groups)} AS every) AS one
   WHERE one.lacking = one.most AND one.most > 0)`
}

/**
 * The approvers, `who` in the SQL, that may still sign the request: an approval of theirs is missing, they are asked for it, are not behind the
 * request, and have not signed it under any name. Where nothing is missing, every approver whose approval counts may sign. The sets are found once
 * for a request, and not for each approver.
 * @param select the columns that are read of the approvers
 * @param where SQL that limits the approvers
 */
function whoMaySignIn(
  persons: PersonsParameter,
  { select, where, groups = 'asked' }: { select: string; where: string; groups?: Groups },
): string {
  const isAsked = countsFor(persons, 'who.approver_id', groups)
  return `
    (WITH shortest AS MATERIALIZED (SELECT ${shortestIn(persons, groups)} AS sets)
    SELECT ${select} FROM ${APPROVERS} AS who
    WHERE ${where} AND NOT ${isBehindIn(persons, 'who.approver_id')}
      AND EXISTS (SELECT FROM ${NEEDED} AS n WHERE ${isAsked})
      AND NOT EXISTS (SELECT FROM shortest, unnest(shortest.sets) AS s(bits)
        WHERE NOT EXISTS (SELECT FROM ${NEEDED} AS n WHERE ${IN_SET} AND ${isAsked}))
      AND NOT EXISTS (SELECT FROM ${approvalsIn(persons)}
        AND ${personIn(persons, 'a.approver_id')} = ${personIn(persons, 'who.approver_id')}))`
}

const APPROVER_IDS = `coalesce(json_agg(DISTINCT who.approver_id), '[]')`

/** No decision ended it, and approvals still help. */
const UNDECIDED = `item.status = 'OPEN' AND NOT ${OVER}`

function columnsIn(persons: PersonsParameter): string {
  // A used approval stays, even if its approver no longer counts.
  const counted = `CASE WHEN a.consumed_by IS NULL THEN ${personIn(persons, 'a.approver_id')} ELSE ' ' || a.approval_id END`
  return `
  item.request_id AS "requestId", item.request_hash AS "requestHash", item.requested_by AS "requestedBy",
  item.principal_id AS "principalId", item.quorum, item.body, item.seal, ${STATUS} AS status, standing.missing,
  (SELECT coalesce(json_agg(json_build_object('signal', n.one -> 'signal', 'quorum', n.quorum, 'from', n.groups, 'approverIds', (
      SELECT coalesce(json_agg(DISTINCT who.approver_id), '[]') FROM ${APPROVERS} AS who
      WHERE NOT ${isBehindIn(persons, 'who.approver_id')} AND ${countsFor(persons, 'who.approver_id')})) ORDER BY n.place), '[]')
    FROM ${NEEDED} AS n WHERE item.needed_signals IS NOT NULL AND ${UNDECIDED}) AS signals,
  (SELECT coalesce(json_agg(json_strip_nulls(json_build_object('approvalId', one.approval_id, 'approverId', one.approver_id, 'keyId', one.key_id,
    'approvedAt', ${isoTime('one.issued_at')}, 'reason', one.body::json #>> '{payload,reason}'))
    ORDER BY one.delivered_at, one.approval_id), '[]') FROM (
      SELECT DISTINCT ON (${counted}) a.approval_id, a.approver_id, a.key_id, a.issued_at, a.delivered_at, a.body FROM ${approvalsIn(persons)}
      ORDER BY ${counted}, a.delivered_at, a.approval_id) AS one) AS approvals,
  (SELECT coalesce(json_agg(json_strip_nulls(json_build_object('approvalId', one.approval_id, 'approverId', one.approver_id, 'keyId', one.key_id,
    'approvedAt', ${isoTime('one.issued_at')}, 'because', one.because, 'since', ${isoTime('one.since')}))
    ORDER BY one.delivered_at, one.approval_id), '[]') FROM (
      SELECT a.*, ${whyNotCounted(persons)} AS because, CASE WHEN k.ended_at IS NOT NULL THEN k.ended_at WHEN a.expires_at <= now() THEN a.expires_at END AS since
      FROM ${APPROVALS_OF}) AS one WHERE one.because IS NOT NULL) AS "notCounted",
  ${whoMaySignIn(persons, { select: APPROVER_IDS, where: UNDECIDED })} AS eligible,
  CASE WHEN coalesce(item.remind_at, item.escalate_at) IS NOT NULL AND ${UNDECIDED} THEN json_strip_nulls(json_build_object(
    'remindAt', ${isoTime('item.remind_at')}, 'escalateAt', ${isoTime('item.escalate_at')}, 'escalateTo', item.escalate_to)) END AS ask,
  ${endedBy('standing.ended')} AS "endedByChange",
  -- The catalogue has no row of an execution until it has ended or is in doubt, and none at all where there is no catalogue.
  CASE WHEN item.status = 'USED' THEN (
    SELECT json_strip_nulls(json_build_object('businessTransactionId', a.consumed_by, 'outcome', (
      SELECT e.status FROM catalogue_entries AS e WHERE e.business_transaction_id = a.consumed_by)))
    FROM approvals AS a WHERE a.request_hash = item.request_hash AND a.consumed_by IS NOT NULL LIMIT 1) END AS "usedBy",
  (SELECT coalesce(json_agg(json_build_object('body', n.body, 'seal', n.seal) ORDER BY n.noted_at, n.note_id), '[]')
    FROM ${NOTES} ) AS notes,
  (SELECT c.body FROM approval_request_closes AS c WHERE c.request_id = item.request_id) AS "closeBody",
  (SELECT c.seal FROM approval_request_closes AS c WHERE c.request_id = item.request_id) AS "closeSeal"`
}

/**
 * @param which by its id, or by the hash that approvals name
 * @param as.owner the caller that must own it; null: any caller
 */
export async function readApprovalRequest(
  sql: Sql,
  which: { readonly requestId: string } | { readonly requestHash: string },
  { persons, owner = null }: { readonly persons: Persons; readonly owner?: string | null },
): Promise<StandingRequest | null> {
  const [name, condition, value] =
    'requestId' in which
      ? ['approval_requests_read', 'item.request_id = $1::uuid', which.requestId]
      : ['approval_requests_read_by_hash', 'item.request_hash = $1::text', which.requestHash]
  const { rows } = await sql.query<StandingRequest>({
    // Named, because planning takes ten times as long as running.
    name,
    text: `
      SELECT ${columnsIn('$3')} FROM approval_requests AS item ${withStanding('$3', 'ofAll')}
      WHERE ${condition} AND ($2::text IS NULL OR item.requested_by = $2::text)`,
    values: [value, owner, persons.ofNameJson],
  })
  return rows[0] ?? null
}

/**
 * Reads the requests that one message tells of, oldest first. Waits for transactions that are opening a request, so that none is left out.
 * @param first the request that the message was made for
 */
export async function readRequestsOfNotice(
  pool: Pick<Pool, 'connect'>,
  first: string,
  persons: Persons,
): Promise<StandingRequest[]> {
  return inTransaction(pool, async (sql) => {
    await lockOpening(sql)
    const { rows } = await sql.query<StandingRequest>({
      text: `
        SELECT ${columnsIn('$2')}
        FROM approval_requests AS first CROSS JOIN approval_requests AS item ${withStanding('$2', 'ofAll')}
        WHERE first.request_id = $1::uuid AND item.requested_by = first.requested_by
          AND (item.request_id = first.request_id
            OR (item.created_at > first.created_at - interval '1 hour' AND item.notice_at = first.notice_at))
        ORDER BY item.created_at, item.request_id`,
      values: [first, persons.ofNameJson],
    })
    return rows
  })
}

export interface RequestToAskAgain {
  readonly requestId: string
  readonly requestedBy: string
  readonly why: readonly AskedAgain[]
}

/** SQL: whether a time of the request has come since it was last looked at. */
const cameDue = (time: string) => `item.${time} BETWEEN due.ask_next_at AND now()`

/**
 * Takes the open requests whose reminder or escalation is due, the first ones first; `limit` at most. Only one instance takes a request at each of
 * its times: locked requests are left for the next time.
 */
export async function takeRequestsToAskAgain(sql: Sql, limit: number): Promise<RequestToAskAgain[]> {
  const { rows } = await sql.query<RequestToAskAgain>({
    name: 'approval_requests_ask_again',
    text: `
      WITH due AS MATERIALIZED (
        SELECT r.request_id, r.ask_next_at FROM approval_requests AS r
        WHERE r.status = 'OPEN' AND r.ask_next_at <= now() AND r.expires_at > now() AND NOT ${isPolicyRetired('r')}
        ORDER BY r.ask_next_at LIMIT $1::integer FOR UPDATE OF r SKIP LOCKED)
      UPDATE approval_requests AS item
      SET ask_next_at = (SELECT min(t.at) FROM unnest(ARRAY[item.remind_at, item.escalate_at]) AS t(at) WHERE t.at > now())
      FROM due WHERE item.request_id = due.request_id
      RETURNING item.request_id AS "requestId", item.requested_by AS "requestedBy", array_remove(ARRAY[
        CASE WHEN ${cameDue('remind_at')} THEN 'reminder' END, CASE WHEN ${cameDue('escalate_at')} THEN 'escalation' END], NULL) AS why`,
    values: [limit],
  })
  return rows
}

/** A request, and the approvers whom it asks. */
export interface AskingRequest extends StandingRequest {
  /** As `eligible`, but without its escalation. */
  readonly askedFirst: readonly string[]
}

/** Reads the requests that one message reminds of, oldest first. */
export async function readAskingRequests(
  sql: Sql,
  requestIds: readonly string[],
  persons: Persons,
): Promise<AskingRequest[]> {
  const { rows } = await sql.query<AskingRequest>({
    text: `
      SELECT ${columnsIn('$2')},
        ${whoMaySignIn('$2', { select: APPROVER_IDS, where: UNDECIDED, groups: 'askedFirst' })} AS "askedFirst"
      FROM approval_requests AS item ${withStanding('$2', 'ofAll')} WHERE item.request_id = ANY ($1::uuid[]) ORDER BY item.created_at, item.request_id`,
    values: [requestIds, persons.ofNameJson],
  })
  return rows
}

/**
 * Locks a request: closing it and delivering an approval for it wait for each other here.
 * @returns whether there is such a request
 */
export async function lockApprovalRequest(sql: Sql, requestHash: string): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: `SELECT FROM approval_requests WHERE request_hash = $1::text FOR UPDATE`,
    values: [requestHash],
  })
  return rowCount === 1
}

/** SQL of a member of the request `item`. */
const member = (name: string) => `(${storedJson('item.body')} ->> '${name}')`

/** The conditions of the filters of requests. None has an index: the number of requests grows with the humans who decide, not with executions. */
const conditions = {
  callerId: 'lower(item.requested_by) = lower($::text)',
  capability: `lower(${member('capability')}) = lower($::text)`,
  target: `lower(${member('target')}) = lower($::text)`,
  policy: 'lower(item.policy_name) = lower($::text)',
  policyVersion: 'item.policy_version = $::text',
  /** The execution that used up its approvals. */
  usedBy: 'item.request_hash IN (SELECT a.request_hash FROM approvals AS a WHERE a.consumed_by = $::uuid)',
  /** An approver who signed it, whatever came of the request and of the key since. */
  signedBy: 'item.request_hash IN (SELECT a.request_hash FROM approvals AS a WHERE a.approver_id = $::text)',
  since: 'item.created_at >= $::timestamptz',
  until: 'item.created_at < $::timestamptz',
  q: textOrId({
    text: `lower(concat_ws(E'\\n', ${member('capability')}, ${member('target')}, ${member('parameters')}))`,
    id: 'item.request_id',
  }),
  /** For a caller that may see only its own requests: exactly this caller. */
  owner: 'item.requested_by = $::text',
} as const satisfies Conditions

export type RequestFilters = FiltersOf<typeof conditions>

/** The requests that are searched without an index: all open ones, of which there are a thousand at most, and the newest of the others. */
const LOOKED_THROUGH = `(
  SELECT request_id, created_at, status, body, requested_by FROM approval_requests WHERE status = 'OPEN'
  UNION ALL
  SELECT request_id, created_at, status, body, requested_by
  FROM (SELECT * FROM approval_requests ORDER BY created_at DESC, request_id DESC LIMIT 2000) AS newest WHERE status <> 'OPEN')`

/** The canonical contents of requests that match: newest first, or open ones before the others. */
export async function findApprovalRequests(
  sql: Sql,
  filters: Pick<RequestFilters, 'q' | 'owner'>,
  { limit, openFirst = false }: { readonly limit: number; readonly openFirst?: boolean },
): Promise<{ readonly body: string }[]> {
  const { where, values } = whereOf(conditions, filters, 2)
  const { rows } = await sql.query<{ body: string }>(
    `SELECT item.body FROM ${LOOKED_THROUGH} AS item WHERE ${where}
     ORDER BY ${openFirst ? `item.status = 'OPEN' DESC, ` : ''}item.created_at DESC, item.request_id DESC LIMIT $1::integer`,
    [limit, ...values],
  )
  return rows
}

/** A request that others are compared with. */
export interface RequestBeside extends Pick<StandingRequest, 'status' | 'body' | 'closeBody'> {}

/** The most requests that are found. */
const BESIDE_MAX = 500

/**
 * Finds requests of any caller, newest first, on some targets, or with some parameters, among open ones and the newest. Only bodies that contain a
 * target or a text are parsed.
 * @param by.targets in upper or lower case
 * @param by.parameters members that must all be present with these values; the first is a text
 */
export async function findRequestsBeside(
  sql: Sql,
  by: {
    readonly targets: readonly string[]
    readonly parameters: readonly (readonly (readonly [name: string, value: string | number])[])[]
  },
  persons: Persons,
): Promise<RequestBeside[]> {
  const words = [
    ...by.targets,
    ...by.parameters.flatMap(([first]) => (first === undefined ? [] : [first[1]])),
  ]
  const { rows } = await sql.query<RequestBeside>({
    name: 'approval_requests_beside',
    text: `
      WITH likely AS MATERIALIZED (
        SELECT r.request_id, r.created_at, ${storedJson('r.body')}::jsonb AS content
        FROM ${LOOKED_THROUGH} AS r,
          -- Once for each request, and not for each word; kept nowhere.
          LATERAL (SELECT lower(r.body) AS body OFFSET 0) AS folded
        WHERE EXISTS (SELECT FROM (SELECT DISTINCT lower(w.word) AS word FROM unnest($4::text[]) AS w (word)) AS w WHERE strpos(folded.body, w.word) > 0)
      ), found AS MATERIALIZED (
        SELECT l.request_id FROM likely AS l
        WHERE lower(l.content ->> 'target') IN (SELECT lower(t.target) FROM unnest($2::text[]) AS t (target))
          OR EXISTS (SELECT FROM unnest($3::jsonb[]) AS asked (parameters) WHERE l.content -> 'parameters' @> asked.parameters)
        ORDER BY l.created_at DESC, l.request_id DESC LIMIT ${BESIDE_MAX})
      SELECT ${STATUS} AS status, item.body,
        (SELECT c.body FROM approval_request_closes AS c WHERE c.request_id = item.request_id) AS "closeBody"
      FROM approval_requests AS item ${withStanding('$1')} WHERE item.request_id IN (SELECT request_id FROM found)
      ORDER BY item.created_at DESC, item.request_id DESC`,
    values: [
      persons.ofNameJson,
      by.targets.map(plainText),
      by.parameters.map((members) => plainJson(Object.fromEntries(members))),
      // In the form that they have in a body, which is canonical JSON.
      words.map((word) => JSON.stringify(word)),
    ],
  })
  return rows
}

/** The values of the column `status` for each status of a request. */
const storedAs = {
  PENDING: `'OPEN'`,
  APPROVED: `'OPEN'`,
  EXPIRED: `'OPEN', 'EXPIRED'`,
  ENDED: `'OPEN', 'EXPIRED'`,
  DECLINED: `'DECLINED'`,
  USED: `'USED'`,
  WITHDRAWN: `'WITHDRAWN'`,
} as const satisfies Readonly<Record<ApprovalRequestStatus, string>>

/** SQL: whether the request `item`, with its standing, has a status. A row whose column rules the status out is not examined further. */
const hasStatus = (status: ApprovalRequestStatus) =>
  `item.status IN (${storedAs[status]}) AND ${STATUS} = '${status}'`

export const requestOrders = ['newest', 'ending_soon'] as const
export type RequestOrder = (typeof requestOrders)[number]

interface ListedRequests extends RequestFilters {
  readonly status: ApprovalRequestStatus | null
  /** Only pending requests that this approver may sign and has not signed; null: all. */
  readonly waitingFor: string | null
  /** The order: newest first, also where it is null, or earliest expiry first. */
  readonly order: RequestOrder | null
  readonly persons: Persons
}

/** A page of requests. The status is part of the statement's text, so that a kept plan uses its index. */
export async function listApprovalRequests(
  sql: Sql,
  range: PageRange,
  { status, waitingFor, order, persons, until = null, ...filters }: ListedRequests,
): Promise<Page<StandingRequest>> {
  // Only pending requests wait for approvers.
  if (waitingFor !== null && (status ?? 'PENDING') !== 'PENDING') return { rows: [], next: null }
  const wanted = waitingFor === null ? status : 'PENDING'
  const isByEnd = order === 'ending_soon'
  const first = [persons.ofNameJson, ...(waitingFor === null ? [] : [waitingFor])]
  const further = whereOf(conditions, isByEnd ? { ...filters, until } : filters, 5 + first.length)
  const isWaitedFor = `EXISTS ${whoMaySignIn('$5', { select: '', where: 'who.approver_id = $6::text' })}`
  const where = [
    ...(wanted === null ? [] : [hasStatus(wanted)]),
    ...(waitingFor === null ? [] : [isWaitedFor]),
    further.where,
  ]
  const name = [
    'approval_requests_list',
    wanted ?? 'ALL',
    ...(waitingFor === null ? [] : ['waiting']),
    ...(isByEnd ? ['by_end'] : []),
  ].join('_')
  return readPageOf(
    sql,
    {
      // Named, because planning takes as long as running. With further filters it is planned with their values.
      ...(further.values.length === 0 ? { name } : {}),
      table: 'approval_requests',
      ...(isByEnd ? { time: 'expires_at', ascending: true } : { time: 'created_at' }),
      id: 'request_id',
      bytes: `octet_length(item.body) + octet_length(item.seal)
        + (SELECT coalesce(sum(octet_length(n.body) + octet_length(n.seal)), 0) FROM ${NOTES})`,
      derived: withStanding('$5', 'ofAll'),
      columns: columnsIn('$5'),
      where: where.join(' AND '),
    },
    range,
    { until: isByEnd ? null : until, values: [...first, ...further.values] },
  )
}

/** The state of a request that a client waits for, by which a change is noticed. */
export interface RequestState {
  readonly requestId: string
  readonly status: ApprovalRequestStatus
  /** How many approvals count. */
  readonly approved: number
  /** The number of notes on it. */
  readonly noted: number
}

/** Reads the states of several requests at once, by their ids. */
export async function readRequestStates(
  sql: Sql,
  requestIds: readonly string[],
  persons: Persons,
): Promise<RequestState[]> {
  const { rows } = await sql.query<RequestState>({
    name: 'approval_requests_states',
    text: `
      SELECT item.request_id AS "requestId", ${STATUS} AS status, ${approvedIn('$2')} AS approved,
        (SELECT count(*)::integer FROM ${NOTES}) AS noted
      FROM approval_requests AS item ${withStanding('$2')} WHERE item.request_id = ANY ($1::uuid[])`,
    values: [requestIds, persons.ofNameJson],
  })
  return rows
}

const noteColumns = artifactColumns(approvalRequestNote)
const insertNote = rowsInto(approvalRequestNote.stored.table, noteColumns)

/** Call it under `lockApprovalRequest`, for an open request. */
export async function insertRequestNote(sql: Transaction, row: RowOf<typeof noteColumns>): Promise<void> {
  await sql.run(insertNote([row]))
}

const closeColumns = artifactColumns(approvalRequestClose)
const insertClose = rowsInto(approvalRequestClose.stored.table, closeColumns)

/**
 * Waits for every execution that may be using up approvals of this action: afterwards the request is used or can be closed.
 * @param action of the request
 */
export async function lockForClosing(
  sql: Sql,
  action: { readonly capability: string; readonly target: string },
): Promise<void> {
  await takeLocks(sql, [approvalLock(action)])
}

/** Call it under `lockForClosing` and `lockApprovalRequest`, for an open request. */
export async function closeApprovalRequest(
  sql: Transaction,
  row: RowOf<typeof closeColumns>,
  status: 'DECLINED' | 'WITHDRAWN',
): Promise<void> {
  await sql.run(insertClose([row]))
  await sql.query({
    text: `UPDATE approval_requests SET status = $2::text WHERE request_id = $1::uuid AND status = 'OPEN'`,
    values: [row.requestId, status],
  })
}

/**
 * Marks requests as used, in the transaction that uses their approvals up.
 * @returns how many this call marked. If fewer than `requestHashes`, one was closed, and the caller must roll back
 */
export async function useApprovalRequests(sql: Sql, requestHashes: readonly string[]): Promise<number> {
  if (requestHashes.length === 0) return 0
  const { rowCount } = await sql.query({
    name: 'approval_requests_use',
    text: `
      UPDATE approval_requests SET status = 'USED' WHERE request_hash = ANY ($1::text[]) AND status = 'OPEN'`,
    values: [requestHashes],
  })
  return rowCount ?? 0
}

/** An execution that has found a request in time, or its policy in effect, has this long to mark it as used. */
const EXPIRY_GRACE = `interval '15 s'`

export interface ExpiredRequest {
  readonly requestId: string
  readonly requestedBy: string
  /** ISO 8601. */
  readonly expiresAt: string
  /** The change that retired its policy version, where that was before its time was over. */
  readonly endedByChange: string | null
  readonly body: string
}

/**
 * Marks requests whose time is over, or whose policy version was retired, the first ones first; `limit` at most. Locked requests are left for the
 * next time.
 */
export async function expireApprovalRequests(sql: Sql, limit: number): Promise<ExpiredRequest[]> {
  const { rows } = await sql.query<ExpiredRequest>({
    name: 'approval_requests_expire',
    text: `
      UPDATE approval_requests AS item SET status = 'EXPIRED' WHERE item.request_id = ANY (ARRAY(
        SELECT r.request_id FROM approval_requests AS r
        WHERE r.status = 'OPEN' AND (r.expires_at <= now() - ${EXPIRY_GRACE} OR ${isPolicyRetired('r', `now() - ${EXPIRY_GRACE}`)})
        ORDER BY r.expires_at LIMIT $1::integer FOR UPDATE OF r SKIP LOCKED))
      RETURNING item.request_id AS "requestId", item.requested_by AS "requestedBy", ${isoTime('item.expires_at')} AS "expiresAt",
        ${endedBy(ENDED)} AS "endedByChange", item.body`,
    values: [limit],
  })
  return rows
}
