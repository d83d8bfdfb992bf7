// approvals: the signed approvals of humans, each used up by at most one execution (decisions §7).
import { approverOf, IS_KEY_OF_APPROVAL, type ApproverRow } from './approvers.ts'
import type { ApprovalStatus } from '../../formats/schemas/approval.ts'
import { positionColumns } from './log-queue.ts'
import { isPolicyRetired } from './policy-versions.ts'
import { isoTime, type AdvisoryLock, type Sql } from '../postgres/sql.ts'
import { rowsInto, type RowOf } from '../postgres/rows.ts'
import { asText } from '../postgres/statement-batch.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { approval } from '../../formats/artifacts/approval.ts'

const columns = {
  ...approval.stored.columns,
  /** The SignedApproval, canonical text. */
  body: 'text',
  ...positionColumns,
} as const
export type ApprovalRow = RowOf<typeof columns>

const insert = rowsInto(approval.stored.table, columns, {
  suffix: ' ON CONFLICT DO NOTHING RETURNING approval_id',
  returns: { approvalId: asText },
})

/** @returns false where the id or the nonce exists already: nothing is stored then */
export async function insertApproval(sql: Transaction, row: ApprovalRow): Promise<boolean> {
  const stored = await sql.run(insert([row]))
  return stored.flat().length === 1
}

/** SQL: the signature counter of an approval's passkey; null for an approval by a raw key (Web Authentication Level 3 §6.1, the last four bytes). */
const COUNTER = `(
  SELECT get_byte(d, 33) * 16777216::bigint + get_byte(d, 34) * 65536 + get_byte(d, 35) * 256 + get_byte(d, 36)
  FROM decode(a.body::json #>> '{webauthn,authenticatorData}', 'base64') AS d)`

/** How many approvals of a key a counter is compared with, before and after: enough to notice a copy that is in use. */
const COMPARED_MAX = 200

/**
 * The approval by the same passkey whose counter does not fit: it was signed earlier with a counter that is as high, or later with one that is
 * as low. Approvals may be delivered in another order than they were signed in. A passkey that does not count has 0 in all of them.
 */
export async function findCounterMisfit(
  sql: Sql,
  approvalId: string,
): Promise<{ readonly approvalId: string; readonly counter: number; readonly other: number } | undefined> {
  const near = (order: 'ASC' | 'DESC', comparison: '<=' | '>') => `(
    SELECT a.approval_id, ${COUNTER} AS counter, '${order}' AS side FROM approvals AS a, own
    WHERE a.approver_id = own.approver_id AND a.key_id = own.key_id AND a.issued_at ${comparison} own.issued_at
      AND a.approval_id <> own.approval_id ORDER BY a.issued_at ${order} LIMIT ${COMPARED_MAX})`
  const { rows } = await sql.query<{ approvalId: string; counter: string; other: string }>({
    name: 'approvals_counter_misfit',
    text: `
      WITH own AS MATERIALIZED (
        SELECT a.approval_id, a.approver_id, a.key_id, a.issued_at, ${COUNTER} AS counter
        FROM approvals AS a WHERE a.approval_id = $1::text)
      SELECT near.approval_id AS "approvalId", own.counter, near.counter AS other
      FROM own, (${near('DESC', '<=')} UNION ALL ${near('ASC', '>')}) AS near
      WHERE (own.counter > 0 OR near.counter > 0)
        AND CASE near.side WHEN 'DESC' THEN near.counter >= own.counter ELSE near.counter <= own.counter END
      LIMIT 1`,
    values: [approvalId],
  })
  const [row] = rows
  return row && { approvalId: row.approvalId, counter: Number(row.counter), other: Number(row.other) }
}

export interface UsableApproval {
  readonly approvalId: string
  readonly body: string
  readonly approver: ApproverRow
  /** The open request that it is for: its hash and its content, canonical. Null: it is for none. */
  readonly request: { readonly requestHash: string; readonly body: string } | null
}

/** Held from reading the usable approvals of an action until they are used up, and while a request for it is closed. */
export function approvalLock({ capability, target }: { capability: string; target: string }): AdvisoryLock {
  return { key: JSON.stringify(['approval', capability, target]) }
}

/** At most this many approvals of one scope are read. */
const USABLE_MAX = 500

/**
 * Reads the approvals that may allow an action now: unused, valid at `at`, by a key that is not revoked, and for no request or one that is open.
 * Those for a request come first, then exact ones, then those that end soonest. The caller checks requests and limits against the execution, and
 * holds `approvalLock` and APPROVERS_IN_EFFECT, so that the approvals are still unused when they are consumed.
 * @param action.notBy approverIds whose approvals are left out: however many they have signed, they displace no other approver's
 */
