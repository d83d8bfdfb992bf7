// Every policy version ever loaded or proposed, as `authority` states it; approval decides whether it is in effect (decisions §6).
import type { Sql } from '../postgres/sql.ts'
import { advanceEpoch } from './authority-epoch.ts'
import { everything, findAuthority, loadDocument, type AuthorityRow } from './authority.ts'

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

export function policyVersionOf(row: AuthorityRow): StoredPolicyVersion {
  const [name = '', version = ''] = row.target.split('/')
  return {
    name,
    version,
    content: row.stated,
    contentHash: row.hash,
    loadedAt: row.loadedAt,
    approvedBy: row.beganBy,
    approvedAt: row.beganAt,
    approvedByChange: row.beganByChange,
    retiredBy: row.endedBy,
    retiredAt: row.endedAt,
    retiredByChange: row.endedByChange,
  }
}

/**
 * Adds the versions that the table lacks, in the caller's transaction. The very first call on a database approves them by `genesis`; later
 * calls do not. A version that is not yet approved follows its file; an approved one keeps the content that was approved.
 * @param contents canonical texts of policies
 * @returns whether this was the very first call
 */
export async function addPolicyVersions(
  sql: Sql,
  contents: readonly string[],
): Promise<{ readonly genesis: boolean }> {
  // Instances that start together add in turn; the lock is taken before the statement whose snapshot must see the other's rows. Instances of
  // the release before lock this table.
  await sql.query(`LOCK TABLE policy_versions IN SHARE ROW EXCLUSIVE MODE`)
  const { rows } = await sql.query<{ any: boolean }>(
    `SELECT EXISTS (SELECT FROM authority WHERE kind = 'policy') AS any`,
  )
  const genesis = rows[0]?.any !== true
  let changed = false
  for (const content of contents) if (await loadDocument(sql, 'policy', content, { genesis })) changed = true
  if (changed) await advanceEpoch(sql)
  return { genesis }
}

/** SQL: the row `p` of `authority` is the policy version that an approval request is bound to. */
const isPolicyOf = (request: string) =>
  `p.kind = 'policy' AND p.key = ${request}.policy_name || '/' || ${request}.policy_version`

/**
 * SQL: whether the policy version that an approval request is bound to was retired.
 * @param request names the row of approval_requests
 * @param until SQL; only if it was retired by then
 */
export function isPolicyRetired(request: string, until = 'now()'): string {
  return `EXISTS (SELECT 1 FROM authority AS p WHERE ${isPolicyOf(request)} AND p.ended_at <= ${until})`
}

/** SQL: the change that retired the policy version that an approval request is bound to. */
export function policyRetiredBy(request: string): string {
  return `(SELECT p.ended_by_change FROM authority AS p WHERE ${isPolicyOf(request)})`
}

export async function readPolicyVersions(sql: Sql): Promise<StoredPolicyVersion[]> {
  return (await everything(sql, 'policy')).map(policyVersionOf)
}

/** One version; undefined where there is none. */
export async function readPolicyVersion(
  sql: Sql,
  { name, version }: { readonly name: string; readonly version: string },
): Promise<StoredPolicyVersion | undefined> {
  const [row] = await findAuthority(sql, 'policy', [`${name}/${version}`])
  return row && policyVersionOf(row)
}
