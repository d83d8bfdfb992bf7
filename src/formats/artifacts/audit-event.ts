// An audit event (decisions §9), stored as `{event, signature}`.
import { isMembers } from '../json/members.ts'
import type { EventType } from '../schemas/event-types.ts'
import { enveloped, type ArtifactKind } from './kind.ts'
import { membersAt, joined, textAt } from './account-text.ts'

/** The types of audit events that are also events of the feed. */
const FOLLOWED: { readonly [type: string]: EventType } = {
  'intent.in_doubt': 'execution.in_doubt',
  'confirmation.contradicts': 'confirmation.contradicts',
  'approval_request.approved': 'approval_request.approved',
  'approval_request.expired': 'approval_request.expired',
  'approval_request.ended': 'approval_request.ended',
}

export const auditEvent = {
  name: 'audit-event',
  times: ['occurredAt'],
  logged: {
    kind: 'audit-event',
    mark({ type, detail }) {
      const event = typeof type === 'string' ? FOLLOWED[type] : undefined
      if (event === undefined) return {}
      const owner = isMembers(detail) ? detail['submittedBy'] : undefined
      return { event, ...(typeof owner === 'string' ? { owner } : {}) }
    },
  },
  stored: {
    table: 'audit_events',
    id: 'eventId',
    at: 'occurredAt',
    columns: { eventId: 'uuid', occurredAt: 'timestamptz', type: 'text' },
    envelope: 'event',
  },
  evidence: {
    ...enveloped({
      artifact: 'audit-event',
      member: 'event',
      id: 'eventId',
      problem: 'The audit event signature is not valid',
    }),
    title: 'Audit event',
    plainTitle: 'Audit event',
    account: (evidence) => {
      const event = membersAt(evidence, 'event')
      return {
        said: {
          Event: joined(' ', textAt(event, 'type'), textAt(event, 'capability')),
          Caller: textAt(event, 'callerId'),
          Why: textAt(event, 'reason'),
          When: textAt(event, 'occurredAt'),
        },
      }
    },
    notProven: [
      'That what the event tells is true: it is what the service saw and signed.',
      'The order of events, or that none was left out.',
    ],
  },
  feed: {
    types: Object.values(FOLLOWED),
    details({ occurredAt, detail = {} }, { id: auditEventId }) {
      const { businessTransactionId, submittedBy, confirmationId, provider, by, says, requestId } = detail
      return {
        occurredAt: occurredAt!,
        businessTransactionId,
        callerId: submittedBy,
        auditEventId,
        requestId,
        confirmationId,
        provider,
        by,
        says,
      }
    },
  },
} as const satisfies ArtifactKind
