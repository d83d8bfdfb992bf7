// Finds entries in the log, with the rows around them: by one statement, because a reader waits for each.
import { joinHashes } from '../../formats/log/frontier.ts'
import { bundleOf, HASH_BYTES, TILE_WIDTH, type ReadTiles } from '../../formats/log/tiles.ts'
import { leafHash } from '../../formats/merkle/tree.ts'
import { sha256 } from '../sha256.ts'
import type { LogPolicy } from '../../formats/log/policy.ts'
import { bundleColumns, entriesOfBundle } from './log-bundles.ts'
import { noteWith, servedCheckpoint } from './log-checkpoints.ts'
import type { Cosignatures } from './log-cosigned.ts'
import { unlogged, type LogPosition } from './log-queue.ts'
import type { Sql } from '../postgres/sql.ts'

/** Where an entry is, and the checkpoint of its log that readers get. */
export interface PlacedEntry {
  readonly log: number
  readonly index: number
  /** Undefined where there is none. It may end before the entry. */
  readonly checkpoint: Checkpoint | undefined
  /** The bundle of the entry. */
  readonly bundle: StoredBundle
}

interface Checkpoint {
  readonly size: number
  /** The signed note. */
  readonly note: string
}

/** A bundle as it was read: full and compressed, or the part that the tail has; and its tile, where that is full. */
interface StoredBundle {
  readonly whole: Buffer | null
  readonly tail: Buffer | null
  readonly tile: Buffer | null
}

/**
 * Finds entries. All that are in one log get one checkpoint.
 * @param positions undefined and `unlogged` ones have no place
 * @param required as of `servedCheckpoint`
 * @returns in the order of the positions; undefined for an artifact that is in no log yet
 */
export async function placeEntries(
  sql: Sql,
  positions: readonly (LogPosition | undefined)[],
  required: LogPolicy | undefined,
): Promise<(PlacedEntry | undefined)[]> {
  const places = positions.map((): PlacedEntry | undefined => undefined)
  const logged = [...positions.keys()].filter((i) => isLogged(positions[i]))
  if (logged.length === 0) return places
  const { rows } = await sql.query<
    StoredBundle & {
      at: number
      log: number
      index: string
      size: string | null
      note: string
      cosignatures: Cosignatures | null
    }
  >({
    name: 'log_places_read',
    // Subqueries and LIMIT, so that each uses its index whatever the planner estimates: a join may read a whole table. No `unnest`: by the
    // length of its arrays the planner would choose a new plan over the kept one, and planning costs more than reading.
    text: `
      SELECT wanted.at, b.log, place.index, newest.size, newest.note, newest.cosignatures,
        ${bundleColumns('b.log', 'place.n')},
        (SELECT hashes FROM log_tiles WHERE log = b.log AND level = 0 AND n = place.n) AS tile
      FROM generate_subscripts($1::uuid[], 1) AS wanted (at)
      CROSS JOIN LATERAL (SELECT log, start FROM log_batches WHERE batch = ($1::uuid[])[wanted.at] LIMIT 1) AS b
      CROSS JOIN LATERAL (
        SELECT b.start + ($2::integer[])[wanted.at] AS index, (b.start + ($2::integer[])[wanted.at]) / ${TILE_WIDTH} AS n) AS place
      LEFT JOIN LATERAL (
        SELECT c.size, c.note, w.cosignatures
        FROM log_checkpoints AS c LEFT JOIN log_cosigned AS w ON w.log = c.log AND w.size = c.size
        WHERE c.log = b.log ORDER BY c.size DESC LIMIT 1) AS newest ON true`,
    values: [logged.map((i) => positions[i]?.logBatch), logged.map((i) => positions[i]?.logOrdinal)],
  })
  const cosigned = new Map<number, Checkpoint | undefined>()
  if (required !== undefined)
    for (const { log } of rows)
      if (!cosigned.has(log)) cosigned.set(log, await servedCheckpoint(sql, { required, log }))
  for (const { at, log, index, size, note, cosignatures, whole, tail, tile } of rows) {
    const newest =
      size === null ? undefined : { size: Number(size), note: noteWith(note, cosignatures ?? {}) }
    places[logged[at - 1]!] = {
      log,
      index: Number(index),
      checkpoint: required === undefined ? newest : cosigned.get(log),
      bundle: { whole, tail, tile },
    }
  }
  return places
}

/** Whether an artifact was stored for the log. */
export function isLogged(position: LogPosition | undefined): boolean {
  const { logBatch, logOrdinal } = position ?? unlogged
  return logBatch !== null && logOrdinal !== null
}

/** The entries of the bundles that were read, and the tiles over them without another statement. */
interface PlacedBundles {
  readonly entryAt: (index: number) => Uint8Array | undefined
  /** @param readTiles for all others */
  readonly tiles: (readTiles: ReadTiles) => ReadTiles
}

/** @param places in one log */
export function openBundles(places: readonly PlacedEntry[]): PlacedBundles {
  const bundles = new Map(places.map(({ index, bundle }) => [bundleOf(index), bundle]))
  const entries = new Map<number, readonly Uint8Array[]>()
  const entriesOf = (n: number) => {
    let known = entries.get(n)
    const bundle = bundles.get(n)
    if (known === undefined && bundle !== undefined) entries.set(n, (known = entriesOfBundle(n, bundle)))
    return known
  }
  const tileOf = (n: number, width: number) => {
    const { tile = null, tail = null } = bundles.get(n) ?? {}
    if (tile !== null) return tile.subarray(0, width * HASH_BYTES)
    if (tail === null) return undefined
    const leaves = (entriesOf(n) ?? []).slice(0, width).map((entry) => leafHash(entry, sha256))
    return joinHashes(leaves)
  }
  return {
    entryAt: (index) => entriesOf(bundleOf(index))?.[index % TILE_WIDTH],
    tiles: (readTiles) => async (tiles) => {
      const known = tiles.map(({ level, n, width }) => {
        const tile = level === 0 ? tileOf(n, width) : undefined
        // A truncated tile is left to `readTiles`, which reports it.
        return tile?.length === width * HASH_BYTES ? tile : undefined
      })
      const others = tiles.filter((_, i) => known[i] === undefined)
      const read = others.length === 0 ? [] : [...(await readTiles(others))]
      return known.map((tile) => tile ?? read.shift()!)
    },
  }
}
