// Audit events and their signatures (decisions §9).
import { Type } from 'typebox'
import { CheckOutcome } from './check-outcome.ts'
import { AnyKey } from './business-transaction.ts'
import { Instant, NonEmptyText, Text, Uuid } from './primitives.ts'
import { Signature } from './signature.ts'

/** The types that are audited so far. Evidence of a later release may name more. */
export const auditTypes = [
  'caller.rejected',
  'caller.capability_denied',
  'caller.principal_denied',
  'caller.non_human_denied',
  'rate_limited',
  'governance.proposed',
  'governance.approved',
  'governance.rejected',
  'governance.same_actor_denied',
  'governance.step_up_denied',
  'approval.delivered',
  'approval.counter_went_back',
  'approval_request.opened',
  'approval_request.approved',
  'approval_request.declined',
  'approval_request.withdrawn',
  'approval_request.expired',
  'approval_request.ended',
  'intent.in_doubt',
  'intent.first_word',
  'intent.resolved',
  'intent.finalized',
  'intent.late_evidence',
  'webhook.rejected',
  'webhook.replayed',
  'webhook.processed',
  'webhook.requeued',
  'confirmation.contradicts',
  'event_endpoint.secret_made',
  'event_endpoint.redelivered',
  'event_endpoint.disabled',
  'session.opened',
  'session.ended',
] as const
export type AuditType = (typeof auditTypes)[number]

export const AuditEvent = Type.Object({
  eventId: Uuid,
  type: Type.String({ pattern: '^[a-z_]+(\\.[a-z_]+)?$', description: 'a name such as `caller.rejected`' }),
  occurredAt: Instant,
  route: NonEmptyText,
  callerId: Type.Optional(NonEmptyText),
  reason: Type.Optional(Text),
  capability: Type.Optional(Text),
  principalId: Type.Optional(Text),
  severity: NonEmptyText,
  detail: Type.Optional(Type.Record(AnyKey, Type.Unknown())),
})

export const AuditEventWithSignature = Type.Object({ event: AuditEvent, signature: Signature })
export type AuditEventWithSignature = Type.Static<typeof AuditEventWithSignature>

export const AuditEventPage = Type.Object({ events: Type.Array(AuditEventWithSignature) })

export const AuditVerification = Type.Object(
  { valid: Type.Boolean(), checks: Type.Array(CheckOutcome) },
  { description: 'whether this service signed the event' },
)
