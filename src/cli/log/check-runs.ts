// An audit that has the database checks the runs of ids: that they are sorted and complete, that the log states them and no others, and
// that they hold the ids of the artifacts. A proof of absence rests on it (src/formats/log/absence.ts).
import { DamagedLog, undamaged } from '../../formats/log/damaged.ts'
import { formatEntry, parseEntry } from '../../formats/log/entry.ts'
import { appendLeaves, EMPTY, rootOf } from '../../formats/log/frontier.ts'
import { hasId, idKey, idLeaf, indexOfLeaf, runHash } from '../../formats/log/ids.ts'
import { decodeBundle, TILE_WIDTH } from '../../formats/log/tiles.ts'
import { sha256 } from '../../store/sha256.ts'
import { readEntry, readFullBundles } from '../../store/tables/log-bundles.ts'
import { findLeaves, hashesOfLeaves, readChunks, splitLeaves } from '../../core/absence/run-tiles.ts'
import { readStatedRuns, type StatedRunRow } from '../../core/absence/runs.ts'
import type { Sql } from '../../store/postgres/sql.ts'

/** 16,384 leaves or entries. */
const AT_ONCE = 64

/**
 * Checks every run that a log states before its checkpoint. The leaves of the largest ones are sorted, and each of their entries has one
 * leaf, except the log's own entries. From these leaves every run is derived again, merged ones too: the entry of each must state
 * exactly that run. It does not check the ids themselves, as `idsNotInRuns` does.
 *
 * @param sql a snapshot: runs are merged meanwhile
 * @param size of the checkpoint
 * @param account called with the index of each entry for which a run is stored
 * @yields a sentence for each problem
 */
export async function* checkRuns(
  sql: Sql,
  {
    log,
    size,
    account,
  }: { readonly log: number; readonly size: number; readonly account: (entryIndex: number) => void },
): AsyncGenerator<string> {
  const runs = await readStatedRuns(sql, { log, size })
  for (const { entryIndex } of runs) account(entryIndex)
  let covered = 0
  for (const merged of groupsOf(runs)) {
    const [whole] = merged
    if (whole.first > covered) yield `No run of ids covers the entries from ${covered} to ${whole.first}.`
    covered = whole.end
    try {
      for (const [run, hash] of await derive(sql, merged)) {
        const text = await readEntry(sql, { log, index: run.entryIndex })
        if (text?.toString('latin1') !== formatEntry({ kind: 'ids', hash, streams: [] }))
          yield inRun(run, `entry ${run.entryIndex} of the log does not state it`)
      }
    } catch (error) {
      if (!(error instanceof DamagedLog)) throw error
      yield inRun(whole, error.message.replace(/\.$/, ''))
    }
  }
}

function inRun({ first, end, level }: StatedRunRow, problem: string): string {
  return `The run of the ids of the entries from ${first} to ${end}, level ${level}: ${problem}.`
}

/** A run that was merged into no other one, then those that were merged into it. */
type Group = [StatedRunRow, ...StatedRunRow[]]

/** @param runs as `readStatedRuns` sorts them */
function groupsOf(runs: readonly StatedRunRow[]): Group[] {
  const groups: Group[] = []
  for (const run of runs) {
    const group = groups.at(-1)
    if (group === undefined || run.end > group[0].end) groups.push([run])
    else group.push(run)
  }
  return groups
}

/**
 * Derives runs again from the leaves of the first one.
 *
 * @returns the hash that the entry of each must have
 * @throws DamagedLog where the leaves are not those of its entries
 */
