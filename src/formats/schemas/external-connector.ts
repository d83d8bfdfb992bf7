// External connectors, and the changes of connectors that humans propose (decisions §7, §8).
import { Type } from 'typebox'
import { Reason } from './governance.ts'
import { CAPABILITY, POLICY_NAME } from './policy.ts'
import { closed, EndpointUrl, Instant, NonEmptyText, Uuid } from './primitives.ts'

const Capability = Type.String({ pattern: CAPABILITY, description: 'a namespace:verb' })
const Parameter = Type.String({
  pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,63}$',
  description: 'the name of a parameter',
})
const registration = {
  endpointUrl: EndpointUrl,
  policy: Type.String({ pattern: POLICY_NAME, description: 'the name of a policy' }),
  allowedParameters: Type.Array(Parameter, {
    maxItems: 64,
    uniqueItems: true,
    description:
      'an array of at most 64 different parameter names, which may leave with a release; an execution with another one fails',
  }),
}
export const TIMEOUT_DEFAULT_MS = 10_000
const TimeoutMs = Type.Integer({
  minimum: 100,
  maximum: 30_000,
  default: TIMEOUT_DEFAULT_MS,
  description: 'a whole number from 100 to 30000',
})
const ReadBack = Type.Boolean({
  description: 'true or false: whether it answers a signed GET that asks what became of a release',
})

export const ExternalConnector = Type.Object({
  /** The change that registered the connector; it is its connectorVersion in evidence. */
  changeId: Uuid,
  capability: NonEmptyText,
  ...registration,
  timeoutMs: TimeoutMs,
  readBack: ReadBack,
  registeredAt: Instant,
})

export const ExternalConnectorList = Type.Object({ externalConnectors: Type.Array(ExternalConnector) })

export const ExternalConnectorProposal = Type.Union([
  closed({
    action: Type.Enum(['register']),
    capability: Capability,
    ...registration,
    timeoutMs: Type.Optional(TimeoutMs),
    readBack: Type.Optional(ReadBack),
    reason: Reason,
  }),
  // Revokes the registered connector of this capability, even if another registration is given.
  closed({
    action: Type.Enum(['revoke']),
    capability: Capability,
    ...Type.Partial(Type.Object(registration)).properties,
    timeoutMs: Type.Optional(TimeoutMs),
    readBack: Type.Optional(ReadBack),
    reason: Reason,
  }),
])
