// A log as a database has it, read within one snapshot.
import { gunzipSync } from 'node:zlib'
import { errorText } from '../../formats/text/error-text.ts'
import { DamagedLog, undamaged } from '../../formats/log/damaged.ts'
import { parseEntry, type LogEntry } from '../../formats/log/entry.ts'
import { decodeBundle, TILE_WIDTH, tilePath } from '../../formats/log/tiles.ts'
import { readEntryBundle, readFullBundles } from '../../store/tables/log-bundles.ts'
import { checkpointsFrom } from '../../store/tables/log-checkpoints.ts'
import { readFullTiles, readTiles } from '../../store/tables/log-tiles.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import { LogFault, type LogSource } from './log-source.ts'

/** 16,384 entries, 3 MB. */
const READ_AT_ONCE = 64
const CHECKPOINTS_AT_ONCE = 100

/** @param size of the newest checkpoint */
export function openStored(
  sql: Sql,
  { log, size }: { readonly log: number; readonly size: number },
): LogSource {
  const bundles = ahead(async (n, count) => {
    const rows = await readFullBundles(sql, { log, n, count })
    return new Map(rows.map((row) => [row.n, row.entries]))
  })
  const tiles = ahead(async (n, count) => {
    const rows = await readFullTiles(sql, { log, level: 0, n, count })
    return new Map(rows.map((row) => [row.n, row.hashes]))
  })
  return {
    size,
    async *checkpoints() {
      for (let from = 0; ;) {
        const rows = await checkpointsFrom(sql, { log, from, count: CHECKPOINTS_AT_ONCE })
        for (const { note } of rows) yield note
        const last = rows.at(-1)
        if (last === undefined) return
        from = last.size + 1
      }
    },
    async bundle(n, width) {
      const place = `tile/${tilePath({ level: 'entries', n, width })}`
      const whole = width === TILE_WIDTH ? await sound(place, () => bundles(n)) : undefined
      return whole ?? there(place, await sound(place, () => readFirst(sql, { log, n, width })))
    },
    async tile(tile) {
      const place = `tile/${tilePath(tile)}`
      const whole = tile.level === 0 && tile.width === TILE_WIDTH ? await tiles(tile.n) : undefined
      return whole ?? there(place, (await sound(place, () => readTiles(sql, log, [tile])))[0])
    },
  }
}

/** Reads the requested bundle or tile and those after it at once: the requests come in ascending order. */
function ahead(
  read: (n: number, count: number) => Promise<Map<number, Uint8Array>>,
): (n: number) => Promise<Uint8Array | undefined> {
  let [from, found] = [-Infinity, new Map<number, Uint8Array>()]
  return async (n) => {
    if (n < from || n >= from + READ_AT_ONCE) [from, found] = [n, await read(n, READ_AT_ONCE)]
    return found.get(n)
  }
}

async function readFirst(
  sql: Sql,
  wanted: { readonly log: number; readonly n: number; readonly width: number },
): Promise<Uint8Array | undefined> {
  const bundle = await readEntryBundle(sql, wanted)
  return bundle?.encoding === 'gzip'
    ? undamaged(`Bundle ${wanted.n} of the log`, () => gunzipSync(bundle.bytes))
    : bundle?.bytes
}

function there(place: string, bytes: Uint8Array | undefined): Uint8Array {
  if (bytes === undefined) throw new LogFault(place, 'it is missing, or not as wide as the tree')
  return bytes
}

/** Turns damage into a fault at a place of the log: the tables name damage by their rows. */
async function sound<T>(place: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof DamagedLog) throw new LogFault(place, error.message.replace(/\.$/, ''))
    throw error
  }
}

export type ReadEntry = (place: { readonly log: number; readonly index: number }) => Promise<LogEntry>

/** 65,536 entries, some 20 MB: rows of a table are about in the order of their entries. */
const KEPT_BUNDLES = 256

/** Reads single entries, also those that are not under a checkpoint yet. It throws LogFault where there is none. */
export function entryReader(sql: Sql): ReadEntry {
  const kept = new Map<string, readonly Uint8Array[]>()

  async function bundleOf(log: number, n: number, width: number): Promise<readonly Uint8Array[]> {
    const name = `${log} ${n}`
    const known = kept.get(name)
    if (known !== undefined && known.length >= width) return known
    const place = `tile/${tilePath({ level: 'entries', n, width })}`
    const [whole] = await sound(place, () => readFullBundles(sql, { log, n, count: 1 }))
    const bytes = whole?.entries ?? (await sound(place, () => readFirst(sql, { log, n, width })))
    const entries = decodeBundle(there(place, bytes))
    kept.delete(name)
    kept.set(name, entries)
    if (kept.size > KEPT_BUNDLES) kept.delete(kept.keys().next().value!)
    return entries
  }

  return async ({ log, index }) => {
    const n = Math.floor(index / TILE_WIDTH)
    const entries = await bundleOf(log, n, (index % TILE_WIDTH) + 1)
    try {
      return parseEntry(Buffer.from(entries[index % TILE_WIDTH]!).toString('latin1'))
    } catch (error) {
      throw new LogFault(`entry ${index}`, errorText(error))
    }
  }
}
