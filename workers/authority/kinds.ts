// The list of all kinds of changes that humans make together: another kind needs a file beside this one and a row here
// (decisions §7).
import type { Json } from '../../src/formats/json/canonical.ts'
import type { ChangeKindName } from '../../src/formats/schemas/governance.ts'
import type { TokenIssuer } from '../../src/core/callers/token-issuers.ts'
import type { Caller } from '../../src/formats/people/caller.ts'
import { approverChanges } from './approver.ts'
import { approverGroupChanges } from './approver-group.ts'
import { callerKeyChanges } from './caller-key.ts'
import type { ChangeKind } from './change-kind.ts'
import { eventEndpointChanges } from './event-endpoint.ts'
import { externalConnectorChanges } from './external-connector.ts'
import { policyChanges } from './policy.ts'
import { standInChanges } from './stand-in.ts'
import { webhookRuleChanges } from './webhook-rules.ts'

export type ChangeKinds = Readonly<Record<ChangeKindName, ChangeKind<Json>>>

/**
 * @param options.ownKeys PEMs of the keys that this service publishes as its own
 * @param options.approverPasskeys which passkeys may be enrolled
 * @param options.consoleOrigin CONSOLE_ORIGIN
 * @param options.production refuses an endpoint on the service's own machine
 * @param options.providers the providers whose deliveries are taken
 * @param options.configuredCallers the entries of SERVICE_API_KEYS
 * @param options.tokenIssuers the entries of SERVICE_TOKEN_ISSUERS
 * @param options.callerIds the callers with a key in effect
 * @param options.logged whether the evidence log is on
 */
export function openChangeKinds({
  ownKeys,
  approverPasskeys,
  consoleOrigin,
  providers,
  configuredCallers,
  tokenIssuers,
  ...rule
}: {
  ownKeys: () => readonly string[]
  approverPasskeys: 'any' | 'device-bound'
  consoleOrigin: string | undefined
  production: boolean
  providers: readonly string[]
  configuredCallers: readonly Caller[]
  tokenIssuers: readonly TokenIssuer[]
  callerIds: () => readonly string[]
  logged: boolean
}): ChangeKinds {
  const kinds: Readonly<Record<ChangeKindName, unknown>> = {
    policy: policyChanges,
    approver: approverChanges({ ownKeys, approverPasskeys, configuredCallers, consoleOrigin }),
    'external-connector': externalConnectorChanges(rule),
    'webhook-rules': webhookRuleChanges({ hasSecret: (provider) => providers.includes(provider) }),
    'event-endpoint': eventEndpointChanges(rule),
    'caller-key': callerKeyChanges(configuredCallers, tokenIssuers),
    'approver-group': approverGroupChanges,
    'stand-in': standInChanges,
  }
  // A kind only gets back proposals that its own `read` or `examine` has made: they are kept as signed JSON, which is checked
  // before it is read.
  return kinds as ChangeKinds
}
