// log_tiles: full tiles of 256 hashes. Tiles at the edge of the tree are read from the level below them.
import { leafHash } from '../../formats/merkle/tree.ts'
import { DamagedLog, undamaged } from '../../formats/log/damaged.ts'
import { joinHashes } from '../../formats/log/frontier.ts'
import {
  decodeBundle,
  HASH_BYTES,
  TILE_WIDTH,
  tilePath,
  type ReadTiles,
  type Tile,
} from '../../formats/log/tiles.ts'
import { sha256 } from '../sha256.ts'
import { rowsInto, type RowOf } from '../postgres/rows.ts'
import type { Sql } from '../postgres/sql.ts'

const columns = {
  log: 'integer',
  level: 'smallint',
  n: 'bigint',
  /** The hash of the whole tile. */
  root: 'bytea',
  /** 256, joined. */
  hashes: 'bytea',
} as const
export type TileRow = RowOf<typeof columns>

export const insertTiles = rowsInto('log_tiles', columns)

/** Full tiles of a level from `n` on, in order; tiles that are not stored are left out. */
export async function readFullTiles(
  sql: Sql,
  { log, level, n, count }: Omit<TileRow, 'root' | 'hashes'> & { readonly count: number },
): Promise<TileRow[]> {
  const { rows } = await sql.query<{ n: string; root: Buffer; hashes: Buffer }>({
    name: 'log_tiles_read_full',
    text: `
      SELECT n, root, hashes FROM log_tiles
      WHERE log = $1::integer AND level = $2::smallint AND n >= $3::bigint AND n < $3::bigint + $4::bigint ORDER BY n`,
    values: [log, level, n, count],
  })
  return rows.map((row) => ({ ...row, log, level, n: Number(row.n) }))
}

/** Reads the tiles of a log, all by one statement and so as of one moment. It throws DamagedLog for tiles that are missing or too narrow. */
export function tileReader(sql: Sql, log: number): ReadTiles {
  return async (tiles) => {
    const found = await readTiles(sql, log, tiles)
    return found.map((bytes, i) => {
      if (bytes === undefined)
        throw new DamagedLog(
          `Tile ${tilePath(tiles[i]!)} of log ${log} is missing or not as wide as the tree.`,
        )
      return bytes
    })
  }
}

/** @returns in the order of `tiles`; undefined for a tile that is missing or too narrow */
export async function readTiles(
  sql: Sql,
  log: number,
  tiles: readonly Tile[],
): Promise<(Uint8Array | undefined)[]> {
  if (tiles.length === 0) return []
  // Subqueries, so that each uses its index whatever the planner estimates: a join may read all tiles of the log.
  const { rows } = await sql.query<{ hashes: Buffer | null; tail: Buffer | null }>({
    name: 'log_tiles_read',
    text: `
      SELECT
        coalesce(
          (SELECT substring(hashes FROM 1 FOR wanted.width * ${HASH_BYTES}) FROM log_tiles
           WHERE log = $1::integer AND level = wanted.level AND n = wanted.n),
          (SELECT string_agg(root, ''::bytea ORDER BY n) FROM log_tiles
           WHERE log = $1::integer AND level = wanted.level - 1
             AND n >= wanted.n * ${TILE_WIDTH} AND n < wanted.n * ${TILE_WIDTH} + wanted.width)) AS hashes,
        (SELECT string_agg(entries, ''::bytea ORDER BY start) FROM log_tail
         WHERE log = $1::integer AND wanted.level = 0
           AND start >= wanted.n * ${TILE_WIDTH} AND start < wanted.n * ${TILE_WIDTH} + wanted.width) AS tail
      FROM unnest($2::smallint[], $3::bigint[], $4::integer[]) WITH ORDINALITY AS wanted (level, n, width, position)
      ORDER BY wanted.position`,
    values: [log, tiles.map(({ level }) => level), tiles.map(({ n }) => n), tiles.map(({ width }) => width)],
  })
  return rows.map(({ hashes, tail }, i) => {
    const bytes = tail === null ? hashes : hashesOfTail(tail, tiles[i]!.width)
    return bytes?.length === tiles[i]!.width * HASH_BYTES ? bytes : undefined
  })
}

function hashesOfTail(tail: Buffer, width: number): Uint8Array {
  const entries = undamaged('The tail of the log', () => decodeBundle(tail)).slice(0, width)
  return joinHashes(entries.map((entry) => leafHash(entry, sha256)))
}
