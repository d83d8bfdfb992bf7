// THE list of what humans change together: another kind is a file beside this one and a row here (decisions §7).
import type { Json } from '../../src/core/json/canonical.ts'
import type { ChangeKindName } from '../../src/core/schemas/governance.ts'
import { approverChanges } from './approver.ts'
import type { ChangeKind } from './change-kind.ts'
import { eventEndpointChanges } from './event-endpoint.ts'
import { externalConnectorChanges } from './external-connector.ts'
import { policyChanges } from './policy.ts'
import { webhookRuleChanges } from './webhook-rules.ts'

export type ChangeKinds = Readonly<Record<ChangeKindName, ChangeKind<Json>>>

/**
 * @param options.ownKeys PEMs of the keys that this service publishes as its own
 * @param options.approverPasskeys which passkeys may be enrolled
 * @param options.production refuses an endpoint on the service's own machine
 * @param options.providers those whose deliveries are taken
 * @param options.callerIds those that are configured
 * @param options.logged whether the evidence log is on
 */
export function openChangeKinds({
  ownKeys,
  approverPasskeys,
  providers,
  ...rule
}: {
  ownKeys: () => readonly string[]
  approverPasskeys: 'any' | 'device-bound'
  production: boolean
  providers: readonly string[]
  callerIds: readonly string[]
  logged: boolean
}): ChangeKinds {
  const kinds: Readonly<Record<ChangeKindName, unknown>> = {
    policy: policyChanges,
    approver: approverChanges({ ownKeys, approverPasskeys }),
    'external-connector': externalConnectorChanges(rule),
    'webhook-rules': webhookRuleChanges({ hasSecret: (provider) => providers.includes(provider) }),
    'event-endpoint': eventEndpointChanges(rule),
  }
  // A kind is handed back what its own `read` or `examine` has made: kept as signed JSON, which is checked before it is read.
  return kinds as ChangeKinds
}
