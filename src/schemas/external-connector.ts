// External connectors and the changes of them that humans propose (decisions §7, §8).
import { Type } from 'typebox'
import { Reason } from './governance.ts'
import { Instant, NonEmptyText, Uuid } from './primitives.ts'

const Capability = Type.String({
  pattern: '^[a-z][a-z0-9-]{0,63}:[a-z][a-z0-9-]{0,63}$',
  description: 'a namespace:verb',
})
const registration = {
  endpointUrl: Type.String({
    description:
      'https, to a host whose addresses are all public, without a query; http to a loopback literal outside production',
  }),
  policy: Type.String({ pattern: '^[a-z][a-z0-9-]{0,63}$', description: 'the name of a policy' }),
  allowedParameters: Type.Array(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,63}$' }), {
    maxItems: 64,
    uniqueItems: true,
    description: 'names of the parameters that may leave with a release; an execution with another one fails',
  }),
}
const TimeoutMs = Type.Integer({ minimum: 100, maximum: 30_000, default: 10_000 })

export const ExternalConnector = Type.Object({
  /** The change that registered it, and its connectorVersion in evidence. */
  changeId: Uuid,
  capability: NonEmptyText,
  ...registration,
  timeoutMs: TimeoutMs,
  registeredAt: Instant,
})

export const ExternalConnectorList = Type.Object({ externalConnectors: Type.Array(ExternalConnector) })

export const ExternalConnectorProposal = Type.Object({
  action: Type.Enum(['register', 'revoke'], { description: 'one of register, revoke' }),
  capability: Capability,
  ...Type.Partial(Type.Object(registration)).properties,
  timeoutMs: Type.Optional(TimeoutMs),
  reason: Reason,
})
