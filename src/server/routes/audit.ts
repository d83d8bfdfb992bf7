// Audit events (decisions §9).
import { Type } from 'typebox'
import { readableOwner } from '../../formats/people/caller.ts'
import { failures, Failure } from '../../core/errors/errors.ts'
import {
  AuditEventPage,
  AuditEventWithSignature,
  auditTypes,
  AuditVerification,
} from '../../formats/schemas/audit-event.ts'
import { signedText } from '../../store/tables/sealed.ts'
import { listAuditEvents } from '../../store/tables/audit-events.ts'
import example from '../openapi/examples/audit-event.json' with { type: 'json' }
import { linkedPaging, listFailures, timeRange } from '../openapi/parameters.ts'
import { pageHeaders, readChoice, readRange, readTimes } from './paging.ts'
import { get, post, type Route } from '../route.ts'
import { onThread } from './on-thread.ts'

export const audit = [
  {
    ...get,
    path: '/audit/events',
    operationId: 'listAuditEvents',
    tag: 'Audit',
    summary: 'What was refused and changed',
    description: 'For humans and auditors.',
    query: {
      ...linkedPaging,
      type: { schema: Type.Enum([...auditTypes]), description: 'Only events of this type.' },
      ...timeRange,
    },
    answers: {
      200: {
        description: 'One page, newest first.',
        schema: AuditEventPage,
        example: { events: [example] },
        optionalHeaders: ['Link'],
      },
    },
    failures: ['nonHumanCaller', ...listFailures],
    readsDatabase: true,
    async handle({ query, caller }, { pool }) {
      // Not by `readers`, which refuses everybody where authentication is disabled.
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
    },
  },
  {
    ...post,
    path: '/audit/verify',
    session: true,
    open: true,
    limit: 'public',
    cost: 'compute',
    operationId: 'verifyAuditEvent',
    tag: 'Audit',
    summary: 'Check an audit event that somebody shows you',
    description:
      'Any JSON object is answered: where a member is missing or of another type, the check that reads it fails.',
    body: { schema: AuditEventWithSignature, example },
    answers: {
      200: {
        description: '`valid` where this service signed it; a key that is not published is not valid.',
        schema: AuditVerification,
        example: { valid: true, checks: [{ name: 'event signature', valid: true }] },
      },
    },
    failures: ['invalidEvidence', 'internal'],
    handle: onThread('verify-audit-event'),
  },
] as const satisfies readonly Route[]
