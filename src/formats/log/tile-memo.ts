// Caches tiles: entries under a checkpoint never change, so neither does a tile of a given width.
import type { RootsWithin, Tile, TileMemo } from './tiles.ts'

export interface LogTiles {
  readonly of: (log: number) => TileMemo
  /** Called after a damaged read: the tiles are read again. */
  readonly forget: () => void
}

/** @param tilesMax above it the least recently used tile is dropped. A tile takes 8 KB, and up to 30 KB more for its nodes */
export function openLogTiles(tilesMax: number): LogTiles {
  /** Least recently used first. */
  const known = new Map<string, RootsWithin>()
  return {
    of: (log) => {
      const nameOf = ({ level, n, width }: Tile) => `${log}/${level}/${n}/${width}`
      const set = (tile: Tile, roots: RootsWithin) => {
        known.delete(nameOf(tile))
        known.set(nameOf(tile), roots)
        if (known.size > tilesMax) known.delete(known.keys().next().value!)
      }
      return {
        set,
        get(tile) {
          const roots = known.get(nameOf(tile))
          if (roots !== undefined) set(tile, roots)
          return roots
        },
      }
    },
    forget: () => known.clear(),
  }
}
