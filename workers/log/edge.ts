// The growing edge of the tree: the state of the log that an append needs, and the rows that it makes of new entries.
import { constants, gzipSync } from 'node:zlib'
import { DamagedLog } from '../../src/formats/log/damaged.ts'
import {
  entryStart,
  streamNames,
  streamStart,
  streamTag,
  type StreamName,
} from '../../src/formats/log/entry.ts'
import { appendLeaves, rootOf, type Frontier } from '../../src/formats/log/frontier.ts'
import { toHex } from '../../src/formats/bytes.ts'
import { idText } from '../../src/formats/log/ids.ts'
import { HASH_BYTES, TILE_WIDTH, widthOf } from '../../src/formats/log/tiles.ts'
import { sha256, sha256Joined } from '../../src/store/sha256.ts'
import { insertBatches, type LoggedBatch } from '../../src/store/tables/log-batches.ts'
import {
  insertBundles,
  type BundleRow,
  deleteTailBefore,
  insertTail,
  readTail,
  type TailRow,
} from '../../src/store/tables/log-bundles.ts'
import { insertIdTail, type IdTailRow } from '../../src/core/absence/id-tail.ts'
import type { QueuedBatch, QueuedEntry } from '../../src/store/tables/log-queue.ts'
import type { LogState } from '../../src/store/tables/log-state.ts'
import {
  insertStreamBlocks,
  areStreamsStated,
  readStreams,
  upsertStreams,
  type StreamRow,
} from '../../src/store/tables/log-streams.ts'
import { insertTiles, tileReader, type TileRow } from '../../src/store/tables/log-tiles.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import type { Statement } from '../../src/store/postgres/statement-batch.ts'
import { AppendedEntries } from './appended.ts'
import { eventStatements } from './events.ts'
import { numberIn, Streams, type GrowingStream } from './streams.ts'

/**
 * Entries are mostly hashes, which no level compresses, and they repeat parts of the entry before. A window of 4 KB finds these parts, in
 * half the time of one of 32 KB. A bundle comes in one piece.
 */
const FASTEST = { level: constants.Z_BEST_SPEED, windowBits: 12, chunkSize: 32 * 1024 }

/** A tag is computed once for each value, if there are no more of them. */
const TAGS_MAX = 10_000

/** The streams in which an entry is counted. */
type Counted = readonly { readonly start: string; readonly stream: GrowingStream }[]

/** A tile that is not full. */
interface OpenTile {
  readonly hashes: Buffer
  count: number
}

/** Grows by appends. An edge must not be used again unless its rows were stored for certain. */
export class Edge {
  readonly log: number
  frontier: Frontier
  private readonly salt: Uint8Array
  private readonly streams: Streams
  private readonly tags = new Map<string, string>()
  /** The entries of the bundle that is not full, as in a bundle. */
  private bundle: Buffer
  /** For each level. */
  private readonly tiles: OpenTile[]

  constructor(
    { log, salt, frontier }: Pick<LogState, 'log' | 'salt' | 'frontier'>,
    stored: {
      readonly tail: Buffer
      readonly tiles: readonly Uint8Array[]
      readonly streams: readonly StreamRow[]
    },
  ) {
    this.log = log
    this.salt = salt
    this.frontier = frontier
    this.streams = new Streams(log, stored.streams)
    this.bundle = stored.tail
    this.tiles = stored.tiles.map(openTile)
  }

  root(): Uint8Array {
    return rootOf(this.frontier, sha256)
  }

  /**
   * Appends entries in their order.
   * @param run appends an entry of kind `ids` after them, with this hash
   * @param withHeads appends the heads of the streams after them: the size is then that of a checkpoint
   * @returns the rows that store them, but for the state of the log
   */
  append(
    batches: readonly QueuedBatch[],
    { run, withHeads, nowMs }: { run?: string; withHeads: boolean; nowMs: number },
  ): Statement[] {
    const { log, frontier } = this
    const { entries, placed } = this.numbered(batches)
    const streams = this.streams.takeRows()
    const keys = keyRows(batches, { log, start: frontier.size, appendedAtMs: nowMs })
    if (run !== undefined) entries.add(entryStart({ kind: 'ids', hash: run }))
    if (withHeads) entries.add(entryStart({ kind: 'heads', hash: toHex(this.streams.root()) }))
    const { bundles, tail } = this.bundled(entries)
    const tiles = this.grow(entries.leaves)
    return [
      ...insertBundles(bundles),
      ...insertTiles(tiles),
      ...(bundles.length > 0 ? deleteTailBefore(log, tail.start) : []),
      ...(tail.entries.length > 0 ? insertTail(tail) : []),
      ...insertBatches(placed),
      ...insertIdTail(keys),
      ...upsertStreams(streams.streams),
      ...insertStreamBlocks(streams.blocks),
      ...eventStatements(batches, { log, start: frontier.size, nowMs }),
    ]
  }

