// The state that human authority has put in effect, as every thread uses it: policies, approvers' keys, external connectors, webhook rules
// and callers' keys.
import type { Caller } from '../../formats/people/caller.ts'
import {
  joinPersons,
  namingOfApprover,
  namingOfCaller,
  type Naming,
  type Persons,
} from '../../formats/people/persons.ts'
import type { ChangeKindName } from '../../formats/schemas/governance.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import { approverOf, readApprovers, type ApproverRow } from '../../store/tables/approvers.ts'
import { readEpoch } from '../../store/tables/authority-epoch.ts'
import { readAllAuthority } from '../../store/tables/authority.ts'
import {
  callerKeysInEffect,
  callerKeysOf,
  readCallerKeys,
  type CallerKeyRow,
  type StoredCallerKey,
} from '../../store/tables/caller-keys.ts'
import { externalConnectorOf, type ExternalConnectorRow } from '../../store/tables/external-connectors.ts'
import { policyVersionOf, type StoredPolicyVersion } from '../../store/tables/policy-versions.ts'
import { webhookRulesOf, type WebhookRulesRow } from '../../store/tables/webhook-rules.ts'

/** Plain data, because it is sent to the threads. */
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
  // Read first: rows that are read later are at least as new, and a change in between shows as another epoch at the next check.
  const epoch = await readEpoch(sql)
  const rows = Map.groupBy(await readAllAuthority(sql), ({ kind }) => kind)
  const of = (kind: ChangeKindName) => rows.get(kind) ?? []
  const approvers = of('approver').map(approverOf)
  const callerKeys = callerKeysOf(of('caller-key'))
  return {
    epoch,
    policies: of('policy').map(policyVersionOf),
    approvers,
    externalConnectors: of('external-connector').map(externalConnectorOf),
    webhookRules: of('webhook-rules').map(webhookRulesOf),
    callerKeys: callerKeysInEffect(callerKeys, configured),
    persons: joinPersons(namingsOf({ configured, callerKeys, approvers })),
  }
}

/** Reads humans' names and keys from every register: the configuration, callers' keys and approvers' keys, revoked ones too. */
export async function readNamings(sql: Sql, configured: readonly Caller[]): Promise<Naming[]> {
  const callerKeys = await readCallerKeys(sql)
  return namingsOf({ configured, callerKeys, approvers: await readApprovers(sql) })
}

/** Revoked and expired keys count too: they belonged to that person. */
function namingsOf(registers: {
  readonly configured: readonly Caller[]
  readonly callerKeys: readonly CallerKeyRow[]
  readonly approvers: readonly ApproverRow[]
}): Naming[] {
  const { configured, callerKeys, approvers } = registers
  const issued = callerKeys.flatMap(({ caller }) => (caller?.credentialHolderType === 'USER' ? [caller] : []))
  return [...[...configured, ...issued].map(namingOfCaller), ...approvers.map(namingOfApprover)]
}
