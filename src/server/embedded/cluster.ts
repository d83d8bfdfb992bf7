// The database cluster on disk, `<DATA_DIR>/postgres`: lock, password and data. Each is complete or absent, whenever we are killed.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { syncFolder, writeWholeFile } from '../../core/files/whole-file.ts'
import { findBinaries } from './binaries.ts'
import { databaseUser, launchAs, type DatabaseUser } from './user.ts'

export type Cluster = Awaited<ReturnType<typeof openCluster>>

const SQLITE_BUSY = 5
const LOCK_WAIT_MS = 2000 // a service that was just killed takes a moment to be gone

/** The longest path of a Unix socket that every kernel takes. */
const SOCKET_PATH_BYTES_MAX = 103

/**
 * Makes `<dataDir>/postgres` and takes its lock: one service per data folder. The folder stays ours, because root must not follow names in
 * a folder of the database user; that user passes through it to its own `data`, `socket` and password.
 *
 * @returns the folder, and the lock, which is held until `close()` or garbage collection
 * @throws where the folder cannot be written or another service holds it, with a sentence for the operator
 */
export function lockedFolder(dataDir: string): { folder: string; lock: DatabaseSync } {
  let lock: DatabaseSync | undefined
  try {
    const made = join(dataDir, 'postgres')
    mkdirSync(made, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
    const folder = realpathSync(made)
    // A transaction on an empty SQLite file is Node's only file lock that the kernel drops when its process dies. A pid file goes stale,
    // and two starts can both take over a stale one.
    const file = join(folder, 'lock')
    lock = new DatabaseSync(file, { timeout: LOCK_WAIT_MS })
    chmodSync(file, 0o600) // a reader of the file could block it
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return { folder, lock }
  } catch (cause) {
    lock?.close()
    const isBusy = cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_BUSY
    const problem = isBusy
      ? 'is in use by another Countersign: stop that one, or'
      : 'cannot be written; start as the user it belongs to, or'
    throw new Error(`DATA_DIR ${dataDir} ${problem} set another folder.`, { cause })
  }
}

/**
 * Opens the folder's cluster, and makes it at the first start. The caller holds the lock, and no server runs.
 *
 * @param folder without symbolic links: a postmaster is recognized by its `data`
 * @returns the parameters of a server start; `socketDir` is the folder of its socket
 * @throws with a sentence for the operator
 */
export async function openCluster(folder: string) {
  const data = join(folder, 'data')
  const { initdb, postgres } = findBinaries()
  const user = databaseUser(data)
  const socketDir = createSocketFolder(join(folder, 'socket'), user)
  const launch = launchAs(user, initdb, [folder, socketDir])
  const passwordFile = join(folder, 'password')
  if (existsSync(data) && !existsSync(passwordFile)) {
    throw new Error(
      `${passwordFile} is missing, and the database in the same folder cannot be opened without it: restore it.`,
    )
  }
  writeWholeFile(passwordFile, randomBytes(32).toString('base64url'), 0o600)
  own(passwordFile, user)
  // An interrupted initdb may outlive us and go on writing, so its folder's name is never used again.
  for (const name of readdirSync(folder).filter((entry) => entry.startsWith('data.new-')))
    rmSync(join(folder, name), { recursive: true, maxRetries: 10 })
  if (!existsSync(data)) {
    const fresh = own(mkdtempSync(join(folder, 'data.new-')), user)
    const where = [`--pgdata=${fresh}`, `--pwfile=${passwordFile}`, '--username=countersign']
    const how = ['--auth=scram-sha-256', '--encoding=UTF8', '--no-locale', '--data-checksums']
    try {
      await promisify(execFile)(...launch(initdb, [...where, ...how]))
    } catch (error) {
      // The socket's folder may lie outside the data folder, and would be left behind once that is removed.
      rmSync(socketDir, { recursive: true })
      throw error
    }
    renameSync(fresh, data)
    syncFolder(folder)
  }
  const password = readFileSync(passwordFile, 'utf8')
  return { data, log: join(folder, 'postgres.log'), password, socketDir, postgres, launch }
}

/** Removes the remains of a crash first. Where the socket's path would be too long, `socket` is a link to a folder with a short path. */
function createSocketFolder(socket: string, user: DatabaseUser | undefined): string {
  // Removes the folder that the link names, without following a further link there.
  if (lstatSync(socket, { throwIfNoEntry: false })?.isSymbolicLink())
    rmSync(readlinkSync(socket), { recursive: true, force: true })
  rmSync(socket, { recursive: true, force: true })
  if (Buffer.byteLength(join(socket, '.s.PGSQL.5432')) <= SOCKET_PATH_BYTES_MAX) {
    mkdirSync(socket, { mode: 0o700 })
    return own(socket, user)
  }
  const short = own(mkdtempSync(join(tmpdir(), 'countersign-')), user)
  symlinkSync(short, socket)
  return short
}

function own(path: string, user: DatabaseUser | undefined): string {
  if (user !== undefined) lchownSync(path, user.uid, user.gid)
  return path
}
