// policy_versions: every policy version ever loaded, by content; approval decides whether it is in effect (decisions §6).
import { advanceEpoch } from './authority-epoch.ts'
import { isoTime, type Sql } from '../postgres/sql.ts'

export interface PolicyVersionRow {
  readonly name: string
  readonly version: string
  /** Canonical text of the parsed policy document. */
  readonly content: string
  readonly contentHash: string
  /** ISO 8601, by the database's clock. */
  readonly loadedAt: string
  /** Null: loaded, not approved. */
  readonly approvedBy: string | null
  /** Null: not retired. */
  readonly retiredBy: string | null
}

export interface StoredPolicyVersion extends PolicyVersionRow {
  /** ISO 8601; null where `approvedBy` is. */
  readonly approvedAt: string | null
  /** The change that approved it; null also where `genesis` did. */
  readonly approvedByChange: string | null
  /** ISO 8601; null where `retiredBy` is, as the change that retired it. */
  readonly retiredAt: string | null
  readonly retiredByChange: string | null
}

/**
 * Adds the versions that the table lacks, in the caller's transaction. The very first call on a database approves them by `genesis`; later
 * calls do not. A version that is not yet approved follows its file; an approved one keeps the content that was approved.
 * @returns whether this was the very first call
 */
export async function addPolicyVersions(
  sql: Sql,
  sources: readonly { name: string; version: string; content: string; contentHash: string }[],
): Promise<{ readonly genesis: boolean }> {
  // Instances that start together add in turn; the lock is taken before the statement whose snapshot must see the other's rows.
  await sql.query(`LOCK TABLE policy_versions IN SHARE ROW EXCLUSIVE MODE`)
  const { rows } = await sql.query<{ any: boolean }>(`SELECT EXISTS (SELECT FROM policy_versions) AS any`)
  const genesis = rows[0]?.any !== true
  let changed = 0
  for (const source of sources) {
    const result = await sql.query({
      text: `
        INSERT INTO policy_versions (name, version, content, content_hash, approved_by, approved_at)
        VALUES ($1::text, $2::text, $3::text, $4::text, $5::text, CASE WHEN $5::text IS NULL THEN NULL ELSE now() END)
        ON CONFLICT (name, version) DO UPDATE SET content = excluded.content, content_hash = excluded.content_hash
        WHERE policy_versions.approved_by IS NULL AND policy_versions.content_hash <> excluded.content_hash`,
      values: [source.name, source.version, source.content, source.contentHash, genesis ? 'genesis' : null],
    })
    changed += result.rowCount ?? 0
  }
  if (changed > 0) await advanceEpoch(sql)
  return { genesis }
}

/**
 * SQL: whether the policy version that an approval request is bound to was retired.
 * @param request names the row of approval_requests
 * @param until SQL; only if it was retired by then
 */
export function isPolicyRetired(request: string, until = 'now()'): string {
  return `EXISTS (SELECT 1 FROM policy_versions AS p
    WHERE p.name = ${request}.policy_name AND p.version = ${request}.policy_version AND p.retired_at <= ${until})`
}

/** Reads all versions, sorted by the texts of name and version. */
export async function readPolicyVersions(sql: Sql): Promise<StoredPolicyVersion[]> {
  const result = await sql.query<StoredPolicyVersion>({
    text: `
      SELECT name, version, content, content_hash AS "contentHash", ${isoTime('loaded_at')} AS "loadedAt",
        approved_by AS "approvedBy", ${isoTime('approved_at')} AS "approvedAt", approved_by_change AS "approvedByChange", retired_by AS "retiredBy",
        ${isoTime('retired_at')} AS "retiredAt", retired_by_change AS "retiredByChange"
      FROM policy_versions ORDER BY name, version`,
  })
  return result.rows
}

/** One version; undefined where there is none. */
export async function readPolicyVersion(
  sql: Sql,
  { name, version }: { readonly name: string; readonly version: string },
): Promise<Pick<StoredPolicyVersion, 'content' | 'contentHash' | 'approvedByChange'> | undefined> {
  const result = await sql.query<Pick<StoredPolicyVersion, 'content' | 'contentHash' | 'approvedByChange'>>({
    name: 'policy_versions_read',
    text: `
      SELECT content, content_hash AS "contentHash", approved_by_change AS "approvedByChange"
      FROM policy_versions WHERE name = $1::text AND version = $2::text`,
    values: [name, version],
  })
  return result.rows[0]
}

/**
 * Puts a version in effect, in the transaction that approves its change: the one that is loaded, or a new one.
 * @returns false where it is approved already, or the version loaded under its name has other content
 */
export async function approvePolicyVersion(
  sql: Sql,
  row: Pick<PolicyVersionRow, 'name' | 'version' | 'content' | 'contentHash'> & {
    readonly approvedBy: string
    /** ISO 8601. */
    readonly approvedAt: string
    readonly approvedByChange: string
  },
): Promise<boolean> {
  const result = await sql.query({
    text: `
      INSERT INTO policy_versions (name, version, content, content_hash, approved_by, approved_at, approved_by_change)
      VALUES ($1::text, $2::text, $3::text, $4::text, $5::text, $6::timestamptz, $7::uuid)
      ON CONFLICT (name, version) DO UPDATE SET approved_by = excluded.approved_by,
        approved_at = excluded.approved_at, approved_by_change = excluded.approved_by_change
      WHERE policy_versions.approved_by IS NULL AND policy_versions.content_hash = excluded.content_hash`,
    values: [
      row.name,
      row.version,
      row.content,
      row.contentHash,
      row.approvedBy,
      row.approvedAt,
      row.approvedByChange,
    ],
  })
  return result.rowCount === 1
}

/**
 * Ends versions of a policy, in the transaction that approves the change.
 * @returns how many: fewer than `versions` where one is not approved, or retired already, and the caller must roll back
 */
export async function retirePolicyVersions(
  sql: Sql,
  row: {
    readonly name: string
    readonly versions: readonly string[]
    readonly retiredBy: string
    /** ISO 8601. */
    readonly retiredAt: string
    readonly retiredByChange: string
  },
): Promise<number> {
  const result = await sql.query({
    text: `
      UPDATE policy_versions SET retired_by = $3::text, retired_at = $4::timestamptz, retired_by_change = $5::uuid
      WHERE name = $1::text AND version = ANY ($2::text[]) AND approved_by IS NOT NULL AND retired_by IS NULL`,
    values: [row.name, row.versions, row.retiredBy, row.retiredAt, row.retiredByChange],
  })
  return result.rowCount ?? 0
}
