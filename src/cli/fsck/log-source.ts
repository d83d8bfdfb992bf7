// Sources of a log: exported files (src/cli/log/folder.ts) or the database (stored-log.ts). The checks are the same.
import type { Tile } from '../../formats/log/tiles.ts'

export interface LogSource {
  /** The number of entries under the newest checkpoint. */
  readonly size: number
  /** The signed checkpoints that are kept, in ascending order of their sizes; the last is the newest. */
  readonly checkpoints: () => AsyncGenerator<string, void>
  /** Called one at a time. @throws LogFault, or CannotCheck where it cannot be read */
  readonly bundle: (n: number, width: number) => Promise<Uint8Array>
  /** As `bundle`. */
  readonly tile: (tile: Tile) => Promise<Uint8Array>
}

/** A fault of a log. Its message is a sentence without its full stop that begins with the place: `tile/0/003: …`. */
export class LogFault extends Error {
  constructor(place: string, problem: string, options?: ErrorOptions) {
    super(`${place}: ${problem}`, options)
    this.name = 'LogFault'
  }
}
