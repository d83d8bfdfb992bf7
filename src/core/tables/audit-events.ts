// audit_events: the signed account of what was refused and changed (decisions §9).
import type { Sealed } from '../sealed.ts'
import type { Step } from './statement-batch.ts'
import { readPageOf, type Page, type PageRange } from './page.ts'
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
  range: PageRange,
  { type, since, until }: { type: string | null; since: string | null; until: string | null },
): Promise<Page<Sealed>> {
  const ofType = type !== null
  return readPageOf(
    sql,
    {
      // By type unnamed, so that it is planned with its values: a generic plan reads past all other types.
      ...(ofType ? {} : { name: 'audit_events_list' }),
      table: 'audit_events',
      time: 'occurred_at',
      id: 'event_id',
      bytes: 'octet_length(item.body) + octet_length(item.seal)',
      columns: 'item.body, item.seal',
      where: `item.occurred_at >= $5::timestamptz ${ofType ? 'AND item.type = $6::text' : ''}`,
    },
    range,
    { until, values: [since ?? '-infinity', ...(ofType ? [type] : [])] },
  )
}
