// A log's tree in memory, stored as tiles: what the tiles of a real log are held against.
import { appendLeaves, EMPTY, joinHashes, type Frontier } from '../../src/formats/log/frontier.ts'
import { TILE_WIDTH, widthOf, type ReadTiles, type Tile } from '../../src/formats/log/tiles.ts'
import { buildTree, leafHash } from '../../src/formats/merkle/tree.ts'
import { sha256 } from '../../src/store/sha256.ts'

export const leafHashes = (count: number): Uint8Array[] =>
  Array.from({ length: count }, (_, i) => leafHash(Buffer.from(`leaf ${i}`), sha256))

/** Every hash that a tile can hold, by level and position. */
export class Grown {
  readonly levels: Uint8Array[][] = []
  frontier: Frontier = EMPTY

  append(leaves: readonly Uint8Array[]): void {
    this.frontier = appendLeaves(this.frontier, leaves, sha256, (height, root) => {
      if (height % 8 === 0) (this.levels[height / 8] ??= []).push(root)
    })
  }

  /** Refuses tiles that a tree of this size does not have. */
  reader(size: number): ReadTiles {
    return async (tiles) => tiles.map((tile) => joinHashes(this.hashesOf(tile, size)))
  }

  private hashesOf(tile: Tile, size: number): Uint8Array[] {
    const { level, n, width } = tile
    if (width < 1 || width !== widthOf(tile, size))
      throw new Error(`no tile ${JSON.stringify(tile)} at ${size}`)
    const hashes = this.levels[level]!.slice(n * TILE_WIDTH, n * TILE_WIDTH + width)
    if (hashes.length !== width) throw new Error(`no tile ${JSON.stringify(tile)}`)
    return hashes
  }
}

export const rootOfLeaves = (leaves: readonly Uint8Array[]): Uint8Array =>
  leaves.length === 0 ? sha256(Buffer.alloc(0)) : buildTree(leaves, sha256).root
