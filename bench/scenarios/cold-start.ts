// From the start of the process to its first answers, with the embedded PostgreSQL, on an empty folder and on one that is there.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeRawKey } from '../../src/core/config.ts'
import { sha256Hex } from '../../src/core/signing/sha256.ts'
import { treeMicros } from '../cpu.ts'
import { figureOf, figureOfAll } from '../figures.ts'
import { checkSample } from '../evidence.ts'
import type { MeasureOptions, Measured } from '../measure.ts'
import type { Measurement } from '../report.ts'
import { filledOnce } from '../request.ts'
import type { SelfMeasured } from '../scenario.ts'
import { watched } from '../service.ts'
import { call } from '../subject.ts'
import { transactionBody } from '../transaction.ts'

const START_MS_MAX = 60_000
const ASK_EVERY_MS = 5

export const coldStart: SelfMeasured = {
  name: 'cold-start',
  description:
    'from the start of the process to the first READY and to the first execution, embedded PostgreSQL',
  isLocal: true,
  estimatedSeconds: ({ rounds }) => rounds * 8,
  measure,
}

interface Start {
  readonly readyMs: number
  readonly executedMs: number
  /** Of the service and PostgreSQL, all of their processes, until the first execution was answered. */
  readonly cpuMs: number | undefined
}

async function measure(
  { rounds, progress, listener }: MeasureOptions,
  stack: AsyncDisposableStack,
): Promise<Measured> {
  const problems: string[] = []
  const starts: Record<'empty folder' | 'existing folder', Start[]> = {
    'empty folder': [],
    'existing folder': [],
  }
  for (let round = 0; round < rounds; round++) {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'))
    stack.defer(() => rmSync(folder, { recursive: true, force: true }))
    const of = { folder, key: makeRawKey(), listener, problems }
    const measured = (what: keyof typeof starts) =>
      progress.during(`cold-start: ${what}`, 4, async () => starts[what].push(await start(of, stack)))
    await measured('empty folder')
    await measured('existing folder')
  }
  const measurements = Object.entries(starts).map(([label, of]) => measurementOf(label, of))
  return {
    report: {
      name: coldStart.name,
      description: coldStart.description,
      service: undefined,
      measurements,
      yardsticks: undefined,
      checked: { replies: rounds * 2, rows: undefined, verifiedOffline: rounds * 2 },
    },
    problems: problems.map((problem) => `${coldStart.name}: ${problem}`),
  }
}

function measurementOf(label: string, starts: readonly Start[]): Measurement {
  const cpu = figureOfAll(starts.map(({ cpuMs }) => cpuMs))
  return {
    label,
    connections: undefined,
    perSecond: undefined,
    latency: undefined,
    cpu: undefined,
    generator: undefined,
    batches: undefined,
    more: {
      'ready ms': figureOf(starts.map(({ readyMs }) => readyMs)),
      'first execution ms': figureOf(starts.map(({ executedMs }) => executedMs)),
      ...(cpu === undefined ? {} : { 'CPU ms': cpu }),
    },
    disturbance: undefined,
    overTime: undefined,
  }
}

interface Of {
  readonly folder: string
  readonly key: string
  readonly listener: string
  readonly problems: string[]
}

async function start({ folder, key, listener, problems }: Of, stack: AsyncDisposableStack): Promise<Start> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const caller = { callerId: 'bench', keyHash: sha256Hex(key), allowedCapabilities: ['*'] }
  const logFile = join(folder, 'service.log')
  const log = openSync(logFile, 'a+')
  const startMs = performance.now()
  const child = spawn(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'server', 'main.ts')], {
    env: {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: String(port),
      DATABASE_URL: '',
      SIGNING_KEY_DIR: '',
      DATA_DIR: folder,
      SERVICE_API_KEYS: JSON.stringify([caller]),
      SERVICE_AUTH_DISABLED: '',
      RATE_LIMIT_HEALTH_PER_MINUTE: '1000000',
      LISTENER: listener,
      LOG_LEVEL: 'info',
    },
    stdio: ['ignore', log, log],
  })
  const { running, stop } = watched(child)
  // An interruption must leave no PostgreSQL behind.
  stack.defer(async () => void (await stop()))
  try {
    while (!(await isReady(url))) {
      if (!running() || performance.now() - startMs > START_MS_MAX)
        throw new Error(`the service did not start:\n${readFileSync(logFile, 'utf8')}`)
      await sleep(ASK_EVERY_MS)
    }
    const readyMs = performance.now() - startMs
    const body = filledOnce(transactionBody({}))
    const { businessTransactionId: id } = JSON.parse(body) as { businessTransactionId: string }
    const { status, text } = await call({ url, key }, 'POST', '/execute', body)
    const executedMs = performance.now() - startMs
    const cpu = treeMicros(child.pid ?? 0)
    if (status !== 200) problems.push(`the first execution answered ${status}: ${text}`)
    const checked = await checkSample({ url, key }, [{ id, evidence: 'trust-record' }])
    problems.push(...checked.problems)
    return { readyMs, executedMs, cpuMs: cpu && cpu / 1000 }
  } finally {
    problems.push(...(await stop()))
    closeSync(log)
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const reply = await fetch(`${url}/ready`)
    await reply.arrayBuffer()
    return reply.status === 200
  } catch {
    return false
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
