// Endpoints to which events are pushed, and the changes of them that humans propose (docs/handbook/events.md).
import { Type } from 'typebox'
import { eventTypes } from './event-types.ts'
import { EndpointStepUp, Reason } from './governance.ts'
import { closed, EndpointUrl, Instant, NonEmptyText, Uuid } from './primitives.ts'

const types = Type.Array(Type.Enum([...eventTypes]), {
  minItems: 1,
  uniqueItems: true,
  description: 'an array of different types of events, at least one',
})
const withParameters = Type.Boolean({
  description: 'true or false; true sends the parameters of each execution with its events',
})
const callerIds = Type.Array(NonEmptyText, {
  minItems: 1,
  maxItems: 64,
  uniqueItems: true,
  description:
    'an array of 1 to 64 different callerIds, whose events are sent; without it the events of all callers',
})

export const EventEndpoint = Type.Object({
  endpointId: Uuid,
  url: EndpointUrl,
  types,
  withParameters,
  callerIds: Type.Optional(callerIds),
  registeredAt: Instant,
  state: Type.Enum(['delivering', 'failing', 'disabled'], {
    description:
      '`failing`: the last attempt failed, and another follows. `disabled`: it answered 410 or took nothing for three days; POST …/redeliver enables it again',
  }),
  cursor: Type.Optional(
    Type.String({ description: 'everything in the feed up to here is delivered; absent: nothing is' }),
  ),
  hasSecret: Type.Boolean({ description: 'whether deliveries carry a `v1` signature in addition to `v1a`' }),
  lastSuccessAt: Type.Optional(Instant),
  lastFailureAt: Type.Optional(Instant),
  lastFailure: Type.Optional(NonEmptyText),
  failingSince: Type.Optional(Instant),
  nextAttemptAt: Type.Optional(Instant),
  previousSecretUntil: Type.Optional(Instant),
  unservedSince: Type.Optional(Instant),
  unservedReason: Type.Optional(
    Type.String({
      description:
        'why the service itself cannot read or sign the events of this endpoint, such as a signing key that fails',
    }),
  ),
})
export type EventEndpoint = Type.Static<typeof EventEndpoint>

const EventAttempt = Type.Object({
  number: Type.Integer({
    minimum: 1,
    description: 'how many attempts there were for this endpoint until then',
  }),
  beganAt: Instant,
  durationMs: Type.Integer({ minimum: 0 }),
  status: Type.Optional(
    Type.Integer({
      description: 'of the answer; absent: no whole answer came. Nothing else of an answer is kept',
    }),
  ),
  problem: Type.Optional(
    Type.String({ description: 'completes “the endpoint …”; absent: it took the event' }),
  ),
  eventId: Uuid,
  type: Type.Enum([...eventTypes]),
  businessTransactionId: Type.Optional(NonEmptyText),
  before: Type.String({
    description:
      'GET /events with this `after` and this type begins with the event: with `parameters`, where the endpoint is sent them, its canonical JSON is the body that was sent',
  }),
  bodySha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'of the body that was sent' }),
  bodyBytes: Type.Integer({ minimum: 0 }),
})
export type EventAttempt = Type.Static<typeof EventAttempt>

export const EventEndpointWithAttempts = Type.Object({
  ...EventEndpoint.properties,
  attempts: Type.Array(EventAttempt, { description: 'the last 50, newest first' }),
})
export type EventEndpointWithAttempts = Type.Static<typeof EventEndpointWithAttempts>

export const EventEndpointList = Type.Object({
  publicKeys: Type.Array(Type.String({ pattern: '^whpk_' }), {
    description:
      'the Ed25519 keys of GET /.well-known/jwks.json that are not revoked: each `v1a` signature is by one of them, the newest last',
  }),
  eventEndpoints: Type.Array(EventEndpoint),
})

export const EventEndpointProposal = Type.Union([
  closed({
    action: Type.Enum(['register']),
    url: EndpointUrl,
    types,
    withParameters: Type.Optional(withParameters),
    callerIds: Type.Optional(callerIds),
    reason: Reason,
  }),
  // Revokes the registered endpoint of this URL, even if another registration is given.
  closed({
    action: Type.Enum(['revoke']),
    url: EndpointUrl,
    types: Type.Optional(types),
    withParameters: Type.Optional(withParameters),
    callerIds: Type.Optional(callerIds),
    reason: Reason,
  }),
])

export const EventEndpointSecret = Type.Object({
  secret: Type.String({ pattern: '^whsec_', description: 'the key of `v1` signatures, shown this once' }),
  previousUntil: Type.Optional(Instant),
})

const after = Type.Optional(
  Type.String({
    pattern: '\\S',
    description: 'a cursor of the feed, or `now`; left out: where delivery stopped',
  }),
)

export const EventRedelivery = closed({ after, stepUpAuthorization: Type.Optional(EndpointStepUp) })
export const EventSecretRequest = closed({ stepUpAuthorization: Type.Optional(EndpointStepUp) })

/** As they are read: a malformed step-up is a failed step-up, not a mistake of the body. */
const stepUpRead = { stepUpAuthorization: Type.Optional(Type.Unknown()) }
export const EventRedeliveryRead = closed({ after, ...stepUpRead })
export const EventSecretRequestRead = closed(stepUpRead)
