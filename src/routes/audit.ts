// GET /audit/events (decisions §9).
import { readableOwner } from '../config.ts'
import { failures, Failure } from '../errors.ts'
import { auditTypes } from '../schemas/audit-event.ts'
import { signedText } from '../sealed.ts'
import { listAuditEvents } from '../tables/audit-events.ts'
import { readChoice, readPage, readTime } from './paging.ts'
import type { Handler } from './route.ts'

/** For humans and auditors: what was refused to one caller is not for another to read. */
export const auditEvents: Handler = async ({ query, caller }, { pool }) => {
  if (readableOwner(caller) !== null) return failures.nonHumanCaller()
  const page = readPage(query)
  if (page instanceof Failure) return page
  const since = readTime(query, 'since')
  if (since instanceof Failure) return since
  const until = readTime(query, 'until')
  if (until instanceof Failure) return until
  const type = readChoice(query, 'type', auditTypes)
  if (type instanceof Failure) return type
  const events = await listAuditEvents(pool, { ...page, since, until, type })
  return { status: 200, body: `{"events":[${events.map((event) => signedText('event', event)).join(',')}]}` }
}
