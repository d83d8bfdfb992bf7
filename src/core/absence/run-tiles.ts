// log_run_tiles: the leaves of the runs of ids, and the tree over them in full tiles of 256.
import { DamagedLog } from '../../formats/log/damaged.ts'
import { LEAF_BYTES } from '../../formats/log/ids.ts'
import { joinHashes } from '../../formats/log/frontier.ts'
import { HASH_BYTES, TILE_WIDTH, type ReadTiles } from '../../formats/log/tiles.ts'
import { buildTree } from '../../formats/merkle/tree.ts'
import { sha256 } from '../../store/sha256.ts'
import type { RunName } from './runs.ts'
import { overRows } from '../../store/postgres/rows.ts'
import { byteaText, type Sql } from '../../store/postgres/sql.ts'
import type { Statement } from '../../store/postgres/statement-batch.ts'

export interface RunTileRow {
  /** 0 for a chunk of leaves. */
  readonly height: number
  readonly n: number
  readonly root: Uint8Array
  /** Null above the leaves. */
  readonly leaves: Uint8Array | null
}

const insert = overRows<RunName & RunTileRow>({
  name: 'log_run_tiles_insert',
  text: 'INSERT INTO log_run_tiles ($columns) VALUES $rows',
  columns: {
    log: ['integer', ({ log }) => log],
    level: ['smallint', ({ level }) => level],
    first_index: ['bigint', ({ first }) => first],
    height: ['smallint', ({ height }) => height],
    n: ['integer', ({ n }) => n],
    root: ['bytea', ({ root }) => byteaText(root)],
    first_leaf: ['bytea', ({ leaves }) => leaves && byteaText(leaves.subarray(0, LEAF_BYTES))],
    leaves: ['bytea', ({ leaves }) => leaves && byteaText(leaves)],
  },
})

export function insertRunTiles(run: RunName, rows: readonly RunTileRow[]): Statement[] {
  const { log, level, first } = run
  return insert(rows.map((row) => ({ log, level, first, ...row })))
}

/** A chunk of the leaves of a run. */
export interface LeafChunk {
  /** The index of the run's first entry. */
  readonly first: number
  readonly n: number
  readonly root: Buffer
  /** Sorted. */
  readonly leaves: Buffer
}

/**
 * The leaves of several runs, for merging. The chunks contain all leaves that are greater than `after` and less than `bound`.
 * @param runs the indexes of their first entries
 * @param after a leaf, or empty bytes
 * @param count number of chunks that begin after `after`, over all runs; each run's chunk that contains `after` is added to them
 * @returns bound undefined when no chunks follow
 */
