// audit_events: signed events of refusals and changes (decisions §9).
import { auditEvent } from '../../formats/artifacts/audit-event.ts'
import type { LogPosition } from './log-queue.ts'
import { artifactColumns, type Sealed } from './sealed.ts'
import { readPageOf, type Page, type PageRange } from './page.ts'
import { rowsInto, type RowOf } from '../postgres/rows.ts'
import type { Sql } from '../postgres/sql.ts'

const columns = artifactColumns(auditEvent)
export type AuditEventRow = Omit<RowOf<typeof columns>, keyof LogPosition>

/**
 * Stores events.
 * @returns statements that fail with a unique violation (`taken`) where one exists already: the log would count it a second time
 */
export const insertAuditEvents = rowsInto(auditEvent.stored.table, columns)

/** @returns which of the ids are those of stored events */
export async function findAuditEvents(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql.query<{ event_id: string }>({
    name: 'audit_events_find',
    text: `SELECT event_id FROM audit_events WHERE event_id = ANY($1::uuid[])`,
    values: [ids],
  })
  return new Set(rows.map(({ event_id }) => event_id))
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
      // With a type it is unnamed, so that it is planned with its values: a generic plan reads past all other types.
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
