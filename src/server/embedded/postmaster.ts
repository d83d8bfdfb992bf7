// One run of the PostgreSQL server: its settings, how it is started, found again after a crash, asked whether it answers, and stopped.
import { spawn, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  constants,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
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
  running(): boolean
  /** Where its lines in the log begin. */
  readonly logFrom: number
}

const logBytesMax = 10_000_000
const silenceMsMax = 30_000
const shutdownMsMax = 10_000 // before a harsher signal

const settings = {
  // Durability is the product: a commit that was acknowledged is on disk, and a torn page is repaired.
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  // Writing 16 MB of zeros before a new segment is used holds every commit up: 1 of 100 batches took 70 ms, without it 24.
  wal_init_zero: 'off',
  // Only pglz is compiled in, which costs more CPU than the page images it saves with the rare checkpoints below.
  wal_compression: 'off',
  // The execution path writes new rows only: few checkpoints, so that few full pages go into the WAL.
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  shared_buffers: sharedBuffers(),
  max_connections: '100',
  // Nothing listens on the network; the folder of the socket is private to the database user.
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

/**
 * An eighth of the memory that there is, from 128 MB to 1 GB. An execution writes to a random page of five indexes, and what of these is
 * not in PostgreSQL's own memory is read and written for it: beside 2 million records, which have 900 MB of indexes, that was 219 µs of its CPU with
 * 256 MB and 151 to 174 with 1 GB.
 */
function sharedBuffers(): string {
  const limit = process.constrainedMemory()
  const bytes = Math.min(totalmem(), limit > 0 ? limit : Infinity) / 8
  return `${Math.round(Math.min(Math.max(bytes / 2 ** 20, 128), 1024))}MB`
}

/**
 * Starts the server in a session of its own: neither Ctrl-C in our terminal nor our own death reaches it.
 * Its output goes to the log file, which starts afresh when it has grown large.
 */
export function launchPostmaster({ data, log, socketDir, postgres, launch }: Cluster): Postmaster {
  disownLockFile(join(data, 'postmaster.pid'))
  disownLockFile(join(socketDir, '.s.PGSQL.5432.lock'))
  if (logBytes(log) > logBytesMax) renameSync(log, `${log}.1`)
  const logFrom = logBytes(log)
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
  child.on('error', (error) => appendFileSync(log, `${error.message}\n`))
  child.unref()
  const pid = child.pid ?? 0
  return { pid, logFrom, running: () => pid !== 0 && child.exitCode === null && child.signalCode === null }
}

/**
 * PostgreSQL refuses to start while the pid in a lock file that a crash left belongs to any process: another program after a
 * reboot, or the killed server itself until its parent has waited for it. Our own pid it takes for stale, being its parent's.
 * Deleting the file instead would also delete its note of the shared memory, by which it detects orphaned backends.
 * We hold the folder's lock, so no server is starting here.
 */
function disownLockFile(path: string): void {
  if (!existsSync(path)) return
  const file = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW)
  const [, ...rest] = readFileSync(file, 'utf8').split('\n')
  // Over what is there, and cut then: on a full disk a file that was emptied first stays empty.
  ftruncateSync(file, writeSync(file, [process.pid, ...rest].join('\n'), 0))
  closeSync(file)
}

/** The server of this folder that outlived its service. */
export function findPostmaster(folder: string): Postmaster | undefined {
  const data = join(folder, 'data')
  const file = join(data, 'postmaster.pid')
  if (!existsSync(file)) return undefined
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10)
  const running = () => commandLine(pid).includes(`/postgres -D ${data} `)
  return running() ? { pid, running, logFrom: logBytes(join(folder, 'postgres.log')) } : undefined
}

/** Empty when there is no such process, or only its zombie. */
function commandLine(pid: number): string {
  if (process.platform !== 'linux') {
    return spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
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
 * Waits until the server answers with the cluster's password (SCRAM proves both ends) in the database `countersign`, which is made
 * where it is missing. Recovery takes as long as it takes; a server that is silent on its socket does not get better.
 * fails when the server ends, stays silent or refuses the password; when aborted
 */
export async function untilReady(
  cluster: Cluster,
  postmaster: Postmaster,
  abort?: AbortSignal,
): Promise<void> {
  let heardAt = Date.now()
  for (;;) {
    abort?.throwIfAborted()
    try {
      return await run(urlOf(cluster), 'SELECT 1')
    } catch (cause) {
      const code = cause instanceof DatabaseError ? cause.code : undefined
      if (code === '28P01')
        throw new Error(`The database does not accept ${cluster.passwordFile}: restore that file.`, { cause })
      if (code === '3D000') await run(urlOf(cluster, 'postgres'), 'CREATE DATABASE countersign')
      if (code === '57P03') heardAt = Date.now() // starting up, recovering or shutting down
      if (!postmaster.running())
        throw new Error(`PostgreSQL ended. ${lastLines(cluster.log, postmaster.logFrom)}`, { cause })
      if (Date.now() - heardAt > silenceMsMax)
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

function logBytes(log: string): number {
  return statSync(log, { throwIfNoEntry: false })?.size ?? 0
}

function lastLines(log: string, from: number): string {
  return readFileSync(log).subarray(from).toString().trim().split('\n').slice(-10).join('\n')
}

/** A fast shutdown, then harsher ones; returns when the server, which waits for all its processes, is gone. */
export async function shutdown(postmaster: Postmaster): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!postmaster.running()) return
    process.kill(postmaster.pid, signal)
    const until = Date.now() + shutdownMsMax
    while (postmaster.running() && Date.now() < until) await sleep(20)
  }
}
