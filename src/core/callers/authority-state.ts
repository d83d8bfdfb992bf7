// The state that human authority has put in effect: policies, approvers' keys, external connectors, webhook rules and callers'
// keys, as every thread works by them.
import type { Caller } from '../../formats/people/caller.ts'
import {
  joinPersons,
  namingOfApprover,
  namingOfCaller,
  type Naming,
  type Persons,
} from '../../formats/people/persons.ts'
import { readApprovers, type ApproverRow } from '../../store/tables/approvers.ts'
import {
  readCallerKeysInEffect,
  readCallerNamings,
  type StoredCallerKey,
} from '../../store/tables/caller-keys.ts'
import { readEpoch } from '../../store/tables/authority-epoch.ts'
import { readExternalConnectors, type ExternalConnectorRow } from '../../store/tables/external-connectors.ts'
import { readPolicyVersions, type StoredPolicyVersion } from '../../store/tables/policy-versions.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import { readWebhookRulesInEffect, type WebhookRulesRow } from '../../store/tables/webhook-rules.ts'

/** Plain data: it crosses to the threads. */
export interface AuthorityState {
  readonly epoch: string
  readonly policies: readonly StoredPolicyVersion[]
  readonly approvers: readonly ApproverRow[]
  readonly externalConnectors: readonly ExternalConnectorRow[]
  readonly webhookRules: readonly WebhookRulesRow[]
  readonly callerKeys: readonly StoredCallerKey[]
  /** The persons by all their keys, revoked ones too. */
  readonly persons: Persons
}

/** @param configured the entries of SERVICE_API_KEYS: governance may have revoked some */
export async function readAuthority(sql: Sql, configured: readonly Caller[]): Promise<AuthorityState> {
  // First: what is read after it is at least as new, and a change in between shows as another epoch at the next look.
  const epoch = await readEpoch(sql)
  const approvers = await readApprovers(sql)
  return {
    epoch,
    policies: await readPolicyVersions(sql),
    approvers,
    externalConnectors: await readExternalConnectors(sql),
    webhookRules: await readWebhookRulesInEffect(sql),
    callerKeys: await readCallerKeysInEffect(
      sql,
      configured.map(({ keyHash }) => keyHash),
    ),
    persons: joinPersons(await namingsOf(sql, { configured, approvers })),
  }
}

/** Reads the word of every register of humans' names and keys: the configuration, callers' keys and approvers' keys, revoked ones too. */
export async function readNamings(sql: Sql, configured: readonly Caller[]): Promise<Naming[]> {
  return namingsOf(sql, { configured, approvers: await readApprovers(sql) })
}

async function namingsOf(
  sql: Sql,
  { configured, approvers }: { configured: readonly Caller[]; approvers: readonly ApproverRow[] },
): Promise<Naming[]> {
  return [
    ...configured.map(namingOfCaller),
    ...(await readCallerNamings(sql)),
    ...approvers.map(namingOfApprover),
  ]
}
