// Audit events (decisions §9).
import { Type } from 'typebox'
import {
  AuditEventPage,
  AuditVerification,
  AuditEventWithSignature,
  auditTypes,
} from '../../../core/schemas/audit-event.ts'
import auditEvent from '../examples/audit-event.json' with { type: 'json' }
import type { Operation } from '../operation.ts'
import { linkedPaging, timeRange } from '../parameters.ts'

export const audit = {
  'GET /audit/events': {
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
        example: { events: [auditEvent] },
        optionalHeaders: ['Link'],
      },
    },
    failures: ['nonHumanCaller', 'invalidPage', 'invalidPageSize', 'invalidQuery', 'overloaded'],
    readsDatabase: true,
  },
  'POST /audit/verify': {
    operationId: 'verifyAuditEvent',
    tag: 'Audit',
    summary: 'Check an audit event that somebody shows you',
    description:
      'Any JSON object is answered: where a member is missing or of another type, the check that reads it fails.',
    body: { schema: AuditEventWithSignature, example: auditEvent },
    answers: {
      200: {
        description: '`valid` where this service signed it; a key that is not published is not valid.',
        schema: AuditVerification,
        example: { valid: true, checks: [{ name: 'event signature', valid: true }] },
      },
    },
    failures: ['invalidEvidence', 'internal'],
  },
} as const satisfies Record<string, Operation>