export async function readNextChunks(
  sql: Sql,
  {
    log,
    level,
    runs,
    after,
    count,
  }: {
    readonly log: number
    readonly level: number
    readonly runs: readonly number[]
    readonly after: Uint8Array
    readonly count: number
  },
): Promise<{ chunks: LeafChunk[]; bound: Buffer | undefined }> {
  // Without its LIMIT the last LATERAL is a join, which before ANALYZE reads the chunks of all runs for each wanted chunk.
  const { rows } = await sql.query<{
    first: string
    n: number
    root: Buffer
    leaves: Buffer
    bound: Buffer | null
  }>({
    name: 'log_run_tiles_next',
    text: `
      WITH run AS (SELECT first_index FROM unnest($3::bigint[]) AS run (first_index)),
        later AS MATERIALIZED (
          SELECT run.first_index, tile.n, tile.first_leaf FROM run CROSS JOIN LATERAL (
            SELECT n, first_leaf FROM log_run_tiles AS t
            WHERE t.log = $1::integer AND t.level = $2::smallint AND t.first_index = run.first_index AND t.height = 0
              AND t.first_leaf > $4::bytea
            ORDER BY first_leaf LIMIT $5::integer + 1) AS tile
          ORDER BY tile.first_leaf LIMIT $5::integer + 1),
        bound AS (SELECT first_leaf FROM later ORDER BY first_leaf OFFSET $5::integer),
        wanted AS MATERIALIZED (
          (SELECT first_index, n FROM later ORDER BY first_leaf LIMIT $5::integer)
          UNION ALL
          SELECT run.first_index, tile.n FROM run CROSS JOIN LATERAL (
            SELECT n FROM log_run_tiles AS t
            WHERE t.log = $1::integer AND t.level = $2::smallint AND t.first_index = run.first_index AND t.height = 0
              AND t.first_leaf <= $4::bytea
            ORDER BY first_leaf DESC LIMIT 1) AS tile)
      SELECT wanted.first_index AS first, wanted.n, chunk.root, chunk.leaves, (SELECT first_leaf FROM bound) AS bound
      FROM wanted CROSS JOIN LATERAL (
        SELECT root, leaves FROM log_run_tiles AS t
        WHERE t.log = $1::integer AND t.level = $2::smallint AND t.first_index = wanted.first_index AND t.height = 0
          AND t.n = wanted.n
        LIMIT 1) AS chunk`,
    values: [log, level, runs, after, count],
  })
  const bound = rows[0]?.bound ?? undefined
  return {
    chunks: rows.map(({ first, n, root, leaves }) => ({ first: Number(first), n, root, leaves })),
    bound,
  }
}

/** Number of the chunk that holds a run's last leaf below a key; the first chunk when there is no such leaf. */
export async function findChunk(sql: Sql, run: RunName, key: Uint8Array): Promise<number> {
  const { log, level, first } = run
  const { rows } = await sql.query<{ n: number }>({
    name: 'log_run_tiles_find',
    text: `
      SELECT n FROM log_run_tiles
      WHERE log = $1::integer AND level = $2::smallint AND first_index = $3::bigint AND height = 0 AND first_leaf < $4::bytea
      ORDER BY first_leaf DESC LIMIT 1`,
    values: [log, level, first, key],
  })
  return rows[0]?.n ?? 0
}

/** Positions, in the list, of the leaves that are in their runs. */
export async function findLeaves(
  sql: Sql,
  wanted: readonly { readonly run: RunName; readonly leaf: Uint8Array }[],
): Promise<Set<number>> {
  const { rows } = await sql.query<{ position: string }>({
    name: 'log_run_tiles_find_leaves',
    text: `
      SELECT wanted.position - 1 AS position
      FROM unnest($1::integer[], $2::smallint[], $3::bigint[], $4::bytea[])
        WITH ORDINALITY AS wanted (log, level, first_index, leaf, position)
      CROSS JOIN LATERAL (
        SELECT leaves FROM log_run_tiles AS t
        WHERE t.log = wanted.log AND t.level = wanted.level AND t.first_index = wanted.first_index AND t.height = 0
          AND t.first_leaf <= wanted.leaf
        ORDER BY t.first_leaf DESC LIMIT 1) AS chunk
      WHERE position(wanted.leaf IN chunk.leaves) % ${LEAF_BYTES} = 1`,
    values: [
      wanted.map(({ run }) => run.log),
      wanted.map(({ run }) => run.level),
      wanted.map(({ run }) => run.first),
      wanted.map(({ leaf }) => Buffer.from(leaf)),
    ],
  })
  return new Set(rows.map(({ position }) => Number(position)))
}

/** Chunks of a run from chunk `n` on, in order, without chunks that are not stored. */
export async function readChunks(
  sql: Sql,
  { log, level, first }: RunName,
  { n, count }: { readonly n: number; readonly count: number },
): Promise<LeafChunk[]> {
  const { rows } = await sql.query<Omit<LeafChunk, 'first'>>({
    name: 'log_run_tiles_chunks',
    text: `
      SELECT n, root, leaves FROM log_run_tiles
      WHERE log = $1::integer AND level = $2::smallint AND first_index = $3::bigint AND height = 0
        AND n >= $4::integer AND n < $4::integer + $5::integer ORDER BY n`,
    values: [log, level, first, n, count],
  })
  return rows.map((row) => ({ first, ...row }))
}

