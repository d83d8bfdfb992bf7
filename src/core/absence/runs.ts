// log_runs: the runs of ids, with the progress of unfinished runs; log_merged_runs: runs whose leaves are stored only in a larger run.
import { joinHashes, splitHashes, type Frontier } from '../../formats/log/frontier.ts'
import { TILE_WIDTH } from '../../formats/log/tiles.ts'
import { byteaText, type Sql } from '../../store/postgres/sql.ts'
import type { Statement } from '../../store/postgres/statement-batch.ts'

/** Identifies a run: at most one run of a level begins at an index. */
export interface RunName {
  readonly log: number
  readonly level: number
  readonly first: number
}

export interface RunRow extends RunName {
  readonly end: number
  /** Number of leaves so far. */
  readonly size: number
  /** The tree over them, by the roots of their chunks of 256. */
  readonly chunks: Frontier
  /** The last leaf so far: the next ones are greater. */
  readonly lastLeaf: Uint8Array
  /** The index of the entry that states the run; null while leaves are added. */
  readonly entryIndex: number | null
}

/** All runs of a log, oldest first; of runs that begin at the same index, the largest first. */
export async function readRuns(sql: Sql, log: number): Promise<RunRow[]> {
  const { rows } = await sql.query<{
    level: number
    first: string
    end: string
    size: string
    peaks: Buffer
    last: Buffer
    entry: string | null
  }>({
    name: 'log_runs_read',
    text: `
      SELECT level, first_index AS first, end_index AS end, size, peaks, last_leaf AS last, entry_index AS entry
      FROM log_runs WHERE log = $1::integer ORDER BY first_index, level DESC`,
    values: [log],
  })
  return rows.map(({ level, first, end, size, peaks, last, entry }) => ({
    log,
    level,
    first: Number(first),
    end: Number(end),
    size: Number(size),
    chunks: { size: Math.ceil(Number(size) / TILE_WIDTH), peaks: splitHashes(peaks) },
    lastLeaf: last,
    entryIndex: entry === null ? null : Number(entry),
  }))
}

/** Inserts a run, or stores its progress. */
export function upsertRun({
  log,
  level,
  first,
  end,
  size,
  chunks,
  lastLeaf,
  entryIndex,
}: RunRow): Statement[] {
  return [
    {
      name: 'log_runs_upsert',
      text: `
        INSERT INTO log_runs (log, level, first_index, end_index, size, peaks, last_leaf, entry_index)
        VALUES ($1::integer, $2::smallint, $3::bigint, $4::bigint, $5::bigint, $6::bytea, $7::bytea, $8::bigint)
        ON CONFLICT (log, level, first_index) DO UPDATE SET
          size = excluded.size, peaks = excluded.peaks, last_leaf = excluded.last_leaf, entry_index = excluded.entry_index`,
      rows: [
        [log, level, first, end, size, byteaText(joinHashes(chunks.peaks)), byteaText(lastLeaf), entryIndex],
      ],
    },
  ]
}

/** Moves a run whose leaves are now stored only in a larger run to `log_merged_runs`, which only audits read. */
export function moveToMerged({ log, level, first }: RunName): Statement[] {
  return [
    {
      name: 'log_runs_move_to_merged',
      text: `
        WITH merged AS (
          DELETE FROM log_runs WHERE log = $1::integer AND level = $2::smallint AND first_index = $3::bigint
          RETURNING log, level, first_index, end_index, entry_index)
        INSERT INTO log_merged_runs (log, level, first_index, end_index, entry_index) SELECT * FROM merged`,
      rows: [[log, level, first]],
    },
  ]
}

/** A run that the log states. */
export interface StatedRunRow extends RunName {
  readonly end: number
  readonly entryIndex: number
  /** Number of leaves; undefined when they are stored only in a larger run. */
  readonly size: number | undefined
}

/**
 * All runs that entries of a log state, merged or not, oldest first; of runs that begin at the same index, the largest first.
 *
 * @param size size of the log: only runs that an entry before this index states are read
 */
export async function readStatedRuns(
  sql: Sql,
  { log, size }: { readonly log: number; readonly size: number },
): Promise<StatedRunRow[]> {
  const { rows } = await sql.query<{
    level: number
    first: string
    end: string
    entry: string
    size: string | null
  }>({
    name: 'log_runs_stated',
    text: `
      SELECT level, first_index AS first, end_index AS end, entry_index AS entry, size FROM (
        SELECT level, first_index, end_index, entry_index, size FROM log_runs WHERE log = $1::integer
        UNION ALL
        SELECT level, first_index, end_index, entry_index, NULL FROM log_merged_runs WHERE log = $1::integer) AS run
      WHERE entry_index < $2::bigint ORDER BY first_index, level DESC`,
    values: [log, size],
  })
  return rows.map(({ level, first, end, entry, size: leaves }) => ({
    log,
    level,
    first: Number(first),
    end: Number(end),
    entryIndex: Number(entry),
    size: leaves === null ? undefined : Number(leaves),
  }))
}
