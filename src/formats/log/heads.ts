// The heads of the log's streams: the number of entries of each and the index of its last one. Their tree is the last entry of every
// checkpoint, so that a list of a stream's entries can be shown to be complete. Browser-safe.
import { half, leafHash, levelsOf, nodeHasher, parentIn, pathIn, type Sha256 } from '../merkle/tree.ts'

export interface StreamHead {
  /** 16 lowercase hex digits. */
  readonly tag: string
  /** Number of entries of the stream, 1 or more. */
  readonly n: number
  /** The index of its last entry. */
  readonly lastIndex: number
}

/** The place of a head in the tree of all heads. */
export interface HeadPlace {
  readonly head: StreamHead
  /** Position among the sorted heads, from 0. */
  readonly position: number
  /** Number of heads. */
  readonly count: number
  /** From the leaf up. */
  readonly path: readonly Uint8Array[]
}

/** The data of a leaf: tag, n and index, 8 bytes each. */
export function headData({ tag, n, lastIndex }: StreamHead): Uint8Array {
  const bytes = new Uint8Array(24)
  const view = new DataView(bytes.buffer)
  view.setBigUint64(0, BigInt(`0x${tag}`))
  view.setBigUint64(8, BigInt(n))
  view.setBigUint64(16, BigInt(lastIndex))
  return bytes
}

/** All heads of a log, and the root of their tree. The root costs a path for each head that has changed since the last call. */
export class Heads {
  private readonly heads = new Map<string, StreamHead>()
  private readonly changed = new Set<string>()
  /** The positions of the sorted tags at the last call of `root`. */
  private positions = new Map<string, number>()
  /** The hashes of the tree from the leaves up. */
  private levels: Uint8Array[][] = [[]]
  private readonly sha256: Sha256

  constructor(heads: Iterable<StreamHead>, sha256: Sha256) {
    this.sha256 = sha256
    for (const head of heads) this.set(head)
  }

  get(tag: string): StreamHead | undefined {
    return this.heads.get(tag)
  }

  set(head: StreamHead): void {
    this.heads.set(head.tag, head)
    this.changed.add(head.tag)
  }

  /** Without any head, SHA-256 of the empty string. */
  root(): Uint8Array {
    if (this.heads.size > this.positions.size) this.rebuild()
    else this.update()
    this.changed.clear()
    return this.levels.at(-1)?.[0] ?? this.sha256(new Uint8Array(0))
  }

  /** The path of a head in the tree of the last call of `root`; undefined when that tree has no such stream. */
  place(tag: string): HeadPlace | undefined {
    const position = this.positions.get(tag)
    const head = this.heads.get(tag)
    if (position === undefined || head === undefined) return undefined
    return { head, position, count: this.positions.size, path: pathIn(this.levels, position) }
  }

  /** A new stream moves the heads after it, but their hashes stay. */
  private rebuild(): void {
    const [before = []] = this.levels
    const tags = [...this.heads.keys()].toSorted()
    const leaves = tags.map((tag) => {
      const position = this.positions.get(tag)
      return position === undefined || this.changed.has(tag) ? this.hashOf(tag) : before[position]!
    })
    this.positions = new Map(tags.map((tag, i) => [tag, i]))
    this.levels = levelsOf(leaves, this.sha256)
  }

  private update(): void {
    const [leaves] = this.levels
    const hashOf = nodeHasher(this.sha256)
    let positions = new Set<number>()
    for (const tag of this.changed) {
      const position = this.positions.get(tag)!
      leaves![position] = this.hashOf(tag)
      positions.add(position)
    }
    for (const [height, above] of this.levels.entries()) {
      if (height === 0) continue
      const below = this.levels[height - 1]!
      positions = new Set(Array.from(positions, half))
      for (const position of positions) above[position] = parentIn(below, position, hashOf)
    }
  }

  private hashOf(tag: string): Uint8Array {
    return leafHash(headData(this.heads.get(tag)!), this.sha256)
  }
}
