// The database cluster on disk, `<DATA_DIR>/postgres`: its password and its data, each complete or absent whenever we are killed.
import { spawn, type SpawnOptions } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeWholeFile } from '../../core/signing/whole-file.ts'
import { findBinaries } from './binaries.ts'
import { databaseUser, launchAs, type DatabaseUser, type Launch } from './user.ts'

export interface Cluster {
  /** PGDATA, without symbolic links: a postmaster is recognized by it. */
  readonly data: string
  readonly log: string
  readonly passwordFile: string
  readonly password: string
  /** The folder its server listens in. */
  readonly socketDir: string
  readonly postgres: string
  readonly launch: Launch
}

/**
 * Creates `<DATA_DIR>/postgres`. It stays ours, so that as root we never act on names in a folder of the database user, who could
 * point them elsewhere; that user passes through it to what is its own: `data`, `socket` and the password.
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
 * Makes a cluster of the folder, or finds the one that is there. The caller holds the folder's lock.
 * in    running  whether a server that a killed service left is still there
 * fails with a sentence for the operator
 */
export async function openCluster(folder: string, { running }: { running: boolean }): Promise<Cluster> {
  const data = join(folder, 'data')
  const { initdb, postgres } = findBinaries()
  const user = databaseUser(data)
  const socket = join(folder, 'socket')
  if (!running || !existsSync(socket)) createSocketFolder(socket, user)
  const socketDir = realpathSync(socket)
  const launch = launchAs(user, initdb, [folder, socketDir])
  const passwordFile = join(folder, 'password')
  if (existsSync(data) && !existsSync(passwordFile)) {
    throw new Error(
      `${passwordFile} is missing, and without it the database beside it cannot be opened: restore it.`,
    )
  }
  writeWholeFile(passwordFile, randomBytes(32).toString('base64url'), 0o600)
  own(passwordFile, user)
  // What an interrupted initdb left. Its name is never used again: that initdb may have outlived us.
  for (const name of readdirSync(folder).filter((entry) => entry.startsWith('data.new-'))) {
    rmSync(join(folder, name), { recursive: true, maxRetries: 10 })
  }
  if (!existsSync(data)) {
    const fresh = own(mkdtempSync(join(folder, 'data.new-')), user)
    const { command, args, options } = launch(initdb, [
      `--pgdata=${fresh}`,
      '--username=countersign',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--no-locale',
      '--data-checksums',
    ])
    await initialise(command, args, options)
    renameSync(fresh, data)
    const descriptor = openSync(folder, 'r')
    fsyncSync(descriptor) // the rename itself
    closeSync(descriptor)
  }
  const password = readFileSync(passwordFile, 'utf8')
  return {
    data,
    log: join(folder, 'postgres.log'),
    passwordFile,
    password,
    socketDir,
    postgres,
    launch,
  }
}

/** Afresh, without what a crash left; a link to a short path where the socket's own would exceed the 103 bytes all kernels take. */
function createSocketFolder(socket: string, user: DatabaseUser | undefined): void {
  rmSync(socket, { recursive: true, force: true })
  if (Buffer.byteLength(join(socket, '.s.PGSQL.5432')) <= 103) {
    mkdirSync(socket, { mode: 0o700 })
    own(socket, user)
  } else symlinkSync(own(mkdtempSync(join(tmpdir(), 'countersign-')), user), socket)
}

function own(path: string, user: DatabaseUser | undefined): string {
  if (user !== undefined) lchownSync(path, user.uid, user.gid)
  return path
}

/**
 * Runs initdb, which ends with an fsync of everything it made. In a process group of its own: a Ctrl-C at the terminal is for us, and
 * we stop when it is done, within a second.
 */
async function initialise(command: string, args: readonly string[], options: SpawnOptions): Promise<void> {
  const child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  // Read, not ignored: if we are killed, it dies of the broken pipe.
  child.stdout.resume()
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`initdb failed: ${complaint.trim().slice(-1000)}`)
}
