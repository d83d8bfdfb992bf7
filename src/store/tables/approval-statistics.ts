// How approval requests ended, and how long approvers took: over approval_requests, approvals and approval_request_closes.
import { STATUS, withStanding } from './approval-requests.ts'
import type { ApprovalRequestStatus } from '../../formats/schemas/approval-request-statuses.ts'
import type { Persons } from '../../formats/people/persons.ts'
import { storedJson } from '../postgres/json.ts'
import type { Sql } from '../postgres/sql.ts'

interface Range {
  /** The times of opening that count, ISO 8601: `since` is included, `until` is excluded. */
  readonly since: string
  readonly until: string
  /** Only the requests of this caller; null: everybody's. */
  readonly owner: string | null
}

/** @returns how many requests that were opened in the range have each status now */
export async function countRequestStatuses(
  sql: Sql,
  { since, until, owner }: Range,
  persons: Persons,
): Promise<ReadonlyMap<ApprovalRequestStatus, number>> {
  const { rows } = await sql.query<{ status: ApprovalRequestStatus; count: number }>(
    `SELECT ${STATUS} AS status, count(*)::integer AS count FROM approval_requests AS item ${withStanding('$4')}
     WHERE ${inRange('item')} GROUP BY 1`,
    [since, until, owner, persons.ofNameJson],
  )
  return new Map(rows.map(({ status, count }) => [status, count]))
}

const inRange = (request: string) =>
  `${request}.created_at >= $1::timestamptz AND ${request}.created_at < $2::timestamptz
    AND ($3::text IS NULL OR ${request}.requested_by = $3::text)`

/** The decisions of an approver, or of all approvers. */
export interface Decisions {
  /** Null: all approvers. */
  readonly approverId: string | null
  readonly approved: number
  readonly declined: number
  /** The time from opening to decision: half of the decisions, and 9 of 10, took no longer. Null without decisions. */
  readonly p50Seconds: number | null
  readonly p90Seconds: number | null
}

/** The approvers with most decisions have a row each; the row of all approvers covers the rest. */
const APPROVERS_MAX = 100

/**
 * Reads the decisions about requests that were opened in the range, those of all approvers first.
 * @param approverIds the approverId of each human by callerId, because humans decline as callers
 */
export async function readDecisions(
  sql: Sql,
  { since, until, owner }: Range,
  approverIds: Readonly<Record<string, string>>,
): Promise<Decisions[]> {
  const { rows } = await sql.query<Decisions>(
    `
    WITH decisions AS (
      SELECT a.approver_id AS who, true AS approved, extract(epoch FROM a.delivered_at - r.created_at)::float8 AS seconds
      FROM approval_requests AS r JOIN approvals AS a ON a.request_hash = r.request_hash WHERE ${inRange('r')}
      UNION ALL
      SELECT coalesce($4::jsonb ->> (${storedJson('c.body')} ->> 'by'), ${storedJson('c.body')} ->> 'by'), false,
        extract(epoch FROM c.closed_at - r.created_at)::float8
      FROM approval_requests AS r JOIN approval_request_closes AS c ON c.request_id = r.request_id
      WHERE r.status = 'DECLINED' AND ${inRange('r')}
    )
    SELECT who AS "approverId", count(*) FILTER (WHERE approved)::integer AS approved,
      count(*) FILTER (WHERE NOT approved)::integer AS declined,
      round(percentile_disc(0.5) WITHIN GROUP (ORDER BY seconds)::numeric, 3)::float8 AS "p50Seconds",
      round(percentile_disc(0.9) WITHIN GROUP (ORDER BY seconds)::numeric, 3)::float8 AS "p90Seconds"
    FROM decisions GROUP BY GROUPING SETS ((), (who))
    ORDER BY grouping(who) DESC, count(*) DESC, who LIMIT ${APPROVERS_MAX + 1}`,
    [since, until, owner, JSON.stringify(approverIds)],
  )
  return rows
}
