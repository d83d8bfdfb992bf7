// The audit's routes (decisions §9).
import { readableOwner } from '../config.ts'
import { failures, Failure } from '../errors.ts'
import { auditTypes } from '../schemas/audit-event.ts'
import { listAuditEvents } from '../tables/audit-events.ts'
import { submitted } from './evidence.ts'
import { readPage, readTime } from './paging.ts'
import type { Handler } from './route.ts'

export const verifyAuditEvent: Handler = submitted('verify-audit-event')

/** For humans and auditors: what was refused to one caller is not for another to read. */
export const auditEvents: Handler = async ({ query, caller }, { pool }) => {
  if (readableOwner(caller) !== null) return failures.nonHumanCaller()
  const page = readPage(query)
  if (page instanceof Failure) return page
  const since = readTime(query, 'since')
  if (since instanceof Failure) return since
  const until = readTime(query, 'until')
  if (until instanceof Failure) return until
  const type = query.get('type')
  if (type !== null && !auditTypes.some((known) => known === type))
    return failures.invalidQuery(`type must be one of ${auditTypes.join(', ')}.`)
  const events = await listAuditEvents(pool, { ...page, since, until, type })
  const texts = events.map(({ body, seal }) => `{"event":${body},"signature":${seal}}`)
  return { status: 200, body: `{"events":[${texts.join(',')}]}` }
}