  /** Numbers the entries of each stream. */
  private numbered(batches: readonly QueuedBatch[]) {
    const entries = new AppendedEntries()
    const placed: LoggedBatch[] = []
    // The entries of a batch share a few sets of streams.
    const counted = new Map<QueuedEntry['streams'], Counted>()
    for (const { batch, entries: queued } of batches) {
      const start = this.frontier.size + entries.count
      placed.push({ batch, log: this.log, start, count: queued.length })
      for (const entry of queued) {
        let streams = counted.get(entry.streams)
        if (streams === undefined) counted.set(entry.streams, (streams = this.countedIn(entry.streams)))
        const index = this.frontier.size + entries.count
        let text = entryStart(entry)
        for (const { start: streamText, stream } of streams) text += streamText + numberIn(stream, index)
        entries.add(text)
      }
    }
    return { entries, placed }
  }

  private countedIn(streams: QueuedEntry['streams']): Counted {
    return streamNames.flatMap((stream) => {
      const value = streams[stream]
      if (value === undefined) return []
      const tag = this.tagOf(stream, value)
      return [{ start: streamStart({ stream, tag }), stream: this.streams.grow(tag) }]
    })
  }

  private tagOf(stream: StreamName, value: string): string {
    const { tags, salt } = this
    const name = `${stream} ${value}`
    let tag = tags.get(name)
    if (tag === undefined) {
      if (tags.size >= TAGS_MAX) tags.clear()
      tags.set(name, (tag = streamTag({ salt, stream, value }, sha256)))
    }
    return tag
  }

  /** Adds to the bundle that is not full. @returns the bundles that are full now, and the new entries of the next one */
  private bundled(entries: AppendedEntries): { bundles: BundleRow[]; tail: TailRow } {
    const { log } = this
    const { size } = this.frontier
    const bundles: BundleRow[] = []
    let first = 0
    for (let end = TILE_WIDTH - (size % TILE_WIDTH); end <= entries.count; end += TILE_WIDTH) {
      const bundle = Buffer.concat([this.bundle, entries.between(first, end)])
      const n = Math.floor((size + first) / TILE_WIDTH)
      bundles.push({ log, n, entries: gzipSync(bundle, FASTEST) })
      this.bundle = Buffer.alloc(0)
      first = end
    }
    const tail = entries.between(first, entries.count)
    this.bundle = Buffer.concat([this.bundle, tail])
    return { bundles, tail: { log, start: size + first, entries: tail } }
  }

  /** @returns the tiles that are full now, of all levels */
  private grow(leaves: readonly Uint8Array[]): TileRow[] {
    const { log } = this
    const rows: TileRow[] = []
    const before = this.frontier.size
    let count = 0
    this.frontier = appendLeaves(this.frontier, leaves, sha256, (height, root) => {
      if (height === 0) count++
      if (height % 8 !== 0) return
      const level = height / 8
      if (level > 0) {
        // The tile below is full, and this is its hash.
        const n = (before + count) / TILE_WIDTH ** level - 1
        rows.push({ log, level: level - 1, n, root, hashes: this.tiles[level - 1]!.hashes })
        this.tiles[level - 1] = openTile()
      }
      const tile = (this.tiles[level] ??= openTile())
      tile.hashes.set(root, HASH_BYTES * tile.count++)
    })
    return rows
  }
}

/** @param stored its hashes so far */
function openTile(stored: Uint8Array = new Uint8Array(0)): OpenTile {
  const hashes = Buffer.alloc(TILE_WIDTH * HASH_BYTES)
  hashes.set(stored)
  return { hashes, count: stored.length / HASH_BYTES }
}

/** A run of ids ends between two rows, so the rows are not long. */
const KEYS_PER_ROW = 1024

/** The keys of the ids of appended entries: the ids are not known later. */
function keyRows(
  batches: readonly QueuedBatch[],
  { log, start, appendedAtMs }: Omit<IdTailRow, 'keys'>,
): IdTailRow[] {
  const ids = batches.flatMap(({ entries }) => entries.map(idText))
  return Array.from({ length: Math.ceil(ids.length / KEYS_PER_ROW) }, (_, i) => ({
    log,
    start: start + i * KEYS_PER_ROW,
    appendedAtMs,
    keys: sha256Joined(ids.slice(i * KEYS_PER_ROW, (i + 1) * KEYS_PER_ROW)),
  }))
}

/**
 * Reads the edge of a log from the database. Only under its lock.
 * @throws DamagedLog where the streams that are stored are not those of the newest heads entry
 */
export async function readEdge(sql: Sql, state: LogState): Promise<Edge> {
  const { log, frontier, checkpointTree } = state
  const levels = []
  for (let level = 0; TILE_WIDTH ** level <= frontier.size; level++) {
    const tile = { level, n: Math.floor(frontier.size / TILE_WIDTH ** (level + 1)) }
    levels.push({ ...tile, width: widthOf(tile, frontier.size) })
  }
  const partial = levels.filter(({ width }) => width > 0)
  const [tail, streams, read, areStated] = await Promise.all([
    readTail(sql, log),
    readStreams(sql, log),
    tileReader(sql, log)(partial),
    checkpointTree.size === 0 || areStreamsStated(sql, { log, size: checkpointTree.size }),
  ])
  if (!areStated)
    throw new DamagedLog(
      `The streams of the log, as they are stored, are not those that its entry ${checkpointTree.size - 1} states.`,
    )
  const tiles = levels.map((): Uint8Array => new Uint8Array(0))
  for (const [i, { level }] of partial.entries()) tiles[level] = read[i]!
  return new Edge(state, { tail, tiles, streams })
}
