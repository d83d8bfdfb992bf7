// The guard against a database that went back, after a failover or from a backup: the newest checkpoint that this instance has seen lies
// in its DATA_DIR too. A log that no longer holds it would sign a second history, so it is frozen before anything is signed.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { errorText } from '../../src/formats/text/error-text.ts'
import { readCheckpoint, type Checkpoint } from '../../src/formats/log/checkpoint.ts'
import { DamagedLog, undamaged } from '../../src/formats/log/damaged.ts'
import { readOrigin } from '../../src/formats/log/origin.ts'
import { beginsWith } from '../../src/formats/log/tiles.ts'
import { readIfThere } from '../../src/core/files/read-if-there.ts'
import { replaceWholeFile } from '../../src/core/files/whole-file.ts'
import { sha256 } from '../../src/store/sha256.ts'
import type { CheckpointRow } from '../../src/store/tables/log-checkpoints.ts'
import { tileReader } from '../../src/store/tables/log-tiles.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'

export interface Guard {
  /**
   * The newest checkpoint that was seen; undefined where none was.
   * @throws Error that names the file, where it is not a checkpoint
   */
  readonly seen: () => Checkpoint | undefined
  /** Keeps a checkpoint durably in place of the one before. */
  readonly keep: (note: string) => void
}

export function openGuard(dataDir: string): Guard {
  const file = join(dataDir, 'log-checkpoint')
  /** The file is read several times a second, and seldom changes. */
  let read: { readonly note: string; readonly checkpoint: Checkpoint } | undefined
  return {
    seen() {
      const note = readIfThere(file)
      if (note === undefined) return undefined
      try {
        if (read?.note !== note) read = { note, checkpoint: readCheckpoint(note) }
        return read.checkpoint
      } catch (error) {
        throw new Error(
          `${file} is damaged (${errorText(error)}). Restore it, or delete it once the log of the ` +
            'database is known to hold every checkpoint that was published.',
          { cause: error },
        )
      }
    },
    keep(note) {
      mkdirSync(dataDir, { recursive: true })
      replaceWholeFile(file, note, 0o600)
    },
  }
}

/** @throws DamagedLog where a stored checkpoint is not one of this log and size; its signatures are not checked */
export function readStored({ size, note }: CheckpointRow, origin: string): Checkpoint {
  const what = `The checkpoint of ${size} entries`
  const read = undamaged(what, () => readCheckpoint(note))
  if (read.origin === origin && read.size === size) return read
  throw new DamagedLog(`${what} is one of ${read.origin} with ${read.size} entries.`)
}

/** A log as the database has it now. */
interface StoredLog {
  readonly log: number
  readonly origin: string
  /** The size of the newest checkpoint, signed or about to be. */
  readonly checkpointSize: number
}

/** @returns a sentence where the database has less than was seen; undefined where it may go on */
export function whyBehind(
  { log, origin, checkpointSize }: StoredLog,
  seen: Checkpoint | undefined,
): string | undefined {
  if (seen === undefined) return undefined
  const seenLog = readOrigin(seen.origin)
  if (seenLog === undefined || seenLog.name !== readOrigin(origin)?.name) return undefined
  if (seenLog.number < log || (seenLog.number === log && seen.size <= checkpointSize)) return undefined
  return (
    `This instance has seen a signed checkpoint of ${seen.origin} with ${seen.size} entries, and the database has no more than ` +
    `${checkpointSize} of ${origin}: the database is older than that checkpoint.`
  )
}

/**
 * Compares the stored log with the seen checkpoint, after `whyBehind`.
 * @param size of the stored tree now
 * @returns a sentence where the stored log does not begin with the tree that was seen; undefined where it does
 */
export async function whyForked(
  sql: Sql,
  { log, origin, size }: { readonly log: number; readonly origin: string; readonly size: number },
  seen: Checkpoint | undefined,
): Promise<string | undefined> {
  if (seen === undefined || seen.origin !== origin) return undefined
  if (await beginsWith({ size, readTiles: tileReader(sql, log) }, seen, sha256)) return undefined
  return (
    `This instance has seen a signed checkpoint of ${origin} with ${seen.size} entries, and the first ${seen.size} entries in the database ` +
    'are others: the log went on from an older state of the database.'
  )
}
