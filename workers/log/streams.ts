// Numbers the entries of each stream, and makes the rows from which a stream's entries are found again.
import { Heads } from '../../src/formats/log/heads.ts'
import { sha256 } from '../../src/store/sha256.ts'
import {
  cutBlocks,
  joinIndexes,
  type StreamBlockRow,
  type StreamRow,
} from '../../src/store/tables/log-streams.ts'

/** A stream with the entries that are new in it. */
export interface GrowingStream {
  /** As it was before the first of the indexes. */
  readonly before: Omit<StreamRow, 'log'>
  readonly indexes: number[]
}

/** Counts an entry. @returns its number in the stream */
export function numberIn({ before, indexes }: GrowingStream, index: number): number {
  return before.n + indexes.push(index)
}

/** All streams of a log. */
export class Streams {
  private readonly log: number
  private readonly stored = new Map<string, Omit<StreamRow, 'log'>>()
  private readonly heads: Heads
  private grown = new Map<string, GrowingStream>()

  constructor(log: number, rows: readonly StreamRow[]) {
    this.log = log
    this.heads = new Heads(rows, sha256)
    for (const row of rows) this.stored.set(row.tag, row)
  }

  /** Returns a stream that is about to grow: entries are counted in it until `takeRows` returns it. */
  grow(tag: string): GrowingStream {
    let grown = this.grown.get(tag)
    if (grown === undefined) {
      const before = this.stored.get(tag) ?? { tag, n: 0, lastIndex: -1, recent: EMPTY }
      this.grown.set(tag, (grown = { before, indexes: [] }))
    }
    return grown
  }

  /** Counts the new entries into the heads. @returns the rows to store; the next call begins anew */
  takeRows(): { readonly streams: StreamRow[]; readonly blocks: StreamBlockRow[] } {
    const { log } = this
    const streams: StreamRow[] = []
    const blocks: StreamBlockRow[] = []
    for (const [tag, { before, indexes }] of this.grown) {
      const n = before.n + indexes.length
      const lastIndex = indexes.at(-1)!
      const cut = cutBlocks(n, joinIndexes(before.recent, indexes))
      const stream = { log, tag, n, lastIndex, recent: cut.recent }
      streams.push(stream)
      for (const block of cut.blocks) blocks.push({ log, tag, ...block })
      this.stored.set(tag, stream)
      this.heads.set({ tag, n, lastIndex })
    }
    this.grown = new Map()
    return { streams, blocks }
  }

  /** The root of the tree of heads; entries since the last `takeRows` are not in it. */
  root(): Uint8Array {
    return this.heads.root()
  }
}

const EMPTY = new Uint8Array(0)
