// Starts the real service as a process of its own, the way an operator would, and calls it over HTTP.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { makeRawKey } from '../src/core/callers/callers.ts'
import { sha256Hex } from '../src/store/sha256.ts'
import { expectConforming } from './openapi/conforms.ts'
import { cleanUpAfterEachFile } from './run/cleanup.ts'
import { baseEnvironment } from './run/environment.ts'
import { programsArguments } from './run/programs.ts'
import { makeKeys } from './signing-keys.ts'

const MAIN = join(import.meta.dirname, '..', 'src', 'server', 'main.ts')

/** A test that fails before its `stop` leaves nothing running either. Not at the process's exit: vitest ends it by a signal. */
const running = new Set<ChildProcess>()
cleanUpAfterEachFile(() => {
  for (const child of running) child.kill('SIGKILL')
})

export interface TestService {
  readonly url: string
  readonly process: ChildProcess
  readonly dataDir: string
  readonly signingKeyDir: string
  /** The raw key of caller `tester`: every capability, principal `tester`. */
  readonly key: string
  /** Everything written to standard output and standard error so far. */
  output(): string
  /** Log lines so far, parsed. */
  lines(): Record<string, unknown>[]
  /** Sends as `tester`; a plain object is sent as JSON. */
  get(path: string, options?: CallOptions): Promise<Called>
  post(path: string, body: unknown, options?: CallOptions): Promise<Called>
  /** SIGTERM, then the exit code. Removes what the start made. */
  stop(): Promise<number | null>
}

export interface CallOptions {
  readonly headers?: Record<string, string>
  /** Another raw key; null sends none. */
  readonly key?: string | null
  readonly method?: string
}

export interface Called {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; undefined where it is none. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into replies of every shape
  readonly body: any
}

export interface ServiceOptions {
  readonly databaseUrl?: string
  /** More entries of SERVICE_API_KEYS. */
  readonly callers?: readonly object[]
  /** Variables besides those that the start needs. */
  readonly env?: Record<string, string>
  /** Keys of another service, for instances that belong together. */
  readonly signingKeyDir?: string
  readonly key?: string
  /** Folder of another checkout, whose service is started as it was installed. */
  readonly checkout?: string
}

/** A caller with every capability but for `members`: its entry of SERVICE_API_KEYS, and its raw key. */
export function aCaller(callerId: string, members: object = {}): { entry: object; key: string } {
  const key = makeRawKey()
  return { key, entry: { callerId, keyHash: sha256Hex(key), allowedCapabilities: ['*'], ...members } }
}

/** Picks what a reply is compared by where its headers do not matter. */
export function reply({ status, body }: Called): { status: number; body: unknown } {
  return { status, body: body as unknown }
}

/** By database: the keys of the first service that was started on it. One with other keys does not start. */
const keyDirs = new Map<string, string>()
cleanUpAfterEachFile(() => {
  for (const dir of keyDirs.values()) rmSync(dir, { recursive: true, force: true })
  keyDirs.clear()
})

function keyDirOf(databaseUrl: string | undefined, folder: string): string {
  if (databaseUrl === undefined) {
    const own = join(folder, 'keys')
    makeKeys(own)
    return own
  }
  // By its name: a proxy has another address.
  const { database = '' } = new Client({ connectionString: databaseUrl })
  const known = keyDirs.get(database)
  if (known !== undefined) return known
  const dir = mkdtempSync(join(tmpdir(), 'countersign-test-keys-'))
  makeKeys(dir)
  keyDirs.set(database, dir)
  return dir
}

