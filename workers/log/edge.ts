// The edge of the tree where it grows: what an append needs to know of the log, and the rows that it makes of new entries.
import { gzipSync } from 'node:zlib'
import { formatEntry, streamNames, streamTag, type StreamNumber } from '../../src/core/log/entry.ts'
import { appendLeaves, joinHashes, rootOf, splitHashes, type Frontier } from '../../src/core/log/frontier.ts'
import { Heads, type StreamHead } from '../../src/core/log/heads.ts'
import { decodeBundle, encodeBundle, TILE_WIDTH, widthOf } from '../../src/core/log/tiles.ts'
import { leafHash } from '../../src/core/merkle/tree.ts'
import { sha256 } from '../../src/core/signing/sha256.ts'
import { insertBatches, type LoggedBatch } from '../../src/core/tables/log-batches.ts'
import { insertBundles, type BundleRow } from '../../src/core/tables/log-bundles.ts'
import type { QueuedBatch } from '../../src/core/tables/log-queue.ts'
import type { LogState } from '../../src/core/tables/log-state.ts'
import { readStreams, upsertStreams } from '../../src/core/tables/log-streams.ts'
import { deleteTailBefore, insertTail, readTail } from '../../src/core/tables/log-tail.ts'
import { insertTiles, tileReader, type TileRow } from '../../src/core/tables/log-tiles.ts'
import type { Sql } from '../../src/core/tables/sql.ts'
import type { Step } from '../../src/core/tables/statement-batch.ts'

/** Grows by appends. One whose rows were not stored for certain must not be used again. */
export class Edge {
  readonly log: number
  frontier: Frontier
  private readonly salt: Uint8Array
  private readonly heads: Heads
  /** The entries of the bundle that is not full. */
  private bundle: Uint8Array[]
  /** The hashes of the tile that is not full, for each level. */
  private readonly tiles: Uint8Array[][]

  constructor(
    { log, salt, frontier }: Pick<LogState, 'log' | 'salt' | 'frontier'>,
    stored: {
      readonly tail: Uint8Array
      readonly tiles: Uint8Array[][]
      readonly heads: readonly StreamHead[]
    },
  ) {
    this.log = log
    this.salt = salt
    this.frontier = frontier
    this.heads = new Heads(stored.heads, sha256)
    this.bundle = decodeBundle(stored.tail)
    this.tiles = stored.tiles
  }

  root(): Uint8Array {
    return rootOf(this.frontier, sha256)
  }

  /**
   * Appends entries in their order.
   * @param withHeads appends the heads of the streams after them: the size is then that of a checkpoint
   * @returns the rows that store them, but for the state of the log
   */
  append(batches: readonly QueuedBatch[], { withHeads }: { withHeads: boolean }): Step[] {
    const { log, frontier } = this
    const numbered = this.numbered(batches)
    const { entries } = numbered
    if (withHeads)
      entries.push(bytesOf({ kind: 'heads', hash: Buffer.from(this.heads.root()).toString('hex') }, []))
    const bundles = this.bundled(entries)
    const tiles = this.grow(entries)
    const { size } = this.frontier
    const firstOfTail = Math.max(frontier.size, size - this.bundle.length)
    const tail = this.bundle.slice(this.bundle.length - (size - firstOfTail))
    return [
      ...insertBundles(bundles),
      ...insertTiles(tiles),
      ...(bundles.length > 0 ? deleteTailBefore(log, size - this.bundle.length) : []),
      ...(tail.length > 0 ? insertTail({ log, start: firstOfTail, entries: encodeBundle(tail) }) : []),
      ...insertBatches(numbered.batches),
      ...upsertStreams(log, numbered.heads),
    ]
  }

  /** Numbers the entries of each stream. */
  private numbered(batches: readonly QueuedBatch[]) {
    const entries: Uint8Array[] = []
    const placed: LoggedBatch[] = []
    const changed = new Set<string>()
    // The same few callers and policies, many times.
    const tags = new Map<string, string>()
    const { salt } = this
    const tagOf = (stream: StreamNumber['stream'], value: string) => {
      const name = `${stream} ${value}`
      let tag = tags.get(name)
      if (tag === undefined) tags.set(name, (tag = streamTag({ salt, stream, value }, sha256)))
      return tag
    }
    for (const { batch, entries: queued } of batches) {
      const start = this.frontier.size + entries.length
      placed.push({ batch, log: this.log, start, count: queued.length })
      for (const entry of queued) {
        const lastIndex = this.frontier.size + entries.length
        const streams = streamNames.flatMap((stream) => {
          const value = entry.streams[stream]
          if (value === undefined) return []
          const tag = tagOf(stream, value)
          const n = (this.heads.get(tag)?.n ?? 0) + 1
          this.heads.set({ tag, n, lastIndex })
          changed.add(tag)
          return [{ stream, tag, n }]
        })
        entries.push(bytesOf(entry, streams))
      }
    }
    return { entries, batches: placed, heads: Array.from(changed, (tag) => this.heads.get(tag)!) }
  }

  /** Adds to the bundle that is not full. @returns those that are now */
  private bundled(entries: readonly Uint8Array[]): BundleRow[] {
    const { log } = this
    const first = Math.floor(this.frontier.size / TILE_WIDTH)
    const all = [...this.bundle, ...entries]
    const full = Math.floor(all.length / TILE_WIDTH)
    this.bundle = all.slice(full * TILE_WIDTH)
    return Array.from({ length: full }, (_, i) => {
      const bundle = encodeBundle(all.slice(i * TILE_WIDTH, (i + 1) * TILE_WIDTH))
      return { log, n: first + i, entries: gzipSync(bundle) }
    })
  }

  /** @returns the tiles that are full now, of all levels */
  private grow(entries: readonly Uint8Array[]): TileRow[] {
    const { log } = this
    const rows: TileRow[] = []
    const before = this.frontier.size
    const leaves = entries.map((entry) => leafHash(entry, sha256))
    let count = 0
    this.frontier = appendLeaves(this.frontier, leaves, sha256, (height, root) => {
      if (height === 0) count++
      if (height % 8 !== 0) return
      const level = height / 8
      if (level > 0) {
        // The tile below is full, and this is its hash.
        const n = (before + count) / TILE_WIDTH ** level - 1
        rows.push({ log, level: level - 1, n, root, hashes: joinHashes(this.tiles[level - 1]!) })
        this.tiles[level - 1] = []
      }
      ;(this.tiles[level] ??= []).push(root)
    })
    return rows
  }
}

function bytesOf(
  { kind, hash }: { kind: string; hash: string },
  streams: readonly StreamNumber[],
): Uint8Array {
  return Buffer.from(formatEntry({ kind, hash, streams }), 'latin1')
}

/** Reads the edge of a log from the database. Only under its lock. */
export async function readEdge(sql: Sql, state: LogState): Promise<Edge> {
  const { log, frontier } = state
  const levels = []
  for (let level = 0; TILE_WIDTH ** level <= frontier.size; level++) {
    const tile = { level, n: Math.floor(frontier.size / TILE_WIDTH ** (level + 1)) }
    levels.push({ ...tile, width: widthOf(tile, frontier.size) })
  }
  const partial = levels.filter(({ width }) => width > 0)
  const [tail, heads, read] = await Promise.all([
    readTail(sql, log),
    readStreams(sql, log),
    tileReader(sql, log)(partial),
  ])
  const tiles = levels.map((): Uint8Array[] => [])
  for (const [i, { level }] of partial.entries()) tiles[level] = splitHashes(read[i]!)
  return new Edge(state, { tail, tiles, heads })
}
