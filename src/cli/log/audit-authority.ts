// An audit of the log knows where the changes stand that put authority into effect or revoked it. Authority whose change is not in
// the log took effect behind its back.
import type { Sql } from '../../store/postgres/sql.ts'
import type { Finding } from '../fsck/check.ts'
import type { Place } from '../fsck/entries.ts'
import { findPlaces } from '../fsck/logged.ts'

/** Rules may come back: those of their first approval count, and of what `genesis` approved there is no change. */
const FIRST_RULES = `w.approved_at = (
  SELECT min(approved_at) FROM webhook_rules AS f WHERE f.provider = w.provider AND f.rules_hash = w.rules_hash)`

const AUTHORITY = `
  SELECT a."table", a.key, a.name, a.act, c.log_batch AS "logBatch", c.log_ordinal AS "logOrdinal"
  FROM (
    SELECT 'policy_versions' AS "table", p.name || '/' || p.version AS key, 'policy ' || p.name || '/' || p.version AS name,
      'came into effect' AS act, p.approved_by_change AS change_id
    FROM policy_versions AS p
    UNION ALL
    SELECT 'policy_versions', p.name || '/' || p.version, NULL, 'was retired', p.retired_by_change FROM policy_versions AS p
    UNION ALL
    SELECT 'webhook_rules', w.provider || '/' || w.version_id,
      CASE WHEN ${FIRST_RULES} THEN 'rules ' || w.provider || '/' || w.rules_hash END, 'came into effect', w.approved_by_change
    FROM webhook_rules AS w
    UNION ALL
    SELECT 'approvers', k.approver_id || ':' || k.key_id, 'approver ' || k.approver_id || ':' || k.key_id, 'came into effect',
      k.enrolled_by_change
    FROM approvers AS k
    UNION ALL
    SELECT 'approvers', k.approver_id || ':' || k.key_id, 'revoked ' || k.approver_id || ':' || k.key_id, 'was revoked',
      k.revoked_by_change
    FROM approvers AS k
    UNION ALL
    SELECT 'external_connectors', x.change_id::text, 'connector ' || x.change_id, 'came into effect', x.change_id
    FROM external_connectors AS x
    UNION ALL
    SELECT 'event_endpoints', e.endpoint_id::text, NULL, 'came into effect', e.endpoint_id FROM event_endpoints AS e
    UNION ALL
    SELECT 'caller_keys', k.caller_id || ':' || left(k.key_hash, 16), NULL, 'came into effect', k.issued_by_change FROM caller_keys AS k
    UNION ALL
    SELECT 'caller_keys', k.caller_id || ':' || left(k.key_hash, 16), NULL, 'was revoked', k.revoked_by_change FROM caller_keys AS k
  ) AS a LEFT JOIN pending_changes AS c ON c.change_id = a.change_id
  WHERE a.change_id IS NOT NULL`

interface AuthorityRow {
  readonly table: string
  readonly key: string
  /** As in `AuditedLogs.authority` (audit-rows.ts); null where nothing in the log has to come after it. */
  readonly name: string | null
  readonly act: string
  /** Null where there is no such change, or where it was not logged. */
  readonly logBatch: string | null
  readonly logOrdinal: number | null
}

/** @returns the places of changes by what they did, and authority whose change is nowhere */
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
    const { table, key, name, act } = row
    const place = found.get(row)
    if (place === undefined)
      unlogged.push({ table, key, problem: `${act} by a change that is not in the log` })
    else if (place !== 'queued' && name !== null) places.set(name, place)
  }
  return { places, unlogged }
}
