// Endpoints that events are pushed to, and the changes of them that humans propose (docs/handbook/events.md).
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
})
export type EventEndpoint = Type.Static<typeof EventEndpoint>

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
  // Whatever is registered for the URL is revoked, whatever registration is given.
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

/** As they are read: a step-up that is malformed is a failed step-up, not a mistake of the body. */
const stepUpRead = { stepUpAuthorization: Type.Optional(Type.Unknown()) }
export const EventRedeliveryRead = closed({ after, ...stepUpRead })
export const EventSecretRequestRead = closed(stepUpRead)
