// Takes the pages that PostgreSQL has added to its tables and indexes to the disk as they come. The kernel of Linux keeps them until
// they are 30 seconds old and then writes them all at once, behind which every commit waits (docs/design-notes.md "What fast means here").
import { closeSync, constants, fdatasync, lstatSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Numbers that PostgreSQL gives after initdb, which are no catalog's: databases, and segments of tables and indexes in them. */
const MADE_LATER = /^\d{5,}(\.\d+)?$/

/** The clock of a file's times may be this far behind ours. */
const CLOCK_TICK_MS = 20

const datasync = promisify(fdatasync)

/**
 * Writes the files of the cluster that have changed since then, one by one.
 * in     data  PGDATA
 * fails  with what the disk says. PostgreSQL's own fsync of that file may then be told nothing, and take what was lost for written:
 *        it must be ended before its next checkpoint, as it ends itself when its fsync fails, and recovers from its log
 */
export async function writeBack(data: string, sinceMs: number): Promise<void> {
  for (const path of changedFiles(join(data, 'base'), sinceMs - CLOCK_TICK_MS)) {
    // As root we are in a folder of the database user: no link of its making is followed, and a pipe is not waited for.
    const file = seen(() => openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK))
    if (file === undefined) continue
    try {
      await datasync(file)
    } finally {
      closeSync(file)
    }
  }
}

/** Asked without waiting: the answers are in memory, and a thread's round trip for each of some hundred files costs ten times as much. */
function* changedFiles(base: string, sinceMs: number): Generator<string> {
  for (const folder of entries(base)) {
    for (const path of entries(folder)) {
      const stats = seen(() => lstatSync(path))
      if (stats?.isFile() === true && stats.mtimeMs >= sinceMs) yield path
    }
  }
}

function entries(folder: string): string[] {
  const names = seen(() => readdirSync(folder)) ?? []
  return names.filter((name) => MADE_LATER.test(name)).map((name) => join(folder, name))
}

/** Undefined for what is gone meanwhile or cannot be looked at: it was not touched, and the kernel writes it when it is old. */
function seen<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
