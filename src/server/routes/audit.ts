// GET /audit/events (decisions §9).
import { readableOwner } from '../../core/config.ts'
import { failures, Failure } from '../../core/errors.ts'
import { auditTypes } from '../../core/schemas/audit-event.ts'
import { signedText } from '../../core/sealed.ts'
import { listAuditEvents } from '../../core/tables/audit-events.ts'
import { pageHeaders, readChoice, readRange, readTimes } from './paging.ts'
import type { Handler } from './route.ts'

/** For humans and auditors: what was refused to one caller is not for another to read. */
export const auditEvents: Handler = async ({ query, caller }, { pool }) => {
  if (readableOwner(caller) !== null) return failures.nonHumanCaller()
  const range = readRange(query)
  if (range instanceof Failure) return range
  const times = readTimes(query)
  if (times instanceof Failure) return times
  const type = readChoice(query, 'type', auditTypes)
  if (type instanceof Failure) return type
  const page = await listAuditEvents(pool, range, { type, ...times })
  const events = page.rows.map((event) => signedText('event', event))
  return {
    status: 200,
    ...pageHeaders('/audit/events', query, page.next),
    body: `{"events":[${events.join(',')}]}`,
  }
}
