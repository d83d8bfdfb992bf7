// Audit events (decisions §9).
import { Type } from 'typebox'
import {
  AuditEventPage,
  AuditEventWithSignature,
  AuditVerification,
} from '../../formats/schemas/audit-event.ts'
import { auditTypes } from '../../formats/schemas/audit-types.ts'
import { signedText } from '../../store/tables/sealed.ts'
import { listAuditEvents } from '../../store/tables/audit-events.ts'
import example from '../openapi/examples/audit-event.json' with { type: 'json' }
import { timeRange } from '../openapi/parameters.ts'
import { list } from './list.ts'
import { get, post, type Route } from '../route.ts'
import { onThread } from './on-thread.ts'

export const audit = [
  list({
    ...get,
    path: '/audit/events',
    operationId: 'listAuditEvents',
    tag: 'Audit',
    summary: 'Audit events of refusals and changes',
    description: 'For humans and auditors.',
    everybodys: true,
    filters: {
      type: { schema: Type.Enum([...auditTypes]), description: 'Only events of this type.' },
      ...timeRange,
    },
    schema: AuditEventPage,
    member: 'events',
    example: [example],
    read: (range, asked, { pool }) => listAuditEvents(pool, range, asked),
    textOf: (event) => signedText('event', event),
  }),
  {
    ...post,
    path: '/audit/verify',
    session: true,
    open: true,
    limit: 'public',
    cost: 'compute',
    operationId: 'verifyAuditEvent',
    tag: 'Audit',
    summary: 'Verify an audit event that you received',
    description:
      'Any JSON object is answered: where a member is missing or of another type, the check that reads it fails.',
    body: { schema: AuditEventWithSignature, example },
    answers: {
      200: {
        description:
          '`valid` is true if this service signed the event; a signature by an unpublished key is not valid.',
        schema: AuditVerification,
        example: { valid: true, checks: [{ name: 'event signature', valid: true }] },
      },
    },
    failures: ['invalidEvidence', 'internal'],
    handle: onThread('verify-audit-event'),
  },
] as const satisfies readonly Route[]