export async function readUsableApprovals(
  sql: Sql,
  action: {
    capability: string
    target: string
    parametersHash: string
    at: string
    notBy: readonly string[]
  },
): Promise<UsableApproval[]> {
  const result = await sql.query<{
    approvalId: string
    body: string
    stated: string
    beganAt: string
    requestHash: string | null
    request: string | null
  }>({
    name: 'approvals_usable',
    text: `
      SELECT a.approval_id AS "approvalId", a.body, k.stated, ${isoTime('k.began_at')} AS "beganAt", a.request_hash AS "requestHash", r.body AS request
      FROM approvals AS a JOIN authority AS k ON ${IS_KEY_OF_APPROVAL}
        LEFT JOIN approval_requests AS r ON r.request_hash = a.request_hash AND r.status = 'OPEN' AND r.expires_at > $4::timestamptz
      WHERE a.capability = $1::text AND a.target = $2::text AND a.consumed_by IS NULL
        AND (a.parameters_hash = $3::text OR a.parameters_hash IS NULL)
        AND a.issued_at <= $4::timestamptz AND a.expires_at > $4::timestamptz AND k.began_at IS NOT NULL AND k.ended_at IS NULL
        AND (a.request_hash IS NULL OR r.request_hash IS NOT NULL) AND a.approver_id <> ALL ($6::text[])
      ORDER BY r.expires_at NULLS LAST, a.parameters_hash NULLS LAST, a.expires_at, a.approval_id LIMIT $5::integer`,
    values: [action.capability, action.target, action.parametersHash, action.at, USABLE_MAX, action.notBy],
  })
  return result.rows.map(({ approvalId, body, requestHash, request, ...key }) => ({
    approvalId,
    body,
    request: requestHash === null || request === null ? null : { requestHash, body: request },
    approver: approverOf({ ...key, endedAt: null }),
  }))
}

/**
 * Marks approvals as used.
 * @returns how many this call marked. If fewer than `ids`, another execution was first, and the caller must roll back
 */
export async function consumeApprovals(
  sql: Sql,
  use: { ids: readonly string[]; consumedBy: string; consumedAt: string },
): Promise<number> {
  if (use.ids.length === 0) return 0
  const result = await sql.query({
    name: 'approvals_consume',
    text: `
      UPDATE approvals SET consumed_by = $2::uuid, consumed_at = $3::timestamptz
      WHERE approval_id = ANY($1::text[]) AND consumed_by IS NULL`,
    values: [use.ids, use.consumedBy, use.consumedAt],
  })
  return result.rowCount ?? 0
}

export interface ListedApproval {
  readonly approvalId: string
  readonly status: ApprovalStatus
  readonly body: string
  readonly deliveredBy: string
  /** ISO 8601. */
  readonly deliveredAt: string
  readonly consumedBy: string | null
  readonly consumedAt: string | null
}

const LISTED = `
  SELECT "approvalId", body, "deliveredBy", ${isoTime('delivered_at')} AS "deliveredAt", "consumedBy",
    ${isoTime('consumed_at')} AS "consumedAt", status
  FROM (
    SELECT a.approval_id AS "approvalId", a.body, a.delivered_by AS "deliveredBy", a.delivered_at,
      a.consumed_by AS "consumedBy", a.consumed_at,
      CASE WHEN a.consumed_by IS NOT NULL THEN 'USED'
        WHEN a.expires_at <= now() OR r.status = 'EXPIRED'
          OR (r.status = 'OPEN' AND (r.expires_at <= now() OR ${isPolicyRetired('r')})) THEN 'EXPIRED'
        WHEN k.ended_at IS NOT NULL THEN 'REVOKED' WHEN r.status <> 'OPEN' THEN 'CLOSED' ELSE 'UNUSED' END AS status
    FROM approvals AS a JOIN authority AS k ON ${IS_KEY_OF_APPROVAL}
      LEFT JOIN approval_requests AS r ON r.request_hash = a.request_hash
  ) AS listed`

/** A page, the newest delivery first. */
export async function listApprovals(
  sql: Sql,
  page: { status: ApprovalStatus | null; consumedBy: string | null; limit: number; offset: number },
): Promise<ListedApproval[]> {
  const result = await sql.query<ListedApproval>({
    text: `${LISTED} WHERE ($3::text IS NULL OR status = $3::text) AND ($4::uuid IS NULL OR "consumedBy" = $4::uuid)
      ORDER BY delivered_at DESC, "approvalId" DESC LIMIT $1::integer OFFSET $2::integer`,
    values: [page.limit, page.offset, page.status, page.consumedBy],
  })
  return result.rows
}

export async function readApproval(sql: Sql, approvalId: string): Promise<ListedApproval | null> {
  const result = await sql.query<ListedApproval>({
    text: `${LISTED} WHERE "approvalId" = $1::text`,
    values: [approvalId],
  })
  return result.rows[0] ?? null
}
