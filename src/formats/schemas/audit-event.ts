// Audit events and their signatures (decisions §9).
import { Type } from 'typebox'
import { CheckOutcome } from './check-outcome.ts'
import { AnyKey } from './business-transaction.ts'
import { Instant, NonEmptyText, Text, Uuid } from './primitives.ts'
import { Signature } from './signature.ts'

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
