// The load generator, a program of its own: open throttle for throughput, a fixed rate for latency; never both from one run.
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { openConnection, type Connection } from './connection.ts'
import { openTimes } from './figures.ts'
import { messagesOf, type RequestKind } from './request.ts'

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

/** Replies by kind and status; 0 where the connection broke or nothing came within ten seconds. */
export type Replies = Readonly<Record<string, Readonly<Record<string, number>>>>

export interface LoadResult {
  readonly replies: Replies
  /** From the first request to the last reply. */
  readonly seconds: number
  /** Of the generator, per request; and how much of one core it took. */
  readonly cpuMicros: number
  readonly coreShare: number
  /**
   * Milliseconds by percent of the requests that were at most so slow, from when each was due: one that had to wait for its
   * connection counts in full. At open throttle they say how busy the service was and no more.
   */
  readonly latency: readonly { readonly percent: number; readonly ms: number }[]
  readonly overTime: OverTime
  /** Ids of some requests that were answered as expected, at random, by kind. */
  readonly sample: Readonly<Record<string, readonly string[]>>
}

/** Of each `stepSeconds`, one after the other. */
export interface OverTime {
  readonly stepSeconds: number
  readonly perSecond: readonly number[]
  readonly p50Ms: readonly number[]
  readonly p99Ms: readonly number[]
}

const PERCENTS = [10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.9, 99.99, 100]
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
  const next = pickers(job)
  const connections = await Promise.all(
    Array.from({ length: job.connections }, () => openConnection(job.url)),
  )
  const startMs = performance.now()
  const startCpu = process.cpuUsage()
  const tally = openTally(job.seconds, startMs)
  const send: Send = (connection, dueMs, done) => {
    const { kind, message } = next()
    connection.send(message, (status) => {
      tally.reply(kind, message.id, status, dueMs)
      done()
    })
  }
  await (job.ratePerSecond === undefined
    ? openThrottle(job.seconds, connections, send, tally.isLost)
    : fixedRate(job.seconds, job.ratePerSecond, connections, send, tally.isLost))
  const { user, system } = process.cpuUsage(startCpu)
  const elapsedMicros = (performance.now() - startMs) * 1000
  for (const connection of connections) connection.close()
  const { count, ...counted } = tally.counted()
  return { ...counted, cpuMicros: (user + system) / count, coreShare: (user + system) / elapsedMicros }
}

type Send = (connection: Connection, dueMs: number, done: () => void) => void

/** Each connection sends its next request as soon as it has its reply; at the end every request sent has been answered. */
function openThrottle(
  seconds: number,
  connections: readonly Connection[],
  send: Send,
  isLost: () => boolean,
): Promise<void> {
  const endMs = performance.now() + seconds * 1000
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
  let busy = connections.length
  const go = (connection: Connection) => {
    if (performance.now() < endMs && !isLost()) send(connection, performance.now(), () => go(connection))
    else if (--busy === 0) finish()
  }
  for (const connection of connections) go(connection)
  return finished
}

/** A request each 1/rate seconds, whatever has become of those before it; without a free connection it waits, and that counts. */
async function fixedRate(
  seconds: number,
  ratePerSecond: number,
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
  for (let sent = 0; sent < requests && !isLost();) {
    const dueMs = startMs + (sent * 1000) / ratePerSecond
    const aheadMs = dueMs - performance.now()
    if (aheadMs > 0) {
      await (ratePerSecond <= WATCHED_RATE_MAX && aheadMs < TIMER_LATE_MS ? turn() : sleep(1))
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

/** Makes the next message, of the kinds in their proportions. */
function pickers(job: LoadJob) {
  const makers = job.kinds.map((kind) => ({ kind, make: messagesOf(kind, job), weight: kind.weight ?? 1 }))
  const total = makers.reduce((weights, { weight }) => weights + weight, 0)
  return () => {
    let at = makers.length === 1 ? 0 : Math.random() * total
    const maker = makers.find(({ weight }) => (at -= weight) < 0) ?? makers[0]
    if (maker === undefined) throw new Error('there is nothing to send')
    return { kind: maker.kind, message: maker.make() }
  }
}

function openTally(seconds: number, startMs: number) {
  const replies: Record<string, Record<string, number>> = {}
  const sample: Record<string, string[]> = {}
  const stepSeconds = Math.max(seconds / STEPS_MAX, STEP_SECONDS_MIN)
  const steps = Array.from({ length: Math.ceil(seconds / stepSeconds) }, openTimes)
  const all = openTimes()
  let lastMs = startMs
  let isLost = false
  return {
    /** Whether any had another status than it must have: the run is lost, and the service is not asked the same until the end. */
    isLost: () => isLost,
    reply(kind: RequestKind, id: string, status: number, dueMs: number): void {
      lastMs = performance.now()
      all.add(lastMs - dueMs)
      steps[Math.floor((lastMs - startMs) / 1000 / stepSeconds)]?.add(lastMs - dueMs)
      const counts = (replies[kind.name] ??= {})
      const count = (counts[status] = (counts[status] ?? 0) + 1)
      if (status !== kind.status) isLost = true
      else if (kind.evidence !== undefined) {
        // Reservoir: every one of them has the same chance to be in it.
        const kept = (sample[kind.name] ??= [])
        const at = kept.length < SAMPLE_SIZE ? kept.length : Math.floor(Math.random() * count)
        if (at < SAMPLE_SIZE) kept[at] = id
      }
    },
    counted: () => ({
      count: all.count(),
      replies,
      sample,
      seconds: (lastMs - startMs) / 1000,
      latency: PERCENTS.map((percent) => ({ percent, ms: all.ms(percent) })),
      overTime: {
        stepSeconds,
        perSecond: steps.map((step) => step.count() / stepSeconds),
        p50Ms: steps.map((step) => step.ms(50)),
        p99Ms: steps.map((step) => step.ms(99)),
      },
    }),
  }
}
