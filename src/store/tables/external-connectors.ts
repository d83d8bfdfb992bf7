// external_connectors: HTTP endpoints that governance has registered for a capability (decisions §8).
import { isoTime, type Sql } from '../postgres/sql.ts'

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
  /** Whether it can be asked what became of a release (docs/handbook/executions.md). */
  readonly readBack: boolean
  /** ISO 8601. */
  readonly registeredAt: string
}

/** Those in effect, at most one for a capability. */
export async function readExternalConnectors(sql: Sql): Promise<ExternalConnectorRow[]> {
  const result = await sql.query<
    Omit<ExternalConnectorRow, 'allowedParameters'> & { allowedParameters: string }
  >({
    text: `
      SELECT change_id AS "changeId", capability, endpoint_url AS "endpointUrl", policy,
        allowed_parameters AS "allowedParameters", timeout_ms AS "timeoutMs", read_back AS "readBack",
        ${isoTime('registered_at')} AS "registeredAt"
      FROM external_connectors WHERE revoked_at IS NULL ORDER BY capability`,
  })
  return result.rows.map((row) => ({
    ...row,
    allowedParameters: JSON.parse(row.allowedParameters) as string[],
  }))
}

/** @returns false where another one is in effect for the capability: nothing is inserted then */
export async function registerExternalConnector(sql: Sql, row: ExternalConnectorRow): Promise<boolean> {
  const result = await sql.query({
    text: `
      INSERT INTO external_connectors
        (change_id, capability, endpoint_url, policy, allowed_parameters, timeout_ms, read_back, registered_at)
      VALUES ($1::uuid, $2::text, $3::text, $4::text, $5::text, $6::integer, $7::boolean, $8::timestamptz)
      ON CONFLICT (capability) WHERE revoked_at IS NULL DO NOTHING`,
    values: [
      row.changeId,
      row.capability,
      row.endpointUrl,
      row.policy,
      JSON.stringify(row.allowedParameters),
      row.timeoutMs,
      row.readBack,
      row.registeredAt,
    ],
  })
  return result.rowCount === 1
}

/** @returns false where none is in effect for the capability */
export async function revokeExternalConnector(
  sql: Sql,
  row: { readonly capability: string; readonly changeId: string; readonly at: string },
): Promise<boolean> {
  const result = await sql.query({
    text: `
      UPDATE external_connectors SET revoked_at = $2::timestamptz, revoked_by_change = $3::uuid
      WHERE capability = $1::text AND revoked_at IS NULL`,
    values: [row.capability, row.at, row.changeId],
  })
  return result.rowCount === 1
}

/** When a connector was last revoked, by capability. */
export async function readLastRevocations(sql: Sql): Promise<Map<string, Date>> {
  const result = await sql.query<{ capability: string; at: Date }>({
    name: 'external_connectors_revocations',
    text: `
      SELECT capability, max(revoked_at) AS at FROM external_connectors
      WHERE revoked_at IS NOT NULL GROUP BY capability`,
  })
  return new Map(result.rows.map(({ capability, at }) => [capability, at]))
}

/** Null: none is in effect for the capability. */
export async function readRegistered(
  sql: Sql,
  capability: string,
): Promise<Pick<ExternalConnectorRow, 'endpointUrl' | 'policy'> | null> {
  const result = await sql.query<Pick<ExternalConnectorRow, 'endpointUrl' | 'policy'>>({
    text: `
      SELECT endpoint_url AS "endpointUrl", policy
      FROM external_connectors WHERE capability = $1::text AND revoked_at IS NULL`,
    values: [capability],
  })
  return result.rows[0] ?? null
}
