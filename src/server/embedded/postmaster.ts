// One run of the PostgreSQL server: its settings, start, readiness and shutdown; and the server that a killed service left.
import { spawn, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  constants,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, DatabaseError } from 'pg'
import type { Cluster } from './cluster.ts'

export interface Postmaster {
  readonly pid: number
  readonly running: () => boolean
}

/** A postmaster that we started. */
export interface OwnPostmaster extends Postmaster {
  /** Resolves when it has ended, or could not be started. */
  readonly ended: Promise<void>
}

const LOG_BYTES_MAX = 10_000_000
const SHUTDOWN_MS_MAX = 10_000 // before a harsher signal
/** A server that recovers says so on every attempt; one that says nothing at all for this long does not get better. */
const ANSWER_MS_MAX = 30_000

/** What is left out is PostgreSQL's default. Figures: docs/design-notes.md "Performance". */
const settings = {
  // Durability is the product: a commit that was acknowledged is on disk, and a torn page is repaired.
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  // 16 MB of zeros before a new segment is used would hold every commit up.
  wal_init_zero: 'off',
  // An execution writes new rows only: few checkpoints, so that few full pages go into the log.
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  shared_buffers: sharedBuffers(),
  // No listener on the network; the folder of the socket is private to the database user.
  listen_addresses: '',
  port: '5432',
  unix_socket_permissions: '0700',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Errors and slow statements, never the values bound to them: those are the callers' data.
  log_checkpoints: 'off',
  log_min_duration_statement: '1s',
  log_parameter_max_length: '0',
}

/** An eighth of the memory, 128 MB to 1 GB: the indexes of 2 million records do not fit into less. */
function sharedBuffers(): string {
  const megabytes = Math.min(totalmem(), process.constrainedMemory() || Infinity) / 2 ** 20
  return `${Math.round(Math.min(Math.max(megabytes / 8, 128), 1024))}MB`
}

/**
 * Starts the server in a session of its own: neither Ctrl-C in our terminal nor our own death reaches it.
 * Its output goes to the log file, which starts afresh when it has grown large.
 */
export function launchPostmaster({ data, log, socketDir, postgres, launch }: Cluster): OwnPostmaster {
  disownLockFile(join(data, 'postmaster.pid'))
  disownLockFile(join(socketDir, '.s.PGSQL.5432.lock'))
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > LOG_BYTES_MAX) renameSync(log, `${log}.1`)
  const output = openSync(log, 'a', 0o600)
  const { command, args, options } = launch(postgres, [
    '-D',
    data,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    '-c',
    `unix_socket_directories="${socketDir.replaceAll('"', '""')}"`, // a list: quoted, for a comma in the path
  ])
  const child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', output, output] })
  closeSync(output)
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => resolve())
  child.on('error', (error) => {
    appendFileSync(log, `${error.message}\n`)
    resolve()
  })
  child.unref()
  const { pid = 0 } = child
  return { pid, ended, running: () => pid !== 0 && child.exitCode === null && child.signalCode === null }
}

/**
 * PostgreSQL refuses to start while the pid in a lock file that a crash left belongs to any process: after a reboot that may be
 * another program. Our own pid it takes for stale, being its parent's. Deleting the file instead would also delete its note of the
 * shared memory, by which it detects orphaned backends. We hold the folder's lock, so no server is starting here.
 */
function disownLockFile(path: string): void {
  if (!existsSync(path)) return
  const file = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW)
  const [, ...rest] = readFileSync(file, 'utf8').split('\n')
  // Overwritten, then cut: on a full disk a file that was emptied first stays empty.
  ftruncateSync(file, writeSync(file, [process.pid, ...rest].join('\n'), 0))
  closeSync(file)
}

/** The server of this folder that runs now, whoever started it. A lock file whose pid is another program's by now names none. */
export function findPostmaster(folder: string): Postmaster | undefined {
  const data = join(folder, 'data')
  const file = join(data, 'postmaster.pid')
  if (!existsSync(file)) return undefined
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10)
  const running = () => commandLine(pid).includes(`/postgres -D ${data} `)
  return running() ? { pid, running } : undefined
}

/** Empty when there is no such process, or only its zombie. */
function commandLine(pid: number): string {
  if (process.platform !== 'linux')
    return spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** Connection string for the database of the service that runs on this data folder; undefined where none runs. */
export function runningDatabaseUrl(dataDir: string): string | undefined {
  const folder = join(dataDir, 'postgres')
  if (!existsSync(folder) || findPostmaster(realpathSync(folder)) === undefined) return undefined
  const password = readFileSync(join(folder, 'password'), 'utf8')
  return urlOf({ password, socketDir: realpathSync(join(folder, 'socket')) })
}

/** Understood by node-postgres and libpq alike, whatever PG* variables say. */
export function urlOf(
  { password, socketDir }: Pick<Cluster, 'password' | 'socketDir'>,
  database = 'countersign',
): string {
  const host = encodeURIComponent(socketDir)
  return `postgres://countersign:${password}@/${database}?host=${host}&port=5432&sslmode=disable`
}

/**
 * Waits until the server answers with the cluster's password in the database `countersign`, which is made where it is missing.
 * Recovery takes as long as it takes.
 *
 * @throws when the server ends, answers nothing or refuses the password; when aborted
 */
export async function untilReady(
  cluster: Cluster,
  postmaster: OwnPostmaster,
  abort: AbortSignal,
): Promise<void> {
  let answeredMs = performance.now()
  for (;;) {
    abort.throwIfAborted()
    try {
      return await run(urlOf(cluster), 'SELECT 1')
    } catch (cause) {
      if (cause instanceof DatabaseError) answeredMs = performance.now()
      const code = cause instanceof DatabaseError ? cause.code : undefined
      if (code === '28P01')
        throw new Error(`The database does not accept ${cluster.passwordFile}: restore that file.`, { cause })
      if (code === '3D000') await run(urlOf(cluster, 'postgres'), 'CREATE DATABASE countersign')
      if (!postmaster.running()) {
        const lines = readFileSync(cluster.log, 'utf8').trim().split('\n')
        throw new Error(`PostgreSQL ended. ${lines.slice(-10).join('\n')}`, { cause })
      }
      if (performance.now() - answeredMs > ANSWER_MS_MAX)
        throw new Error('PostgreSQL runs but does not answer.', { cause })
    }
    await sleep(50)
  }
}

async function run(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2000 })
  client.on('error', () => {}) // of a connection that breaks between two calls; the next call reports it
  try {
    await client.connect()
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** A fast shutdown, then harsher ones; returns when the server, which waits for all its processes, is gone. */
export async function shutdown(postmaster: Postmaster): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!postmaster.running()) return
    process.kill(postmaster.pid, signal)
    const until = Date.now() + SHUTDOWN_MS_MAX
    while (postmaster.running() && Date.now() < until) await sleep(20)
  }
}
