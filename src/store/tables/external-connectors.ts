// The HTTP endpoints that governance has registered for capabilities (decisions §8), as `authority` states them.
import type { Sql } from '../postgres/sql.ts'
import { everything, inEffect, type AuthorityRow } from './authority.ts'

export interface ExternalConnectorRow {
  /** The change that registered it; also its version in evidence. */
  readonly changeId: string
  readonly capability: string
  readonly endpointUrl: string
  /** A policy's name: executions under another policy do not reach it. */
  readonly policy: string
  /** Names of the parameters that may leave with a release. */
  readonly allowedParameters: readonly string[]
  readonly timeoutMs: number
  /** Whether it can be asked about the outcome of a release (docs/handbook/executions.md). */
  readonly readBack: boolean
  /** ISO 8601. */
  readonly registeredAt: string
}

export function externalConnectorOf({ key, stated, beganAt }: AuthorityRow): ExternalConnectorRow {
  const said = JSON.parse(stated) as Omit<ExternalConnectorRow, 'readBack'> & { readonly readBack?: true }
  const { capability, endpointUrl, policy, allowedParameters, timeoutMs } = said
  return {
    changeId: key,
    capability,
    endpointUrl,
    policy,
    allowedParameters,
    timeoutMs,
    readBack: said.readBack ?? false,
    registeredAt: beganAt ?? '',
  }
}

/** The connectors in effect, at most one for a capability. */
export async function readExternalConnectors(sql: Sql): Promise<ExternalConnectorRow[]> {
  return (await inEffect(sql, 'external-connector')).map(externalConnectorOf)
}

/** When a connector was last revoked, by capability. */
export async function readLastRevocations(sql: Sql): Promise<Map<string, Date>> {
  const last = new Map<string, Date>()
  for (const { target, endedAt } of await everything(sql, 'external-connector')) {
    if (endedAt === null) continue
    const at = new Date(endedAt)
    if (at > (last.get(target) ?? 0)) last.set(target, at)
  }
  return last
}