async function derive(sql: Sql, runs: Group): Promise<Map<StatedRunRow, string>> {
  const [whole] = runs
  const { first, end, entryIndex } = whole
  if (end <= first || end > entryIndex)
    throw new DamagedLog(`it does not end between its first entry and its own, ${entryIndex}`)
  const seen = new Uint8Array(end - first)
  const trees = new Map(runs.map((run) => [run, EMPTY]))
  const append = (run: StatedRunRow, leaves: readonly Leaf[]) => {
    const hashes = leaves.map(({ hash }) => hash)
    trees.set(run, appendLeaves(trees.get(run)!, hashes, sha256))
  }
  const levels = [...Map.groupBy(runs, ({ level }) => level).values()]
  for await (const leaves of leavesOf(sql, whole)) {
    for (const { index } of leaves) {
      if (index < first || index >= end) throw new DamagedLog(`it has a leaf of entry ${index}`)
      if (seen[index - first] !== 0) throw new DamagedLog(`it has two leaves of entry ${index}`)
      seen[index - first] = 1
    }
    for (const ofLevel of levels)
      for (const [run, own] of Map.groupBy(leaves, ({ index }) => runThatCovers(index, ofLevel)))
        if (run !== undefined) append(run, own)
  }
  await requireCovered(sql, whole, seen)
  return new Map(
    [...trees].map(([run, tree]) => [
      run,
      runHash({ ...run, size: tree.size, root: rootOf(tree, sha256) }, sha256),
    ]),
  )
}

/** @param runs of one level, in their order */
function runThatCovers(index: number, runs: readonly StatedRunRow[]): StatedRunRow | undefined {
  let [low, high] = [0, runs.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (runs[middle]!.end <= index) low = middle + 1
    else high = middle
  }
  const run = runs[low]
  return run !== undefined && run.first <= index ? run : undefined
}

interface Leaf {
  readonly index: number
  readonly hash: Uint8Array
}

/** The leaves of a run in their order, some thousands at once. */
async function* leavesOf(sql: Sql, run: StatedRunRow): AsyncGenerator<Leaf[]> {
  if (run.size === undefined)
    throw new DamagedLog('its leaves are not stored, and no run that it was merged into is')
  let count = 0
  let last: Uint8Array = new Uint8Array(0)
  for (let n = 0; n * TILE_WIDTH < run.size; n += AT_ONCE) {
    const found: Leaf[] = []
    for (const { leaves } of await readChunks(sql, run, { n, count: AT_ONCE })) {
      const hashes = hashesOfLeaves(leaves)
      for (const [i, leaf] of splitLeaves(leaves).entries()) {
        if (Buffer.compare(leaf, last) <= 0) throw new DamagedLog(`leaf ${count} is not in its order`)
        found.push({ index: indexOfLeaf(leaf), hash: hashes[i]! })
        last = leaf
        count++
      }
    }
    yield found
  }
  if (count !== run.size) throw new DamagedLog(`it has ${count} leaves, and was stored with ${run.size}`)
}

/** Each entry with an id has its leaf, and no other entry has one. */
async function requireCovered(sql: Sql, { log, first, end }: StatedRunRow, seen: Uint8Array): Promise<void> {
  for (let n = Math.floor(first / TILE_WIDTH); n * TILE_WIDTH < end; n += AT_ONCE) {
    for await (const { index, entry } of entriesOf(sql, { log, n })) {
      if (index < first || index >= end) continue
      const { kind } = undamaged(`Entry ${index} of the log`, () => parseEntry(entry))
      if (hasId(kind) !== (seen[index - first] === 1))
        throw new DamagedLog(`entry ${index}, of kind ${kind}, has ${hasId(kind) ? 'no leaf' : 'a leaf'}`)
    }
  }
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
  // Entries that are in no full bundle.
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
  /** The kind of its entry. */
  readonly kind: string
  /** As writers put it into the queue (src/store/tables/log-queue.ts). */
  readonly id: string
}

/**
 * @param items of artifacts, some thousands
 * @param sizeOf of a log, its newest checkpoint; undefined where there is none
 * @returns those whose entry a run covers without holding its id: a proof would miss them
 */
export async function idsNotInRuns<Item extends LoggedId>(
  sql: Sql,
  items: readonly Item[],
  sizeOf: (log: number) => number | undefined,
): Promise<Item[]> {
  const missing: Item[] = []
  for (const [log, ofLog] of Map.groupBy(items, (item) => item.log)) {
    const stated = await readStatedRuns(sql, { log, size: sizeOf(log) ?? 0 })
    const runs = groupsOf(stated).map(([whole]) => whole)
    const wanted = ofLog.flatMap((item) => {
      const run = runThatCovers(item.index, runs)
      return run === undefined ? [] : [{ item, run, leaf: idLeaf(idKey(item, sha256), item.index) }]
    })
    const found = await findLeaves(sql, wanted)
    missing.push(...wanted.filter((_, i) => !found.has(i)).map(({ item }) => item))
  }
  return missing
}
