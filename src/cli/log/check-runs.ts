// What an audit that has the database checks of the runs of ids: that they are sorted and complete, as the log states them, and hold the ids of
// the artifacts. A proof of absence rests on it (src/core/log/absence.ts).
import { DamagedLog, undamaged } from '../../core/log/damaged.ts'
import { formatEntry, parseEntry } from '../../core/log/entry.ts'
import { appendLeaves, EMPTY, rootOf } from '../../core/log/frontier.ts'
import { hasId, idKey, idLeaf, indexOfLeaf, runHash } from '../../core/log/ids.ts'
import { decodeBundle, TILE_WIDTH } from '../../core/log/tiles.ts'
import { sha256 } from '../../core/signing/sha256.ts'
import { readEntry, readFullBundles } from '../../core/tables/log-bundles.ts'
import { chunkRoot, findLeaves, readChunks, splitLeaves } from '../../core/tables/log-run-tiles.ts'
import { readRuns, type RunRow } from '../../core/tables/log-runs.ts'
import type { Sql } from '../../core/postgres/sql.ts'

/** 16,384 leaves or entries. */
const AT_ONCE = 64

/**
 * Checks every run of a log that is under a checkpoint: its leaves are sorted and lead to the root that its entry states, and each of its entries
 * has one leaf, but for those of the log's own. Of the ids themselves it knows nothing: for them there is `idsNotInRuns`.
 * @param sql a snapshot: runs are merged meanwhile
 * @param size of the checkpoint
 * @yields a sentence for each thing that is wrong
 */
export async function* checkRuns(
  sql: Sql,
  { log, size }: { readonly log: number; readonly size: number },
): AsyncGenerator<string> {
  const runs = await readRuns(sql, log)
  let covered = 0
  for (const run of runs) {
    // Of the same entries there may be runs that are merged already.
    if (run.entryIndex === null || run.entryIndex >= size) continue
    if (run.first > covered) yield `No run of ids covers the entries from ${covered} to ${run.first}.`
    covered = Math.max(covered, run.end)
    const problem = await checkRun(sql, { ...run, entryIndex: run.entryIndex }).catch(asProblem)
    if (problem !== undefined)
      yield `The run of the ids of the entries from ${run.first} to ${run.end}, level ${run.level}: ${problem}.`
  }
}

/** What cannot be read of a run is a problem of its own. */
function asProblem(error: unknown): string {
  if (error instanceof DamagedLog) return error.message.replace(/\.$/, '')
  throw error
}

async function checkRun(sql: Sql, run: RunRow & { entryIndex: number }): Promise<string | undefined> {
  const { log, level, first, end, entryIndex } = run
  const seen = new Uint8Array(end - first)
  let chunks = EMPTY
  let size = 0
  let last: Uint8Array = new Uint8Array(0)
  for (let n = 0; n * TILE_WIDTH < run.size; n += AT_ONCE) {
    for (const { leaves } of await readChunks(sql, run, { n, count: AT_ONCE })) {
      for (const leaf of splitLeaves(leaves)) {
        const index = indexOfLeaf(leaf)
        if (Buffer.compare(leaf, last) <= 0) return `leaf ${size} is not in its order`
        if (index < first || index >= end) return `it has a leaf of entry ${index}`
        if (seen[index - first] !== 0) return `it has two leaves of entry ${index}`
        seen[index - first] = 1
        last = leaf
        size++
      }
      chunks = appendLeaves(chunks, [chunkRoot(leaves)], sha256)
    }
  }
  if (size !== run.size) return `it has ${size} leaves, and was stored with ${run.size}`
  const hash = runHash({ level, first, end, size, root: rootOf(chunks, sha256) }, sha256)
  const entry = await readEntry(sql, { log, index: entryIndex })
  if (entry?.toString('latin1') !== formatEntry({ kind: 'ids', hash, streams: [] }))
    return `entry ${entryIndex} of the log does not state it`
  return checkCovered(sql, run, seen)
}

/** Each entry with an id has its leaf, and no other entry has one. */
async function checkCovered(
  sql: Sql,
  { log, first, end }: RunRow,
  seen: Uint8Array,
): Promise<string | undefined> {
  for (let n = Math.floor(first / TILE_WIDTH); n * TILE_WIDTH < end; n += AT_ONCE) {
    for await (const { index, entry } of entriesOf(sql, { log, n })) {
      if (index < first || index >= end) continue
      const { kind } = undamaged(`Entry ${index} of the log`, () => parseEntry(entry))
      if (hasId(kind) !== (seen[index - first] === 1))
        return `entry ${index}, of kind ${kind}, has ${hasId(kind) ? 'no leaf' : 'a leaf'}`
    }
  }
  return undefined
}

/** The entries of some bundles from the nth on. */
async function* entriesOf(
  sql: Sql,
  { log, n }: { log: number; n: number },
): AsyncGenerator<{ index: number; entry: string }> {
  let next = n * TILE_WIDTH
  for (const bundle of await readFullBundles(sql, { log, n, count: AT_ONCE })) {
    if (bundle.n * TILE_WIDTH !== next)
      throw new DamagedLog(`Bundle ${next / TILE_WIDTH} of the log is missing.`)
    for (const entry of decodeBundle(bundle.entries))
      yield { index: next++, entry: Buffer.from(entry).toString('latin1') }
  }
  // Whatever is in no full bundle.
  for (; next < (n + AT_ONCE) * TILE_WIDTH; next++) {
    const entry = await readEntry(sql, { log, index: next })
    if (entry === undefined) return
    yield { index: next, entry: entry.toString('latin1') }
  }
}

/** An artifact's place in the log, by its log_batch and log_ordinal. */
interface LoggedId {
  readonly log: number
  readonly index: number
  /** Of its entry. */
  readonly kind: string
  /** As writers put it into the queue (src/core/tables/log-queue.ts). */
  readonly id: string
}

/**
 * @param items of artifacts, some thousands
 * @returns those whose entry a run covers without holding its id: nobody would find them
 */
export async function idsNotInRuns<Item extends LoggedId>(sql: Sql, items: readonly Item[]): Promise<Item[]> {
  const missing: Item[] = []
  for (const [log, ofLog] of Map.groupBy(items, (item) => item.log)) {
    const runs = (await readRuns(sql, log)).filter(({ entryIndex }) => entryIndex !== null)
    const wanted = ofLog.flatMap((item) => {
      const run = runs.find(({ first, end }) => first <= item.index && item.index < end)
      return run === undefined ? [] : [{ item, run, leaf: idLeaf(idKey(item, sha256), item.index) }]
    })
    const found = await findLeaves(sql, wanted)
    missing.push(...wanted.filter((_, i) => !found.has(i)).map(({ item }) => item))
  }
  return missing
}
