// The service under measurement: a fresh process and a fresh database in a temporary folder, started as an operator starts it.
import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { makeRawKey } from '../src/core/callers/callers.ts'
import { startEmbeddedPostgres } from '../src/server/embedded/postgres.ts'
import { generateKeys } from '../src/core/signing/keys.ts'
import { generateMissingLogKeys } from '../src/core/signing/log-keys.ts'
import { sha256Hex } from '../src/store/sha256.ts'
import { CHECKOUT, npmStartOf } from './npm-start.ts'
import type { ScenarioReport } from './report.ts'

export interface MeasuredService {
  readonly url: string
  /** Raw API key of the one caller. */
  readonly key: string
  readonly databaseUrl: string
  readonly signingKeyDir: string
  /** For the report. */
  readonly about: NonNullable<ScenarioReport['service']>
  readonly pids: { readonly service: number; readonly postmaster: number }
  /** Returns, for each batched request since the last call, the size of its batch. Waits until the log is quiet. */
  takeBatchSizes(): Promise<number[]>
  /** Sends SIGTERM, and returns the problems with its end. */
  stop(): Promise<string[]>
}

export interface ServiceOptions {
  /** Folder of the checkout whose service is started. Default: this checkout. */
  readonly checkout?: string | undefined
  /** Further arguments of Node. */
  readonly nodeArguments?: readonly string[]
  /** Variables of the service that the scenario needs. */
  readonly env?: Readonly<Record<string, string>>
  /** Further entries of SERVICE_API_KEYS. */
  readonly callers?: readonly object[]
  /** A server for the database, which several services may share. Default: a server of its own. */
  readonly server?: DatabaseServer
  /** In place of a server: a folder in which the service starts its embedded PostgreSQL and keeps its keys. */
  readonly dataDir?: string
}

/** An embedded PostgreSQL server. */
export interface DatabaseServer {
  readonly url: string
  readonly pid: () => number
}

/** The one webhook provider of every service that the bench starts. */
export const PROVIDER = 'razorpay'
export const WEBHOOK_SECRET = 'whsec_of-the-bench-alone'

/** The caller by key of every service that the bench starts. */
export const BENCH = 'bench'

const START_MS_MAX = 60_000
const POLL_EVERY_MS = 5
const LOG_MS_MAX = 5_000
/** The service writes its log ten times a second, or sooner. */
const LOG_RESTS_MS = 250
const STOP_MS_MAX = 20_000

/** @param stack collects the clean-up steps: server and folder */
export async function startServer(stack: AsyncDisposableStack): Promise<DatabaseServer> {
  const folder = temporaryFolder(stack)
  const starting = startEmbeddedPostgres({ dataDir: folder, log: () => undefined })
  // Registered before the server has started: an interruption meanwhile must not leave a server behind.
  stack.defer(() => starting.then((started) => started.stop()))
  return starting
}

export function temporaryFolder(stack: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export async function connect(databaseUrl: string): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  return client
}

/** @returns the URL of an empty database of its own on the server, and the server's version */
async function createDatabase({ url }: DatabaseServer) {
  const name = `bench_${randomUUID().replaceAll('-', '')}`
  const client = await connect(url)
  try {
    await client.query(`CREATE DATABASE ${name}`)
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
    // No URL parser accepts this URL, because its host is a folder with a socket.
    return { databaseUrl: url.replace('/countersign?', `/${name}?`), postgres: rows[0]!.server_version }
  } finally {
    await client.end()
  }
}

/** @returns where the service keeps its data and its keys; only a folder where the service makes the rest itself */
async function openStorage({ dataDir, server: shared }: ServiceOptions, stack: AsyncDisposableStack) {
  if (dataDir !== undefined)
    return { folder: dataDir, databaseUrl: '', signingKeyDir: '', postmaster: 0, postgres: 'embedded' }
  const folder = temporaryFolder(stack)
  const server = shared ?? (await startServer(stack))
  const signingKeyDir = join(folder, 'keys')
  const made = { dir: signingKeyDir, now: new Date() }
  generateKeys(made)
  generateMissingLogKeys(made)
  return { folder, signingKeyDir, postmaster: server.pid(), ...(await createDatabase(server)) }
}

/**
 * Starts the process the way `npm start` of its checkout does.
 *
 * @param stack collects the clean-up steps: service, database, folder
 * @throws Error with the log, where it does not start
 */
