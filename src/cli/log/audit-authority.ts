// Finds for an audit the log entries of the changes that put authority into effect or revoked it. Authority whose change is not in
// the log took effect behind its back.
import type { ChangeKindName } from '../../formats/schemas/governance.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import type { Finding } from '../fsck/check.ts'
import type { Place } from '../fsck/entries.ts'
import { findPlaces } from '../fsck/logged.ts'

/** Rules end where the next ones come into effect. */
const AUTHORITY = `
  SELECT a.*, c.log_batch AS "logBatch", c.log_ordinal AS "logOrdinal"
  FROM (
    SELECT kind, key, target, stated_hash AS hash, 'began' AS act, began_by_change AS change_id,
      row_number() OVER (PARTITION BY kind, target, stated_hash ORDER BY began_at) = 1 AS "isFirst"
    FROM authority
    UNION ALL
    SELECT kind, key, target, stated_hash, 'ended', ended_by_change, true FROM authority WHERE kind <> 'webhook-rules'
  ) AS a LEFT JOIN pending_changes AS c ON c.change_id = a.change_id
  WHERE a.change_id IS NOT NULL`

interface AuthorityRow {
  readonly kind: ChangeKindName
  readonly key: string
  readonly target: string
  readonly hash: string
  readonly act: 'began' | 'ended'
  /** No earlier row of the same target stated the same. */
  readonly isFirst: boolean
  /** Null where there is no such change, or where it was not logged. */
  readonly logBatch: string | null
  readonly logOrdinal: number | null
}

/** As in `AuditedLogs.authority` (audit-questions.ts); undefined where nothing in the log has to come after it. */
function nameOf({ kind, key, target, hash, act, isFirst }: AuthorityRow): string | undefined {
  if (act === 'ended') return kind === 'approver' ? `revoked ${target}` : undefined
  if (kind === 'policy' || kind === 'approver') return `${kind} ${target}`
  if (kind === 'external-connector') return `connector ${key}`
  // Rules may come back: their first approval counts, and rules that `genesis` approved have no change.
  return kind === 'webhook-rules' && isFirst ? `rules ${target}/${hash}` : undefined
}

function actOf({ kind, act }: AuthorityRow): string {
  if (act === 'began') return 'came into effect'
  return kind === 'policy' ? 'was retired' : 'was revoked'
}

/** @returns the places of changes by their effects, and authority without a change */
export async function readAuthority(
  sql: Sql,
): Promise<{ readonly places: ReadonlyMap<string, Place>; readonly unlogged: readonly Finding[] }> {
  const { rows } = await sql.query<AuthorityRow>(AUTHORITY)
  const logged = rows.filter((row): row is AuthorityRow & { logBatch: string } => row.logBatch !== null)
  const found = new Map<AuthorityRow, Place | 'queued' | undefined>()
  for (const [i, place] of (await findPlaces(sql, logged)).entries()) found.set(logged[i]!, place)
  const places = new Map<string, Place>()
  const unlogged: Finding[] = []
  for (const row of rows) {
    const place = found.get(row)
    const name = nameOf(row)
    if (place === undefined)
      unlogged.push({
        table: 'authority',
        key: `${row.kind} ${row.key}`,
        problem: `${actOf(row)} by a change that is not in the log`,
      })
    else if (place !== 'queued' && name !== undefined) places.set(name, place)
  }
  return { places, unlogged }
}
