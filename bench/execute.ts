// The scenario `execute`: unique transactions that are approved, at several connection counts, beside the floor.
import { availableParallelism } from 'node:os'
import { Client } from 'pg'
import { cpuBetween, cpuTimes, type CpuTimes } from './cpu.ts'
import { checkEvidence } from './evidence.ts'
import type { ExecutionTexts, FloorJob, FloorResult } from './floor.ts'
import type { LoadJob, LoadResult } from './load.ts'
import { describeMachine } from './machine.ts'
import { openProgram } from './program.ts'
import type { Batches, Floor, Measurement, Report } from './report.ts'
import { startService, type MeasuredService, type ServiceOptions } from './service.ts'
import { freshBody } from './transaction.ts'

export interface ExecuteOptions extends ServiceOptions {
  /** Of each measurement: two for each connection count, and one of the floor. */
  readonly seconds: number
  readonly connections: readonly number[]
}

/** Before anything is measured, as long as a measurement: for V8 to compile and PostgreSQL to plan. */
const WARM_UP_CONNECTIONS = 64
const FLOOR_WARM_UP_SECONDS = 1
/** Latency is measured at this share of the throughput that the same number of connections reached. */
const LATENCY_RATE_SHARE = 0.5
/** Records that are verified offline at the end. */
const SAMPLE_SIZE = 50
/** For a program to answer, on top of the time it measures. */
const GRACE_MS = 20_000

/**
 * in    stack     takes what has to be undone, whether or not this ends well
 * out   problems  what was not as it must be: with any of them the report is worth nothing
 * fails at the first reply that is not a 200
 */
export async function execute(
  { seconds, connections, ...serviceOptions }: ExecuteOptions,
  stack: AsyncDisposableStack,
): Promise<{ report: Report; problems: string[] }> {
  const startedAt = new Date().toISOString()
  const machine = describeMachine()
  const service = await startService(serviceOptions, stack)
  const drive = openDrive(service, stack)

  const runs = [await drive({ connections: WARM_UP_CONNECTIONS, seconds })]
  const floor = await measureFloor(service, seconds, stack)
  const measurements: Measurement[] = []
  for (const count of connections) {
    const open = await drive({ connections: count, seconds })
    const ratePerSecond = (open.executed / open.seconds) * LATENCY_RATE_SHARE
    const paced = await drive({ connections: count, seconds, ratePerSecond })
    runs.push(open, paced)
    measurements.push(measurement({ open, paced, floor }))
  }

  const executions = sum(runs.map((run) => run.executed))
  const evidence = await checkEvidence(service, { executions, sampleSize: SAMPLE_SIZE })
  const { problems } = evidence
  const exitCode = await service.stop()
  if (exitCode !== 0) problems.push(`the service ended with exit code ${exitCode} after SIGTERM`)
  const report = {
    scenario: 'execute',
    startedAt,
    machine,
    service: { listener: service.listener, threads: service.threads },
    constants: {
      policy: 'sandbox-echo 1.0.0',
      'request bytes': Buffer.byteLength(freshBody()),
      'seconds per measurement': seconds,
      'latency at rate share': LATENCY_RATE_SHARE,
    },
    floor,
    measurements,
    checked: { executions, verifiedOffline: evidence.sample },
  }
  return { report, problems }
}

/** One run of the generator: what it saw and what it cost. */
interface Run {
  readonly connections: number
  /** Answered 200, as all were. */
  readonly executed: number
  readonly seconds: number
  readonly latencyMs: LoadResult['latencyMs']
  readonly generatorMicros: number
  readonly batches: Batches
  /** CPU microseconds per execution: used, and what all cores had to give. */
  readonly cpu: CpuTimes | undefined
  readonly coreMicros: number
}

type Drive = (run: { connections: number; seconds: number; ratePerSecond?: number }) => Promise<Run>

