// The tree of a log, computed from its entries and compared with its tiles and checkpoints.
import type { Checkpoint } from '../../formats/log/checkpoint.ts'
import { appendLeaves, EMPTY, rootOf, type Frontier } from '../../formats/log/frontier.ts'
import { HASH_BYTES, TILE_WIDTH, tilePath, widthOf, type Tile } from '../../formats/log/tiles.ts'
import { leafHash } from '../../formats/merkle/tree.ts'
import { sha256 } from '../../store/sha256.ts'
import { LogFault, type LogSource } from '../fsck/log-source.ts'

export class TreeCheck {
  private frontier: Frontier = EMPTY
  private readonly source: LogSource
  /** The tile of level 0 is the one that entries are appended to. */
  private tile: Buffer = Buffer.alloc(0)
  private tilePlace = ''
  /** The computed hashes of the tile that is not full, for each level from 1. */
  private readonly above: Uint8Array[][] = []

  constructor(source: LogSource) {
    this.source = source
  }

  async startTile(n: number, width: number): Promise<void> {
    const tile = { level: 0, n, width }
    this.tilePlace = placeOf(tile)
    this.tile = await readTile(this.source, tile)
  }

  append(entry: Uint8Array): void {
    const leaf = leafHash(entry, sha256)
    const index = this.frontier.size
    if (!holds(this.tile, index % TILE_WIDTH, leaf))
      throw new LogFault(this.tilePlace, `hash ${index % TILE_WIDTH} is not that of entry ${index}`)
    this.frontier = appendLeaves(this.frontier, [leaf], sha256, (height, root) => {
      if (height > 0 && height % 8 === 0) (this.above[height / 8] ??= []).push(root)
    })
  }

  compareRoot({ size, root }: Checkpoint): void {
    if (Buffer.compare(rootOf(this.frontier, sha256), root) !== 0)
      throw new LogFault('checkpoint', `its root is not that of the first ${size} entries`)
  }

  /** Compares the tiles above level 0 that are full now. */
  async endTile(): Promise<void> {
    for (const [level, hashes] of this.above.entries()) {
      if (hashes?.length !== TILE_WIDTH) continue
      await this.compare({ level, n: this.frontier.size / TILE_WIDTH ** (level + 1) - 1, width: TILE_WIDTH })
      hashes.length = 0
    }
  }

  /** Compares the tiles above level 0 that are not full. */
  async compareEdge(): Promise<void> {
    const { size } = this.frontier
    for (let level = 1; level < this.above.length; level++) {
      const n = Math.floor(size / TILE_WIDTH ** (level + 1))
      const width = widthOf({ level, n }, size)
      if (width > 0) await this.compare({ level, n, width })
    }
  }

  private async compare(tile: Tile): Promise<void> {
    const bytes = await readTile(this.source, tile)
    for (const [i, hash] of this.above[tile.level]!.entries()) {
      if (holds(bytes, i, hash)) continue
      const below = placeOf({ level: tile.level - 1, n: tile.n * TILE_WIDTH + i, width: TILE_WIDTH })
      throw new LogFault(placeOf(tile), `hash ${i} is not the root of ${below}`)
    }
  }
}

const placeOf = (tile: Tile) => `tile/${tilePath(tile)}`

async function readTile(source: LogSource, tile: Tile): Promise<Buffer> {
  const bytes = await source.tile(tile)
  if (bytes.length === tile.width * HASH_BYTES)
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  throw new LogFault(placeOf(tile), `it has ${bytes.length} bytes in place of ${tile.width * HASH_BYTES}`)
}

function holds(tile: Buffer, i: number, hash: Uint8Array): boolean {
  return tile.compare(hash, 0, HASH_BYTES, i * HASH_BYTES, (i + 1) * HASH_BYTES) === 0
}
