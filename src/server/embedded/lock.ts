// One service per data folder: a lock that the kernel drops by itself when its process dies, also by kill -9.
import { chmodSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

const SQLITE_BUSY = 5
const waitMs = 2000 // a service that was just killed takes a moment to be gone

/**
 * Takes the lock, blocking for up to `waitMs`, and holds it until `close()` or garbage collection. A transaction on an empty
 * SQLite file is the one way to an fcntl lock in Node.js. Unlike an advisory lock inside PostgreSQL it covers initdb and adoption
 * too, and a restart of the database leaves no gap.
 * fails where another process holds it
 */
export function lockDataDir(file: string, dataDir: string): { close(): void } {
  const lock = new DatabaseSync(file, { timeout: waitMs })
  try {
    chmodSync(file, 0o600) // who can read it could block it
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return lock
  } catch (cause) {
    lock.close()
    if (!(cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_BUSY)) throw cause
    throw new Error(
      `DATA_DIR ${dataDir} is in use by another Countersign: stop that one, or set another folder.`,
      { cause },
    )
  }
}
