// The database cluster on disk, `<DATA_DIR>/postgres`: lock, password and data. Each is complete or absent, whenever we are killed.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
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
import { writeWholeFile } from '../../core/signing/whole-file.ts'
import { findBinaries } from './binaries.ts'
import { databaseUser, launchAs, type DatabaseUser, type Launch } from './user.ts'

export interface Cluster {
  /** PGDATA, without symbolic links: a postmaster is recognized by it. */
  readonly data: string
  readonly log: string
  readonly passwordFile: string
  readonly password: string
  /** Folder of the server's socket. */
  readonly socketDir: string
  readonly postgres: string
  readonly launch: Launch
}

const SQLITE_BUSY = 5
const LOCK_WAIT_MS = 2000 // a service that was just killed takes a moment to be gone

/** The longest path of a Unix socket that every kernel takes. */
const SOCKET_PATH_BYTES_MAX = 103

/**
 * Creates `<DATA_DIR>/postgres`. It stays ours: as root we must not follow names in a folder of the database user, who could redirect
 * them. That user passes through it to its own `data`, `socket` and password.
 *
 * @throws where it cannot be written, with a sentence for the operator
 */
export function clusterFolder(dataDir: string): string {
  const folder = join(dataDir, 'postgres')
  try {
    mkdirSync(folder, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
    accessSync(folder, constants.W_OK)
    return realpathSync(folder)
  } catch (cause) {
    throw new Error(
      `DATA_DIR ${dataDir} cannot be written; start as the user it belongs to, or set another folder.`,
      { cause },
    )
  }
}

/**
 * Takes the folder's lock: one service per data folder. A transaction on an empty SQLite file is Node's only way to a file lock that
 * the kernel drops when its process dies, also by kill -9. A pid file goes stale, and two starts can both take over a stale one.
 *
 * @returns the lock, held until `close()` or garbage collection
 * @throws where another service holds it, with a sentence for the operator
 */
export function lockFolder(folder: string, dataDir: string): { close(): void } {
  const file = join(folder, 'lock')
  const lock = new DatabaseSync(file, { timeout: LOCK_WAIT_MS })
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

/**
 * Opens the folder's cluster, and makes it at the first start. The caller holds the lock, and no server runs.
 *
 * @throws with a sentence for the operator
 */
export async function openCluster(folder: string): Promise<Cluster> {
  const data = join(folder, 'data')
  const { initdb, postgres } = findBinaries()
  const user = databaseUser(data)
  const socketDir = createSocketFolder(join(folder, 'socket'), user)
  const launch = launchAs(user, initdb, [folder, socketDir])
  const passwordFile = join(folder, 'password')
  if (existsSync(data) && !existsSync(passwordFile)) {
    throw new Error(
      `${passwordFile} is missing, and without it the database beside it cannot be opened: restore it.`,
    )
  }
  writeWholeFile(passwordFile, randomBytes(32).toString('base64url'), 0o600)
  own(passwordFile, user)
  // An interrupted initdb may outlive us and go on writing, so its folder's name is never used again.
  for (const name of readdirSync(folder).filter((entry) => entry.startsWith('data.new-')))
    rmSync(join(folder, name), { recursive: true, maxRetries: 10 })
  if (!existsSync(data)) {
    const fresh = own(mkdtempSync(join(folder, 'data.new-')), user)
    await runInitdb(launch, initdb, [`--pgdata=${fresh}`, `--pwfile=${passwordFile}`])
    renameSync(fresh, data)
    const descriptor = openSync(folder, 'r')
    fsyncSync(descriptor) // the rename itself
    closeSync(descriptor)
  }
  const password = readFileSync(passwordFile, 'utf8')
  return { data, log: join(folder, 'postgres.log'), passwordFile, password, socketDir, postgres, launch }
}

/** Without what a crash left. Where the socket's path would be too long, `socket` is a link to a folder with a short one. */
function createSocketFolder(socket: string, user: DatabaseUser | undefined): string {
  // The folder that the link names, not what that may link to in its turn.
  if (lstatSync(socket, { throwIfNoEntry: false })?.isSymbolicLink())
    rmSync(readlinkSync(socket), { recursive: true, force: true })
  rmSync(socket, { recursive: true, force: true })
  if (Buffer.byteLength(join(socket, '.s.PGSQL.5432')) <= SOCKET_PATH_BYTES_MAX) {
    mkdirSync(socket, { mode: 0o700 })
    return own(socket, user)
  }
  const short = own(mkdtempSync(join(tmpdir(), 'countersign-')), user)
  symlinkSync(short, socket)
  return realpathSync(short)
}

function own(path: string, user: DatabaseUser | undefined): string {
  if (user !== undefined) lchownSync(path, user.uid, user.gid)
  return path
}

/** In a process group of its own: a Ctrl-C at the terminal is for us, and initdb, which takes a second, completes first. */
async function runInitdb(launch: Launch, initdb: string, where: readonly string[]): Promise<void> {
  const { command, args, options } = launch(initdb, [
    ...where,
    '--username=countersign',
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--no-locale',
    '--data-checksums',
  ])
  const child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.resume() // read, not ignored: if we are killed, it dies of the broken pipe
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`initdb failed: ${complaint.trim().slice(-1000)}`)
}
