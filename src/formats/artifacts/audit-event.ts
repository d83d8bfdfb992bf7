// The check of an audit event with the signature beside it (decisions §9), from their text alone.
import type { Json } from '../json/canonical.ts'
import { canonicalText } from './evidence.ts'
import { isMembers } from '../json/members.ts'
import type { Check, Crypto } from './evidence.ts'
import { checkEd25519 } from './signatures.ts'
import type { EventType } from '../schemas/event-types.ts'
import { enveloped, type ArtifactKind } from './kind.ts'
import { at, joined, text } from './account-text.ts'

/**
 * Checks an audit event; never throws.
 * @param evidence `{event, signature}`, or any other JSON that was sent as one
 * @returns at least one check
 */
export function checkAuditEvent(evidence: Json, given: Crypto): Check[] {
  const { event, signature } = isMembers(evidence) ? evidence : {}
  return [
    checkEd25519('event signature', 'The audit event signature is not valid', given, {
      artifact: 'audit-event',
      text: isMembers(event) ? canonicalText(event) : undefined,
      signature,
    }),
  ]
}

/** The events of the feed that audit events are, by their type. */
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
    ...enveloped('event', 'eventId'),
    check: checkAuditEvent,
    title: 'Audit event',
    plainTitle: 'Audit event',
    account: (evidence) => {
      const event = at(evidence, 'event')
      return {
        said: {
          Event: joined(' ', text(event, 'type'), text(event, 'capability')),
          Caller: text(event, 'callerId'),
          Why: text(event, 'reason'),
          When: text(event, 'occurredAt'),
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
