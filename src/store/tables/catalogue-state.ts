// catalogue_state: how far the catalogue is filled, in one row. The holder of its lock fills the catalogue; an instance that does not get the
// lock leaves the work to the holder. The pending work is read without the lock, so that an idle service writes nothing.
import { isoTime, type Sql } from '../postgres/sql.ts'
import { ANY_UNFILLED } from './catalogue-entries.ts'
import type { FeedPlace } from './log-events.ts'
import { LEAST_UUID } from './position.ts'

/** The execution below which building continues, towards older ones; `decidedAt` may be `infinity`. */
export interface BuildingBelow {
  readonly decidedAt: string
  readonly id: string
}

export interface CatalogueState extends FeedPlace {
  readonly building: BuildingBelow | null
}

/** @returns undefined while somebody else fills the catalogue */
export async function lockState(sql: Sql): Promise<CatalogueState | undefined> {
  const { rows } = await sql.query<{ log: number; index: string; since: string; below: string | null }>({
    name: 'catalogue_state_lock',
    text: `
      SELECT log, index, complete_since::text AS since, building_below AS below
      FROM catalogue_state FOR UPDATE SKIP LOCKED`,
  })
  return rows.map(({ log, index, since, below }) => ({
    log,
    index: Number(index),
    building: below === null ? null : { decidedAt: since, id: below },
  }))[0]
}

/** @returns the place in the feed up to which the catalogue is complete; undefined where the row was deleted */
export async function readPlace(sql: Sql): Promise<FeedPlace | undefined> {
  const { rows } = await sql.query<{ log: number; index: string }>({
    name: 'catalogue_state_place',
    text: 'SELECT log, index FROM catalogue_state',
  })
  return rows.map(({ log, index }) => ({ log, index: Number(index) }))[0]
}

/** @param until the newest time of the entries in the catalogue now; null: nothing was added */
export async function moveTo(sql: Sql, { log, index }: FeedPlace, until: string | null): Promise<void> {
  await sql.query({
    name: 'catalogue_state_move',
    text: `
      UPDATE catalogue_state SET log = $1::integer, index = $2::bigint, complete_until = greatest(complete_until, $3::timestamptz)`,
    values: [log, index, until],
  })
}

/** Notes that building continues below an execution. */
export async function buildBelow(sql: Sql, { decidedAt, id }: BuildingBelow): Promise<void> {
  await sql.query({
    name: 'catalogue_state_build',
    text: `UPDATE catalogue_state SET complete_since = $1::timestamptz, building_below = $2::uuid`,
    values: [decidedAt, id],
  })
}

/** @param since the time before which nothing is kept; null: nothing stored is older than the entries */
export async function endBuilding(sql: Sql, since: string | null): Promise<void> {
  await sql.query({
    name: 'catalogue_state_built',
    text: `UPDATE catalogue_state SET complete_since = coalesce($1::timestamptz, '-infinity'), building_below = NULL`,
    values: [since],
  })
}

export async function notePruned(sql: Sql, before: string): Promise<void> {
  await sql.query({
    name: 'catalogue_state_pruned',
    text: `UPDATE catalogue_state SET complete_since = greatest(complete_since, $1::timestamptz)`,
    values: [before],
  })
}

/** Starts to build the catalogue again from everything stored now. Later entries of the log are followed. */
export async function beginBuilding(sql: Sql): Promise<void> {
  await sql.query({
    text: `
      INSERT INTO catalogue_state (log, index, complete_until, complete_since, building_below)
      SELECT coalesce(s.log, 1), coalesce(s.size, 0), '-infinity', 'infinity', $1::uuid
      FROM (SELECT 1) AS one LEFT JOIN (SELECT log, size FROM log_state ORDER BY log DESC LIMIT 1) AS s ON true
      ON CONFLICT (only_row) DO UPDATE SET log = excluded.log, index = excluded.index, complete_until = excluded.complete_until,
        complete_since = excluded.complete_since, building_below = excluded.building_below`,
    values: [LEAST_UUID],
  })
}

/** The pending work, and how far a reply reaches. */
export interface CatalogueStanding {
  /** Events are stored that are not in the catalogue. */
  readonly behind: boolean
  readonly building: boolean
  /** Evidence is stored that the log, and so the feed, does not have yet. */
  readonly queued: boolean
  /** Entries are older than they are kept. */
  readonly overdue: boolean
  /** Entries of a release before lack members that this release writes. */
  readonly unfilled: boolean
  /** Something was logged in the last seconds, by any instance. */
  readonly busy: boolean
  /** ISO 8601; null: nothing is in it yet. */
  readonly completeUntil: string | null
  /** ISO 8601; null: all that is stored is in it. */
  readonly completeSince: string | null
}

/** Within this time after an append, further executions are expected. */
const BUSY_SECONDS = 2

/**
 * @param which.codes a bit for each event that is followed
 * @param which.before entries that were decided before it are overdue, ISO 8601; null: none are
 * @returns undefined where the row was deleted
 */
export async function readStanding(
  sql: Sql,
  { codes, before }: { readonly codes: number; readonly before: string | null },
): Promise<CatalogueStanding | undefined> {
  // A reader at the end of the feed has everything that was logged; for queued artifacts, the time of the oldest row counts.
  const { rows } = await sql.query<CatalogueStanding>({
    name: 'catalogue_state_standing',
    text: `
      SELECT s.behind, s.building, s.queued_at IS NOT NULL AS queued, s.overdue, s.unfilled, s.busy,
        CASE WHEN isfinite(s.until) THEN ${isoTime('s.until')} END AS "completeUntil",
        CASE WHEN s.since = 'infinity' THEN ${isoTime('now()')} WHEN isfinite(s.since) THEN ${isoTime('s.since')} END AS "completeSince"
      FROM (
        SELECT w.*, CASE WHEN w.behind THEN c.complete_until ELSE coalesce(w.queued_at, now()) END AS until, c.complete_since AS since, c.building_below IS NOT NULL AS building,
          EXISTS (SELECT FROM catalogue_entries WHERE decided_at < $2::timestamptz) AS overdue,
          ${ANY_UNFILLED} AS unfilled,
          coalesce((SELECT appended_at FROM log_events ORDER BY log DESC, last_index DESC LIMIT 1)
            > now() - interval '${BUSY_SECONDS} seconds', false) AS busy
        FROM catalogue_state AS c CROSS JOIN LATERAL (
          SELECT EXISTS (SELECT FROM log_events
            WHERE (log, last_index) >= (c.log, c.index) AND codes & $1::integer <> 0) AS behind,
            (SELECT queued_at FROM log_queue ORDER BY seq LIMIT 1) AS queued_at
        ) AS w
      ) AS s`,
    values: [codes, before],
  })
  return rows[0]
}
