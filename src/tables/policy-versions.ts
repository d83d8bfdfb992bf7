// policy_versions: every policy version ever loaded, by content; approval decides whether it is in effect (decisions §6).
import type { Sql } from './sql.ts'

export interface PolicyVersionRow {
  readonly name: string
  readonly version: string
  /** Canonical text of the parsed policy document. */
  readonly content: string
  readonly contentHash: string
  /** Null: loaded, not approved. */
  readonly approvedBy: string | null
}

/**
 * Adds the versions that are not there yet. The very first call on a database approves them by `genesis`; later ones do not.
 * What is not yet approved follows its file; what is approved keeps the content that was approved.
 * in   a transaction of the caller's
 */
export async function addPolicyVersions(
  sql: Sql,
  sources: readonly { name: string; version: string; content: string; contentHash: string }[],
): Promise<void> {
  // Instances that start together add in turn; the lock is taken before the statement whose snapshot must see the other's rows.
  await sql.query(`LOCK TABLE policy_versions IN SHARE ROW EXCLUSIVE MODE`)
  const { rows } = await sql.query<{ any: boolean }>(`SELECT EXISTS (SELECT FROM policy_versions) AS any`)
  const genesis = rows[0]?.any === true ? null : 'genesis'
  for (const source of sources) {
    await sql.query({
      text: `
        INSERT INTO policy_versions (name, version, content, content_hash, approved_by, approved_at)
        VALUES ($1::text, $2::text, $3::text, $4::text, $5::text, CASE WHEN $5::text IS NULL THEN NULL ELSE now() END)
        ON CONFLICT (name, version) DO UPDATE SET content = excluded.content, content_hash = excluded.content_hash
        WHERE policy_versions.approved_by IS NULL`,
      values: [source.name, source.version, source.content, source.contentHash, genesis],
    })
  }
}

export async function readPolicyVersions(sql: Sql): Promise<PolicyVersionRow[]> {
  const result = await sql.query<PolicyVersionRow>({
    text: `
      SELECT name, version, content, content_hash AS "contentHash", approved_by AS "approvedBy"
      FROM policy_versions ORDER BY name, version`,
  })
  return result.rows
}

/** One version's content; null where there is none. */
export async function readPolicyContent(
  sql: Sql,
  { name, version }: { name: string; version: string },
): Promise<string | null> {
  const result = await sql.query<{ content: string }>({
    name: 'policy_versions_content',
    text: `SELECT content FROM policy_versions WHERE name = $1::text AND version = $2::text`,
    values: [name, version],
  })
  return result.rows[0]?.content ?? null
}
