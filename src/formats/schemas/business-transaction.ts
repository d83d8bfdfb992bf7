// BusinessTransaction (interface §2.1), which a caller submits.
import { Type } from 'typebox'
import { Instant, NonEmptyText, Text, Timestamp, Uuid } from './primitives.ts'

/** Type.String() as a key has the pattern `^.*$`, which a key with a line break escapes, and its value as well. */
export const AnyKey = Type.String({ pattern: '^[\\s\\S]*$' })

const AuthorityType = Type.Enum(['USER', 'ROLE', 'SERVICE', 'ORGANIZATION'], {
  description: 'one of USER, ROLE, SERVICE, ORGANIZATION',
})

export const Metadata = Type.Object({
  businessTransactionId: Uuid,
  correlationId: Type.Optional(Uuid),
  sourceSystem: Type.Optional(Text),
  submittedBy: Type.Optional(Text),
  submittedAt: Type.Optional(Timestamp),
})

export const Authority = Type.Object({
  authorityId: Uuid,
  authorityType: AuthorityType,
  principalId: NonEmptyText,
  displayName: Type.Optional(Text),
  issuedAt: Timestamp,
})

export const Authorization = Type.Object({
  authorizationId: Uuid,
  authorityId: Uuid,
  purpose: Type.Optional(Text),
  issuedAt: Timestamp,
})

export const Intent = Type.Object({
  intentId: Uuid,
  authorizationId: Uuid,
  action: NonEmptyText,
  target: NonEmptyText,
  parameters: Type.Record(AnyKey, Type.Unknown(), { description: 'an object' }),
  createdAt: Timestamp,
})

export const PolicyReference = Type.Object({
  name: NonEmptyText,
  version: NonEmptyText,
  schemaVersion: Type.Optional(Text),
})

export const SignalValue = Type.Union([Type.Boolean(), Type.Number()], {
  description: 'a boolean or a number',
})

export const Signals = Type.Record(AnyKey, SignalValue, { description: 'an object' })

/** The transaction after it was rebuilt field by field: optional maps are present, unknown fields are removed. */
export const BusinessTransactionInput = Type.Object({
  businessTransactionId: Uuid,
  metadata: Metadata,
  authority: Authority,
  authorization: Authorization,
  intent: Intent,
  policy: PolicyReference,
  signals: Signals,
})
export type BusinessTransactionInput = Type.Static<typeof BusinessTransactionInput>

/**
 * The body of POST /execute as callers may send it: members with a default may be left out, and unknown members are dropped
 * (interface §2.1 rule 1). For the OpenAPI document; the pipeline checks the rebuilt transaction above.
 */
export const SubmittedTransaction = Type.Object({
  ...BusinessTransactionInput.properties,
  intent: Type.Object({
    ...Intent.properties,
    parameters: Type.Optional(Intent.properties.parameters),
  }),
  signals: Type.Optional(Signals),
})

/** As stored and signed: with the members that the service assigns, and with the submitting caller. */
export const BusinessTransaction = Type.Object({
  ...BusinessTransactionInput.properties,
  metadata: Type.Object({ ...Metadata.properties, submittedBy: NonEmptyText }),
  status: Type.Enum(['RECEIVED'], { description: 'RECEIVED, the only value assigned on acceptance' }),
  createdAt: Instant,
})
export type BusinessTransaction = Type.Static<typeof BusinessTransaction>

/** The nested objects whose absence is the contract's 500 (interface §7). */
export const NESTED_OBJECTS = ['metadata', 'authority', 'authorization', 'intent', 'policy'] as const
