// audit_events: the signed account of what was refused and changed (decisions §9).
import type { Sealed } from '../sealed.ts'
import type { Step } from './bundle.ts'
import { stepsOf, type RowsStatement } from './rows.ts'
import type { Sql } from './sql.ts'

export interface AuditEventRow extends Sealed {
  readonly eventId: string
  /** ISO 8601. */
  readonly occurredAt: string
  readonly type: string
}

const insert: RowsStatement<AuditEventRow> = {
  name: 'audit_events_insert',
  text: `INSERT INTO audit_events (event_id, occurred_at, type, body, seal) VALUES $rows ON CONFLICT DO NOTHING`,
  types: ['uuid', 'timestamptz', 'text', 'text', 'text'],
  values: (row) => [row.eventId, row.occurredAt, row.type, row.body, row.seal],
}

/** Stores events. One that stands already is the same one, sent again because its commit was not heard of. */
export function insertAuditEvents(rows: readonly AuditEventRow[]): Step[] {
  return stepsOf(insert, rows)
}

/** A page of events, newest first. `since` is included, `until` is not. */
export async function listAuditEvents(
  sql: Sql,
  page: {
    readonly type: string | null
    readonly since: string | null
    readonly until: string | null
    readonly limit: number
    readonly offset: number
  },
): Promise<Sealed[]> {
  const ofType = page.type !== null
  const result = await sql.query<Sealed>({
    // By type unnamed, so that it is planned with its values: a generic plan reads past all other types.
    ...(ofType ? {} : { name: 'audit_events_list' }),
    text: `
      SELECT body, seal FROM audit_events
      WHERE occurred_at >= coalesce($3::timestamptz, '-infinity') AND occurred_at < coalesce($4::timestamptz, 'infinity')
        ${ofType ? 'AND type = $5::text' : ''}
      ORDER BY occurred_at DESC, event_id DESC LIMIT $1::integer OFFSET $2::integer`,
    values: [page.limit, page.offset, page.since, page.until, ...(ofType ? [page.type] : [])],
  })
  return result.rows
}