export async function startService(
  options: ServiceOptions,
  stack: AsyncDisposableStack,
): Promise<MeasuredService> {
  const { checkout = CHECKOUT, nodeArguments = [] } = options
  const storage = await openStorage(options, stack)
  const { folder, databaseUrl, signingKeyDir, postmaster, postgres } = storage
  const logFile = join(folder, `${randomUUID()}.log`)
  const log = openSync(logFile, 'a+')
  stack.defer(() => closeSync(log))
  const key = makeRawKey()
  const [, ...start] = npmStartOf(checkout)
  const child = spawn(process.execPath, [...nodeArguments, ...start], {
    cwd: checkout,
    env: { ...process.env, ...variablesOf(options, storage, key) },
    stdio: ['ignore', log, log],
  })
  const { running, stop } = watched(child)
  stack.defer(async () => void (await stop()))
  const takeLines = followLines(log)
  const startMs = performance.now()
  let listening: LogLine | undefined
  while ((listening = takeLines().find(({ msg }) => msg === 'listening')) === undefined) {
    if (!running() || performance.now() - startMs > START_MS_MAX)
      throw new Error(`the service did not start:\n${readFileSync(logFile, 'utf8')}`)
    await sleep(POLL_EVERY_MS)
  }
  return {
    url: String(listening['url']),
    key,
    databaseUrl,
    signingKeyDir,
    about: { listener: String(listening['server']), threads: Number(listening['threads']), postgres },
    pids: { service: child.pid ?? 0, postmaster },
    takeBatchSizes: () => takeBatchSizes(takeLines),
    stop,
  }
}

/** @returns the variables that a measurement depends on; all others may be set from outside */
function variablesOf(
  { env, callers = [] }: ServiceOptions,
  { folder, databaseUrl, signingKeyDir }: Awaited<ReturnType<typeof openStorage>>,
  key: string,
): Record<string, string> {
  const bench = { callerId: BENCH, keyHash: sha256Hex(key), allowedCapabilities: ['*'] }
  return {
    DATA_DIR: folder,
    SERVICE_AUTH_DISABLED: '',
    LOG_LEVEL: 'info',
    PORT: '0',
    DATABASE_URL: databaseUrl,
    SIGNING_KEY_DIR: signingKeyDir,
    SERVICE_API_KEYS: JSON.stringify([bench, ...callers]),
    RECEIPT_ALGORITHMS: 'ed25519',
    RATE_LIMIT_EXECUTE_PER_MINUTE: '1000000000',
    RATE_LIMIT_COMPUTE_MS_PER_MINUTE: '1000000000',
    [`${PROVIDER.toUpperCase()}_WEBHOOK_SECRET`]: WEBHOOK_SECRET,
    // Production takes no external connector over plain HTTP.
    NODE_ENV: '',
    ...env,
  }
}

/** Reads the log until it is quiet. */
async function takeBatchSizes(takeLines: () => LogLine[]): Promise<number[]> {
  const sizes: number[] = []
  const deadlineMs = performance.now() + LOG_MS_MAX
  for (let restsSince = performance.now(); performance.now() - restsSince < LOG_RESTS_MS;) {
    const lines = takeLines()
    if (lines.length > 0) restsSince = performance.now()
    for (const { batch } of lines) if (typeof batch === 'number') sizes.push(batch)
    if (performance.now() > deadlineMs) break
    await sleep(50)
  }
  return sizes
}

type LogLine = Readonly<Record<string, unknown>>

/** Reads a growing file of JSON lines; each call returns the whole lines that were added since the last. */
function followLines(file: number): () => LogLine[] {
  const chunk = Buffer.alloc(1024 * 1024)
  let position = 0
  let rest = ''
  return () => {
    for (let bytes; (bytes = readSync(file, chunk, 0, chunk.length, position)) > 0; position += bytes)
      rest += chunk.toString('latin1', 0, bytes)
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as LogLine)
  }
}

/** A service's process: whether it runs, and `stop`, which sends SIGTERM and returns the problems with its end. */
export function watched(child: ChildProcess): { running: () => boolean; stop: () => Promise<string[]> } {
  const ended = once(child, 'exit') as Promise<[number | null]>
  const running = () => child.exitCode === null && child.signalCode === null
  return {
    running,
    async stop() {
      if (running()) child.kill('SIGTERM')
      const killed = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
      const [code] = await ended
      clearTimeout(killed)
      if (code === 0) return []
      return [
        code === null ? 'the service was killed' : `the service ended with exit code ${code} after SIGTERM`,
      ]
    },
  }
}
