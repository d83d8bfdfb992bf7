// From the start of the process to its first answers, with the embedded PostgreSQL, on an empty folder and on an existing one.
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { makeRawKey } from '../src/core/callers.ts'
import { call } from './calls.ts'
import { treeMicros } from './cpu.ts'
import { checkSample } from './evidence.ts'
import { figureOf, figureOfAll } from './figures.ts'
import { filledOnce } from './request.ts'
import type { Measured, MeasureOptions, SelfMeasured } from './scenario.ts'
import { anyCapability, spawnService, temporaryFolder } from './service.ts'
import { transactionBody } from './transaction.ts'

const POLL_EVERY_MS = 5

export const coldStart: SelfMeasured = {
  name: 'cold-start',
  description:
    'from the start of the process to the first READY and to the first execution, embedded PostgreSQL',
  isLocal: true,
  measure,
}

interface Start {
  readonly readyMs: number
  readonly executedMs: number
  /** Of the service and PostgreSQL, all of their processes, until the first execution was answered. */
  readonly cpuMs: number | undefined
  readonly problems: readonly string[]
}

async function measure({ rounds, say }: MeasureOptions, stack: AsyncDisposableStack): Promise<Measured> {
  const rows: { label: string; starts: Start[] }[] = [
    { label: 'empty folder', starts: [] },
    { label: 'existing folder', starts: [] },
  ]
  for (let round = 0; round < rounds; round++) {
    const folder = temporaryFolder(stack)
    const key = makeRawKey()
    for (const { label, starts } of rows) {
      say(`cold-start: ${label}`)
      starts.push(await start({ folder, key }, stack))
    }
  }
  const measurements = rows.map(({ label, starts }) => {
    const cpu = figureOfAll(starts.map(({ cpuMs }) => cpuMs))
    return {
      label,
      more: {
        'ready ms': figureOf(starts.map(({ readyMs }) => readyMs)),
        'first execution ms': figureOf(starts.map(({ executedMs }) => executedMs)),
        ...(cpu === undefined ? {} : { 'CPU ms': cpu }),
      },
    }
  })
  const { name, description } = coldStart
  return {
    report: {
      name,
      description,
      measurements,
      checked: { replies: rounds * 2, verifiedOffline: rounds * 2 },
    },
    problems: rows.flatMap(({ starts }) => starts.flatMap(({ problems }) => problems)),
  }
}

async function start(
  { folder, key }: { folder: string; key: string },
  stack: AsyncDisposableStack,
): Promise<Start> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const startMs = performance.now()
  const { pid, stop, untilStarted } = spawnService(
    {},
    {
      HOST: '127.0.0.1',
      PORT: String(port),
      DATABASE_URL: '',
      SIGNING_KEY_DIR: '',
      SERVICE_API_KEYS: JSON.stringify([anyCapability(key)]),
      RATE_LIMIT_HEALTH_PER_MINUTE: '1000000',
    },
    { folder, stack },
  )
  try {
    await untilStarted(() => isReady(url), POLL_EVERY_MS)
    const readyMs = performance.now() - startMs
    const body = filledOnce(transactionBody({}))
    const { businessTransactionId: id } = JSON.parse(body) as { businessTransactionId: string }
    await call({ url, key }, 'POST', '/execute', { body, expect: 200 })
    const executedMs = performance.now() - startMs
    const cpu = treeMicros(pid)
    const { problems } = await checkSample({ url, key }, [{ id, evidence: 'trust-record' }])
    return { readyMs, executedMs, cpuMs: cpu && cpu / 1000, problems: [...problems, ...(await stop())] }
  } finally {
    await stop()
  }
}

async function isReady(url: string): Promise<true | undefined> {
  try {
    const reply = await fetch(`${url}/ready`)
    await reply.arrayBuffer()
    return reply.status === 200 ? true : undefined
  } catch {
    return undefined
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
