// One run of the PostgreSQL server: its settings, start, readiness and shutdown; and the server that a killed service left.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
} from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, DatabaseError } from 'pg'
import type { Cluster } from './cluster.ts'

interface Running {
  readonly pid: number
  readonly running: () => boolean
}

/** A postmaster that we started. */
export interface Postmaster extends Running {
  /** Resolves when the server has ended, or could not be started. */
  readonly ended: Promise<unknown>
}

const LOG_BYTES_MAX = 10_000_000
const SHUTDOWN_MS_MAX = 10_000 // before a harsher signal
/** A recovering server says so on every attempt; a server that stays silent for this long will not recover. */
const SILENT_MS_MAX = 30_000

/** Settings that are left out keep PostgreSQL's defaults, such as the durability of commits. Figures: docs/design-notes.md "Performance". */
const settings = {
  // Writing 16 MB of zeros before a new segment is used would hold up every commit.
  wal_init_zero: 'off',
  // An execution only inserts rows: with few checkpoints, few full pages go into the WAL.
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  shared_buffers: sharedBuffers(),
  // No listener on the network; the folder of the socket is private to the database user.
  listen_addresses: '',
  // The log has errors and slow statements, never their bound values: those are the callers' data.
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
 * Starts the server in a session of its own: Ctrl-C in our terminal does not reach it, so a stop can drain first.
 * Its output goes to the log file, which starts afresh when it has grown large.
 */
export function launchPostmaster({ data, log, socketDir, postgres, launch }: Cluster): Postmaster {
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > LOG_BYTES_MAX) renameSync(log, `${log}.1`)
  const output = openSync(log, 'a', 0o600)
  const socketDirs = `"${socketDir.replaceAll('"', '""')}"` // a list: quoted, for a comma in the path
  const options = Object.entries({ ...settings, unix_socket_directories: socketDirs })
  const [command, args, surroundings] = launch(postgres, [
    '-D',
    data,
    ...options.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ])
  // PostgreSQL refuses to start while the pid in the lock file of a crash belongs to a process that is not its ancestor, and after a reboot
  // that may be any program: so the pid is passed as an ancestor's. The file must stay: PostgreSQL finds orphaned backends by it.
  const env = { ...surroundings.env, PG_GRANDPARENT_PID: String(lockedBy(data)) }
  const stdio = ['ignore' as const, output, output]
  const child = spawn(command, args, { ...surroundings, env, detached: true, stdio })
  closeSync(output)
  child.unref()
  const release = child.pid === undefined ? undefined : endWithUs(child.pid, data)
  return {
    pid: child.pid ?? 0,
    ended: once(child, 'exit')
      .catch((error: Error) => appendFileSync(log, `${error.message}\n`))
      .finally(release),
    running: () => child.pid !== undefined && child.exitCode === null && child.signalCode === null,
  }
}

/**
 * Starts a process that waits for the end of its standard input, which the kernel closes however we die, and then asks the server for a fast
 * shutdown. If that process was killed too, the next start finds the server and stops it.
 * @returns a function that ends the process, for when the server has ended: its pid may soon belong to another program
 */
function endWithUs(pid: number, data: string): () => void {
  const script = 'read -r _; kill -INT "$1"'
  const child = spawn('/bin/sh', ['-c', script, `ends PostgreSQL of ${data}`, String(pid)], {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.on('error', () => undefined)
  child.unref()
  return () => void child.kill('SIGKILL')
}

/** The pid in the lock file of the server that ran last, or runs now. */
function lockedBy(data: string): number | undefined {
  const file = join(data, 'postmaster.pid')
  return existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : undefined
}

/** The running server of this folder, whichever start launched it. A lock file whose pid belongs to another program now names no server. */
export function findPostmaster(folder: string): Running | undefined {
  const data = join(folder, 'data')
  const pid = lockedBy(data)
  const running = () => commandLine(pid).includes(`/postgres -D ${data} `)
  return pid !== undefined && running() ? { pid, running } : undefined
}

/** Empty when there is no such process, or only its zombie. */
function commandLine(pid: number | undefined): string {
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

/** The URL works for node-postgres and libpq alike, whatever PG* variables say. */
export function urlOf(
  { password, socketDir }: Pick<Cluster, 'password' | 'socketDir'>,
  database = 'countersign',
): string {
  const host = encodeURIComponent(socketDir)
  return `postgres://countersign:${password}@/${database}?host=${host}&port=5432&sslmode=disable`
}

/**
 * Waits until the server answers in the database `countersign`, and creates it where it is missing. Recovery may take any time.
 *
 * @throws when the server ends, stays silent or refuses the password, and when aborted
 */
export async function untilReady(
  cluster: Cluster,
  postmaster: Postmaster,
  abort: AbortSignal,
): Promise<void> {
  let heardMs = performance.now()
  for (;;) {
    abort.throwIfAborted()
    try {
      return await run(urlOf(cluster), 'SELECT 1')
    } catch (cause) {
      const code = cause instanceof DatabaseError ? cause.code : undefined
      if (code !== undefined) heardMs = performance.now()
      if (code === '28P01')
        throw new Error('The embedded PostgreSQL refuses the password in its file: restore that file.', {
          cause,
        })
      if (code === '3D000') await run(urlOf(cluster, 'postgres'), 'CREATE DATABASE countersign')
      if (!postmaster.running()) {
        const lines = readFileSync(cluster.log, 'utf8').trim().split('\n')
        throw new Error(`PostgreSQL ended. ${lines.slice(-10).join('\n')}`, { cause })
      }
      if (performance.now() - heardMs > SILENT_MS_MAX)
        throw new Error('PostgreSQL runs but does not answer.', { cause })
    }
    await sleep(50)
  }
}

async function run(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2000 })
  client.on('error', () => {}) // a connection may break between two calls; the next call reports it
  try {
    await client.connect()
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** A fast shutdown, then harsher ones; returns when the server, which waits for all its processes, is gone. */
export async function shutdown(postmaster: Running): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!postmaster.running()) return
    process.kill(postmaster.pid, signal)
    const until = Date.now() + SHUTDOWN_MS_MAX
    while (postmaster.running() && Date.now() < until) await sleep(20)
  }
}
