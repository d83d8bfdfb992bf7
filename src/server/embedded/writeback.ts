// Takes the pages that PostgreSQL has added to its tables and indexes to the disk as they come. The kernel of Linux keeps them until
// they are 30 seconds old and then writes them all at once, behind which every commit waits (docs/design-notes.md "Performance").
import { closeSync, constants, lstatSync, openSync, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Numbers of databases and of segments of tables and indexes. Shorter ones are initdb's, and change little. */
const NUMBER = /^\d{5,}(\.\d+)?$/

/** The clock of a file's times may be this far behind ours. */
const CLOCK_TICK_MS = 20

/** Begins to write what is dirty, and waits for nothing (sync_file_range(2)). */
const SYNC_FILE_RANGE_WRITE = 2

/**
 * Begins to write the files of a cluster that have changed since then, one by one.
 * in  data  PGDATA
 */
export type WriteBack = (data: string, sinceMs: number, signal: AbortSignal) => Promise<void>

/**
 * By `sync_file_range`, as PostgreSQL does it for pages of a checkpoint (`checkpoint_flush_after`). Not by `fsync`: that is told of a
 * write which failed, and then PostgreSQL's own `fsync` of the file may be told nothing, and would take what is lost for written.
 * fails where it is not to be had: it is Linux's, and Node has no call for it
 */
export async function openWriteBack(): Promise<WriteBack> {
  const { default: koffi } = await import('koffi')
  const call = koffi
    .load(null)
    .func('int sync_file_range(int fd, int64_t offset, int64_t nbytes, unsigned int flags)')
  // Beside this thread: where much is under way, it waits for the disk's queue.
  const syncFileRange = promisify<number, number, number, number, number>(call.async)
  return async (data, sinceMs, signal) => {
    for (const path of changedFiles(join(data, 'base'), sinceMs - CLOCK_TICK_MS)) {
      if (signal.aborted) return
      // As root we are in a folder of the database user: no link of its making is followed, and a pipe is not waited for.
      const file = seen(() =>
        openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK),
      )
      if (file === undefined) continue
      try {
        // Up to its end. What it says does not matter: the kernel writes what is left when it is old.
        await syncFileRange(file, 0, 0, SYNC_FILE_RANGE_WRITE)
      } finally {
        closeSync(file)
      }
    }
  }
}

/** Asked without waiting: the answers are in memory, and a thread's round trip for each of 130 files costs 3 ms in place of 0.1. */
function* changedFiles(base: string, sinceMs: number): Generator<string> {
  for (const { path: folder } of numbered(base, (stats) => stats.isDirectory()))
    for (const { path, stats } of numbered(folder, (of) => of.isFile()))
      if (stats.mtimeMs >= sinceMs) yield path
}

function numbered(folder: string, isWanted: (stats: Stats) => boolean): { path: string; stats: Stats }[] {
  const names = seen(() => readdirSync(folder)) ?? []
  return names
    .filter((name) => NUMBER.test(name))
    .flatMap((name) => {
      const path = join(folder, name)
      const stats = seen(() => lstatSync(path))
      return stats !== undefined && isWanted(stats) ? [{ path, stats }] : []
    })
}

/** Undefined for what is gone meanwhile or cannot be looked at. */
function seen<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
