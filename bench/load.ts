// The load generator, a program of its own: open throttle for throughput, a fixed rate for latency; never both from one run.
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { openConnection, type Connection } from './connection.ts'
import { DISTRIBUTION_SHARES, percentile } from './figures.ts'
import { messagesOf, type Message, type RequestKind } from './request.ts'

export interface LoadJob {
  readonly url: string
  /** Raw API key. */
  readonly key: string
  readonly kinds: readonly RequestKind[]
  /** Ids that `{{stored}}` stands for. */
  readonly stored: readonly string[]
  readonly connections: number
  readonly seconds: number
  /** Requests per second; undefined is open throttle. */
  readonly ratePerSecond: number | undefined
}

export interface LoadResult {
  /** Requests that were answered, by kind and status; 0 where the connection broke or nothing came within ten seconds. */
  readonly replies: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** From the first request to the last reply. */
  readonly seconds: number
  /** Of the generator, per request; and how much of one core it took. */
  readonly cpuMicros: number
  readonly coreShare: number
  /** At a fixed rate only: from when a request was due, so that one that had to wait for its connection counts in full. */
  readonly latencyMs: Latency | undefined
  /** Replies per second in each `stepSeconds`, and at a fixed rate the latency of those that were answered in it. */
  readonly overTime: OverTime
  /** Ids of some requests that were answered as expected, at random, by kind. */
  readonly sample: Readonly<Record<string, readonly string[]>>
}

export interface Latency {
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** Milliseconds at each of `DISTRIBUTION_SHARES` . */
  readonly distribution: readonly number[]
}

export interface OverTime {
  readonly stepSeconds: number
  readonly perSecond: readonly number[]
  readonly p50Ms: readonly number[]
  readonly p99Ms: readonly number[]
}

/** Ids kept of each kind. */
const SAMPLE_SIZE = 50
/** Shorter ones would show single batches. */
const STEP_SECONDS_MIN = 0.1
const STEPS_MAX = 50
/** A timer fires so late at most on an idle machine, and what it is late would count as the service's latency. */
const TIMER_LATE_MS = 2
/** Requests per second up to which the clock is watched in its place for the last of the time: half of a core at most. */
const WATCHED_RATE_MAX = 250

process.on('message', (job: LoadJob) => void load(job).then((result) => process.send?.(result)))

async function load(job: LoadJob): Promise<LoadResult> {
  const makers = job.kinds.map((kind) => messagesOf(kind, job))
  const next = () => {
    const at = picked(job.kinds)
    const message = makers[at]?.()
    const kind = job.kinds[at]
    if (message === undefined || kind === undefined) throw new Error('there is nothing to send')
    return { kind, message }
  }
  const connections = Array.from({ length: job.connections }, () => openConnection(new URL(job.url)))
  // Callers keep theirs: what it takes to open them is not measured.
  await Promise.all(connections.map((connection) => connection.open()))
  const startMs = performance.now()
  const startCpu = process.cpuUsage()
  const seen = openTally()
  // The run is lost then, and the service is not to be asked the same until the time is up.
  const isLost = () => seen.isWrong()
  const send = (connection: Connection, dueMs: number, done: () => void) => {
    const { kind, message } = next()
    connection.send(message.text, (status) => {
      seen.reply(kind, message, status, dueMs)
      done()
    })
  }
  const { ratePerSecond } = job
  await (ratePerSecond === undefined
    ? openThrottle(job, connections, send, isLost)
    : fixedRate({ ...job, ratePerSecond }, connections, send, isLost))
  const { user, system } = process.cpuUsage(startCpu)
  const elapsedMicros = (performance.now() - startMs) * 1000
  for (const connection of connections) connection.close()
  const { latencies, answeredMs, replies, sample } = seen
  const isPaced = ratePerSecond !== undefined
  return {
    replies,
    sample,
    seconds: ((answeredMs.at(-1) ?? startMs) - startMs) / 1000,
    cpuMicros: (user + system) / answeredMs.length,
    coreShare: (user + system) / elapsedMicros,
    latencyMs: isPaced ? described(latencies) : undefined,
    overTime: overTime({ startMs, seconds: job.seconds, answeredMs, latencies: isPaced ? latencies : [] }),
  }
}

type Send = (connection: Connection, dueMs: number, done: () => void) => void