function openDrive(service: MeasuredService, stack: AsyncDisposableStack): Drive {
  const load = stack.use(openProgram<LoadJob, LoadResult>('load.ts'))
  return async ({ connections, seconds, ratePerSecond }) => {
    const { url, key } = service
    const startMs = performance.now()
    const from = cpuTimes(service.pids)
    const result = await load.run(
      { url, key, connections, seconds, ratePerSecond },
      { withinMs: seconds * 1000 + GRACE_MS },
    )
    const to = cpuTimes(service.pids)
    const elapsedMicros = (performance.now() - startMs) * 1000
    const { 200: executed = 0, ...unexpected } = result.statuses
    for (const [status, count] of Object.entries(unexpected))
      throw new Error(`${count} replies with status ${status} at ${connections} connections`)
    return {
      connections,
      executed,
      seconds: result.seconds,
      latencyMs: result.latencyMs,
      generatorMicros: result.cpuMicros,
      batches: describeBatches(await service.takeBatchSizes(executed)),
      cpu: cpuBetween(from, to, executed),
      coreMicros: (elapsedMicros * availableParallelism()) / executed,
    }
  }
}

async function measureFloor(
  { databaseUrl, pids }: MeasuredService,
  seconds: number,
  stack: AsyncDisposableStack,
): Promise<Floor> {
  const program = stack.use(openProgram<FloorJob, FloorResult>('floor.ts'))
  const job = { databaseUrl, texts: await storedTexts(databaseUrl) }
  await program.run({ ...job, seconds: FLOOR_WARM_UP_SECONDS }, { withinMs: GRACE_MS })
  const from = cpuTimes(pids)
  const result = await program.run({ ...job, seconds }, { withinMs: seconds * 1000 + GRACE_MS })
  const to = cpuTimes(pids)
  const { executions, batch, cpuMicros } = result
  return {
    batch,
    processMicros: cpuMicros,
    postgresMicros: cpuBetween(from, to, executions)?.postgres,
  }
}

/** What one execution of the warm-up received and left in the database. */
async function storedTexts(databaseUrl: string): Promise<ExecutionTexts> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<Omit<ExecutionTexts, 'request'>>(`
      SELECT t.body AS transaction, t.execution_authorization AS "authorization", r.body AS record, r.seal,
        v.body AS verification, c.body AS receipt
      FROM business_transactions AS t JOIN trust_records AS r USING (business_transaction_id)
        JOIN verifications AS v USING (business_transaction_id) JOIN receipts AS c USING (business_transaction_id)
      LIMIT 1`)
    const [stored] = rows
    if (stored === undefined) throw new Error('the warm-up has stored no execution')
    return { request: freshBody(), ...stored }
  } finally {
    await client.end()
  }
}

/** Throughput and cost from the open throttle, latency from the fixed rate: never both from one run. */
function measurement({ open, paced, floor }: { open: Run; paced: Run; floor: Floor }): Measurement {
  if (paced.latencyMs === undefined) throw new Error('the generator measured no latency')
  const { connections, executed, seconds, generatorMicros, batches, cpu } = open
  return {
    connections,
    executionsPerSecond: executed / seconds,
    latency: { ratePerSecond: paced.executed / paced.seconds, ...paced.latencyMs },
    cpu: cpu && cost(cpu, floor),
    generatorMicros,
    batches,
    disturbance: worse(disturbance(open), disturbance(paced)),
  }
}

function cost({ door, workers, helpers, postgres }: CpuTimes, floor: Floor) {
  const total = door + workers + helpers + postgres
  const timesFloor = total / (floor.processMicros + (floor.postgresMicros ?? 0))
  return { door, workers, helpers, postgres, total, timesFloor }
}

function disturbance({ cpu, generatorMicros, coreMicros }: Run): Measurement['disturbance'] {
  if (cpu === undefined) return undefined
  const { door, workers, helpers, postgres, busy, steal } = cpu
  const ours = door + workers + helpers + postgres + generatorMicros
  return {
    stealPercent: (100 * steal) / coreMicros,
    othersPercent: Math.max(0, (100 * (busy - ours)) / coreMicros),
  }
}

function worse(a: Measurement['disturbance'], b: Measurement['disturbance']): Measurement['disturbance'] {
  return (
    a &&
    b && {
      stealPercent: Math.max(a.stealPercent, b.stealPercent),
      othersPercent: Math.max(a.othersPercent, b.othersPercent),
    }
  )
}

/** in  sizes  one for each execution, of the batch it travelled in: a batch of n stands there n times */
function describeBatches(sizes: readonly number[]): Batches {
  const sorted = sizes.toSorted((a, b) => a - b)
  return {
    mean: sizes.length / sum(sizes.map((size) => 1 / size)),
    p50: sorted[sorted.length >> 1] ?? 0,
    max: sorted.at(-1) ?? 0,
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