/** Reads the tiles of a run's tree in one statement. Throws DamagedLog for tiles that are missing or too narrow. */
export function runTileReader(sql: Sql, run: RunName): ReadTiles {
  const { log, level, first } = run
  return async (tiles) => {
    if (tiles.length === 0) return []
    const { rows } = await sql.query<{ leaves: Buffer | null; roots: Buffer | null }>({
      name: 'log_run_tiles_read',
      text: `
        SELECT
          (SELECT leaves FROM log_run_tiles
           WHERE log = $1::integer AND level = $2::smallint AND first_index = $3::bigint AND wanted.height = 0
             AND height = 0 AND n = wanted.n) AS leaves,
          (SELECT string_agg(root, ''::bytea ORDER BY n) FROM log_run_tiles
           WHERE log = $1::integer AND level = $2::smallint AND first_index = $3::bigint AND height = wanted.height - 1
             AND n >= wanted.n * ${TILE_WIDTH} AND n < wanted.n * ${TILE_WIDTH} + wanted.width) AS roots
        FROM unnest($4::smallint[], $5::integer[], $6::integer[]) WITH ORDINALITY AS wanted (height, n, width, position)
        ORDER BY wanted.position`,
      values: [
        log,
        level,
        first,
        tiles.map((tile) => tile.level),
        tiles.map(({ n }) => n),
        tiles.map(({ width }) => width),
      ],
    })
    return rows.map(({ leaves, roots }, i) => {
      const { level: height, n, width } = tiles[i]!
      const hashes = leaves === null ? roots : joinHashes(hashesOfLeaves(leaves))
      if (hashes?.length === width * HASH_BYTES) return hashes
      throw new DamagedLog(
        `Tile ${height}/${n} of the run of ids at level ${level} from entry ${first} of log ${log} is missing or not as wide as its tree.`,
      )
    })
  }
}

/** The root of the tree over the leaves of a chunk. */
export function chunkRoot(leaves: Uint8Array): Uint8Array {
  return buildTree(hashesOfLeaves(leaves), sha256).root
}

export function hashesOfLeaves(leaves: Uint8Array): Uint8Array[] {
  // One buffer for all leaves, as in `buildTree`.
  const input = new Uint8Array(1 + LEAF_BYTES)
  return splitLeaves(leaves).map((leaf) => {
    input.set(leaf, 1)
    return sha256(input)
  })
}

export function splitLeaves(leaves: Uint8Array): Uint8Array[] {
  return Array.from({ length: leaves.length / LEAF_BYTES }, (_, i) =>
    leaves.subarray(i * LEAF_BYTES, (i + 1) * LEAF_BYTES),
  )
}

/** Offset of the first of the sorted leaves that is not below `leaf`. */
export function firstNotBelow(leaves: Buffer, leaf: Uint8Array): number {
  let [low, high] = [0, leaves.length / LEAF_BYTES]
  while (low < high) {
    const middle = (low + high) >> 1
    const at = middle * LEAF_BYTES
    if (leaves.compare(leaf, 0, leaf.length, at, at + LEAF_BYTES) < 0) low = middle + 1
    else high = middle
  }
  return low * LEAF_BYTES
}

/** Deletes at most `countMax` tiles of a merged run. @returns how many were deleted */
export async function deleteRunTiles(
  sql: Sql,
  { log, level, first }: RunName,
  countMax: number,
): Promise<number> {
  const { rowCount } = await sql.query({
    name: 'log_run_tiles_delete',
    text: `
      DELETE FROM log_run_tiles WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM log_run_tiles
        WHERE log = $1::integer AND level = $2::smallint AND first_index = $3::bigint LIMIT $4::integer))`,
    values: [log, level, first, countMax],
  })
  return rowCount ?? 0
}
