// What human authority has put in effect: policies, approvers' keys, external connectors, webhook rules and callers'
// keys, as every thread works by them.
import { readApprovers, type ApproverRow } from './tables/approvers.ts'
import { readCallerKeysInEffect, type StoredCallerKey } from './tables/caller-keys.ts'
import { readEpoch } from './tables/authority-epoch.ts'
import { readExternalConnectors, type ExternalConnectorRow } from './tables/external-connectors.ts'
import { readPolicyVersions, type StoredPolicyVersion } from './tables/policy-versions.ts'
import type { Sql } from './postgres/sql.ts'
import { readWebhookRulesInEffect, type WebhookRulesRow } from './tables/webhook-rules.ts'

/** Plain data: it crosses to the threads. */
export interface AuthorityState {
  readonly epoch: string
  readonly policies: readonly StoredPolicyVersion[]
  readonly approvers: readonly ApproverRow[]
  readonly externalConnectors: readonly ExternalConnectorRow[]
  readonly webhookRules: readonly WebhookRulesRow[]
  readonly callerKeys: readonly StoredCallerKey[]
}

/** @param configuredKeys hashes of the keys of SERVICE_API_KEYS: governance may have revoked some */
export async function readAuthority(sql: Sql, configuredKeys: readonly string[]): Promise<AuthorityState> {
  // First: what is read after it is at least as new, and a change in between shows as another epoch at the next look.
  const epoch = await readEpoch(sql)
  return {
    epoch,
    policies: await readPolicyVersions(sql),
    approvers: await readApprovers(sql),
    externalConnectors: await readExternalConnectors(sql),
    webhookRules: await readWebhookRulesInEffect(sql),
    callerKeys: await readCallerKeysInEffect(sql, configuredKeys),
  }
}
