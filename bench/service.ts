// The service under measurement: a fresh process and a fresh database, as an operator would start them, in a folder that goes away.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeRawKey } from '../src/core/config.ts'
import { startEmbeddedPostgres } from '../src/server/embedded/postgres.ts'
import { generateKeys } from '../src/core/signing/keys.ts'
import { sha256Hex } from '../src/core/signing/sha256.ts'
import { CHECKOUT, npmStartOf } from './npm-start.ts'

export interface MeasuredService {
  readonly url: string
  /** Raw API key of the one caller. */
  readonly key: string
  readonly databaseUrl: string
  readonly signingKeyDir: string
  readonly listener: string
  readonly threads: number
  readonly pids: { readonly service: number; readonly postmaster: number }
  /** Of each request that has travelled in a batch since the last call: how many shared it. Waits until the log rests. */
  takeBatchSizes(): Promise<number[]>
  /** SIGTERM. out  what was wrong with how it ended */
  stop(): Promise<string[]>
}

export interface ServiceOptions {
  readonly listener: string
  /** Folder of the checkout whose service is started; this one where it is left out. */
  readonly checkout?: string
  /** Folder for a CPU profile of each thread. */
  readonly profile?: string
  /** Further arguments of Node. */
  readonly nodeArguments?: readonly string[]
  /** Variables of the service that the scenario needs. */
  readonly env?: Readonly<Record<string, string>>
  /** Further entries of SERVICE_API_KEYS. */
  readonly callers?: readonly object[]
}

const START_MS_MAX = 60_000
const LOG_MS_MAX = 5_000
/** The service writes its log ten times a second, or sooner. */
const LOG_RESTS_MS = 250
const STOP_MS_MAX = 20_000

/** in  stack  takes what has to be undone: service, database, folder */
export async function startService(
  { listener, checkout = CHECKOUT, profile, nodeArguments = [], env = {}, callers = [] }: ServiceOptions,
  stack: AsyncDisposableStack,
): Promise<MeasuredService> {
  const [, ...start] = npmStartOf(checkout)
  const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const starting = startEmbeddedPostgres({ dataDir: folder, log: () => undefined })
  // Before it is there: an interruption meanwhile must not leave a server behind.
  stack.defer(() => starting.then((started) => started.stop()))
  const postgres = await starting

  const keys = join(folder, 'keys')
  generateKeys({ dir: keys, now: new Date() })
  const key = makeRawKey()
  const caller = { callerId: 'bench', keyHash: sha256Hex(key), allowedCapabilities: ['*'] }
  const logFile = join(folder, 'service.log')
  const log = openSync(logFile, 'a+')
  stack.defer(() => closeSync(log))
  const child = spawn(
    process.execPath,
    [
      ...(profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(profile)}`]),
      ...nodeArguments,
      ...start,
    ],
    {
      cwd: checkout,
      // WORKER_THREADS and POLICY_DIR may be given from outside; what the figures stand on may not.
      env: {
        ...process.env,
        PORT: '0',
        DATABASE_URL: postgres.url,
        DATA_DIR: folder,
        SIGNING_KEY_DIR: keys,
        SERVICE_API_KEYS: JSON.stringify([caller, ...callers]),
        SERVICE_AUTH_DISABLED: '',
        RECEIPT_ALGORITHMS: 'ed25519',
        RATE_LIMIT_EXECUTE_PER_MINUTE: '1000000000',
        RATE_LIMIT_COMPUTE_MS_PER_MINUTE: '1000000000',
        LISTENER: listener,
        LOG_LEVEL: 'info',
        ...env,
      },
      stdio: ['ignore', log, log],
    },
  )
  const { running, stop } = watched(child)
  stack.defer(async () => void (await stop()))

  const takeLines = followLines(log)
  const startedMs = performance.now()
  let listening: Record<string, unknown> | undefined
  while (listening === undefined) {
    if (!running() || performance.now() - startedMs > START_MS_MAX)
      throw new Error(`the service did not start:\n${readFileSync(logFile, 'utf8')}`)
    await sleep(20)
    listening = takeLines().find(({ msg }) => msg === 'listening')
  }

  return {
    url: String(listening['url']),
    key,
    databaseUrl: postgres.url,
    signingKeyDir: keys,
    listener: String(listening['server']),
    threads: Number(listening['threads']),
    pids: { service: child.pid ?? 0, postmaster: postgres.pid() },
    async takeBatchSizes() {
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
    },
    stop,
  }
}

/** Reads a growing file of JSON lines; each call returns the whole lines that were added since the last. */
function followLines(file: number): () => Record<string, unknown>[] {
  const chunk = Buffer.alloc(1024 * 1024)
  let position = 0
  let rest = ''
  return () => {
    for (let bytes; (bytes = readSync(file, chunk, 0, chunk.length, position)) > 0; position += bytes)
      rest += chunk.toString('latin1', 0, bytes)
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    return lines
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  }
}

/** A service's process: whether it runs, and SIGTERM. out of `stop`  what was wrong with how it ended */
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