/** @throws everything that the service wrote when it does not start */
export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
  const signingKeyDir = options.signingKeyDir ?? keyDirOf(options.databaseUrl, folder)
  const key = options.key ?? makeRawKey()
  const callers = [
    { callerId: 'tester', keyHash: sha256Hex(key), allowedCapabilities: ['*'] },
    ...(options.callers ?? []),
  ]
  const program =
    options.checkout === undefined
      ? [...programsArguments, MAIN]
      : [join(options.checkout, 'bin', 'start.js')]
  const child = spawn(process.execPath, program, {
    env: {
      ...baseEnvironment,
      PORT: '0',
      DATA_DIR: folder,
      SIGNING_KEY_DIR: signingKeyDir,
      SERVICE_API_KEYS: JSON.stringify(callers),
      // A second thread takes half a second of CPU at each start.
      WORKER_THREADS: '1',
      RATE_LIMIT_EXECUTE_PER_MINUTE: '1000000',
      RATE_LIMIT_HEALTH_PER_MINUTE: '1000000',
      RATE_LIMIT_PUBLIC_PER_MINUTE: '1000000',
      RATE_LIMIT_COMPUTE_MS_PER_MINUTE: '1000000000',
      APPROVAL_REQUESTS_PER_HOUR: '1000000',
      ...(options.databaseUrl === undefined ? {} : { DATABASE_URL: options.databaseUrl }),
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const exited = once(child, 'exit') as Promise<[number | null]>
  running.add(child)
  child.once('exit', () => running.delete(child))

  // Each line is parsed once, though a test that waits for one asks every ten milliseconds.
  const parsedLines: Record<string, unknown>[] = []
  let parsedTo = 0
  const lines = () => {
    const whole = output.slice(parsedTo, output.lastIndexOf('\n') + 1)
    parsedTo += whole.length
    for (const line of whole.split('\n'))
      if (line.startsWith('{') && line.endsWith('}'))
        parsedLines.push(JSON.parse(line) as Record<string, unknown>)
    return [...parsedLines]
  }
  const listening = await Promise.race([
    until(() => lines().find((line) => line['msg'] === 'listening'), 'the service to listen', 180_000),
    exited.then(() => undefined),
  ])
  if (listening === undefined) {
    rmSync(folder, { recursive: true })
    throw new Error(`the service did not start:\n${output}`)
  }
  const url = String(listening['url'])

  const service: TestService = {
    url,
    process: child,
    dataDir: folder,
    signingKeyDir,
    key,
    output: () => output,
    lines,
    get: (path, call = {}) => send(url, path, { method: 'GET', key, ...call }),
    post: (path, body, call = {}) => send(url, path, { method: 'POST', key, ...call, body }),
    async stop() {
      child.kill('SIGTERM')
      const [code] = await exited
      rmSync(folder, { recursive: true, force: true })
      return code
    },
  }
  return service
}

async function send(url: string, path: string, call: CallOptions & { body?: unknown }): Promise<Called> {
  const { body } = call
  const raw = body === undefined || typeof body === 'string' || body instanceof Uint8Array
  const response = await fetch(url + path, {
    method: call.method ?? 'GET',
    headers: {
      ...(call.key === null ? {} : { Authorization: `Bearer ${call.key}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...call.headers,
    },
    ...(body === undefined ? {} : { body: raw ? (body as BodyInit) : JSON.stringify(body) }),
    redirect: 'manual',
  })
  const text = await response.text()
  const called = { status: response.status, headers: response.headers, text, body: parsed(text) }
  expectConforming({ method: call.method ?? 'GET', path: new URL(url + path).pathname }, called)
  return called
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The log line of a reply, which is written after it. */
export function lineOf(service: TestService, { headers }: Called): Promise<Record<string, unknown>> {
  const requestId = headers.get('x-request-id')
  return until(() => service.lines().find((line) => line['requestId'] === requestId), 'the log line')
}

/**
 * Polls until a condition holds.
 * @throws after `ms` milliseconds, with `what` was waited for
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  what: string,
  ms = 120_000,
): Promise<NonNullable<T>> {
  const deadline = performance.now() + ms
  for (;;) {
    const value = await condition()
    if (value) return value
    if (performance.now() > deadline) throw new Error(`waited ${ms} ms for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