/** Each connection sends its next request as soon as it has its reply; at the end every request sent has been answered. */
function openThrottle(
  { seconds }: LoadJob,
  connections: readonly Connection[],
  send: Send,
  isLost: () => boolean,
): Promise<void> {
  const endMs = performance.now() + seconds * 1000
  return new Promise((resolve) => {
    let busy = connections.length
    const go = (connection: Connection) => {
      if (performance.now() < endMs && !isLost()) send(connection, performance.now(), () => go(connection))
      else if (--busy === 0) resolve()
    }
    for (const connection of connections) go(connection)
  })
}

/** A request each 1/rate seconds, whatever has become of those before it; without a free connection it waits, and that counts. */
async function fixedRate(
  { seconds, ratePerSecond }: { seconds: number; ratePerSecond: number },
  connections: readonly Connection[],
  send: Send,
  isLost: () => boolean,
): Promise<void> {
  const requests = Math.max(1, Math.round(ratePerSecond * seconds))
  // Round robin over all connections, as callers of their own would use them.
  const idle = [...connections]
  const waiting: number[] = []
  let underway = 0
  let allSent = false
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
  const start = (connection: Connection, dueMs: number): void => {
    underway++
    send(connection, dueMs, () => {
      underway--
      const next = isLost() ? undefined : waiting.shift()
      if (next === undefined) idle.push(connection)
      else start(connection, next)
      if (allSent && underway === 0) finish()
    })
  }
  const startMs = performance.now()
  const canWatch = ratePerSecond <= WATCHED_RATE_MAX
  for (let sent = 0; sent < requests && !isLost();) {
    const dueMs = startMs + (sent * 1000) / ratePerSecond
    const aheadMs = dueMs - performance.now()
    if (aheadMs > 0) {
      await (canWatch && aheadMs < TIMER_LATE_MS ? turn() : sleep(1))
      continue
    }
    sent++
    const connection = idle.shift()
    if (connection === undefined) waiting.push(dueMs)
    else start(connection, dueMs)
  }
  allSent = true
  if (underway > 0) await finished
}

function picked(kinds: readonly RequestKind[]): number {
  if (kinds.length === 1) return 0
  const weights = kinds.map(({ weight = 1 }) => weight)
  let at = Math.random() * weights.reduce((total, weight) => total + weight, 0)
  return Math.max(
    0,
    weights.findIndex((weight) => (at -= weight) < 0),
  )
}

function openTally() {
  const replies: Record<string, Record<string, number>> = {}
  const sample: Record<string, string[]> = {}
  const latencies: number[] = []
  const answeredMs: number[] = []
  let isWrong = false
  return {
    replies,
    sample,
    latencies,
    answeredMs,
    /** Whether any had another status than it must have. */
    isWrong: () => isWrong,
    reply(kind: RequestKind, { id }: Message, status: number, dueMs: number): void {
      const now = performance.now()
      answeredMs.push(now)
      latencies.push(now - dueMs)
      const counts = (replies[kind.name] ??= {})
      const count = (counts[status] = (counts[status] ?? 0) + 1)
      if (status !== kind.status) isWrong = true
      if (status !== kind.status || kind.evidence === undefined) return
      // Reservoir: every one of them has the same chance to be in it.
      const kept = (sample[kind.name] ??= [])
      const at = kept.length < SAMPLE_SIZE ? kept.length : Math.floor(Math.random() * count)
      if (at < SAMPLE_SIZE) kept[at] = id
    },
  }
}

function described(latencies: readonly number[]): Latency {
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (share: number) => percentile(sorted, share)
  return { p50: at(0.5), p99: at(0.99), max: at(1), distribution: DISTRIBUTION_SHARES.map(at) }
}

function overTime({
  startMs,
  seconds,
  answeredMs,
  latencies,
}: {
  startMs: number
  seconds: number
  answeredMs: readonly number[]
  latencies: readonly number[]
}): OverTime {
  const stepSeconds = Math.max(seconds / STEPS_MAX, STEP_SECONDS_MIN)
  const steps = Array.from({ length: Math.ceil(seconds / stepSeconds) }, () => ({
    count: 0,
    latencies: [] as number[],
  }))
  for (const [i, at] of answeredMs.entries()) {
    const step = steps[Math.floor((at - startMs) / 1000 / stepSeconds)]
    if (step === undefined) continue
    step.count++
    const latency = latencies[i]
    if (latency !== undefined) step.latencies.push(latency)
  }
  const at = (share: number) =>
    latencies.length === 0
      ? []
      : steps.map((step) =>
          percentile(
            step.latencies.toSorted((a, b) => a - b),
            share,
          ),
        )
  return {
    stepSeconds,
    perSecond: steps.map(({ count }) => count / stepSeconds),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  }
}
