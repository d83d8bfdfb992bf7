// The load generator, a program of its own: open throttle for throughput, a rate for latency; never both from one run.
import { openConnections, type OpenConnections, type Reply } from './connection.ts'
import { openTimes } from './figures.ts'
import type { Replies } from './left.ts'
import { openPace, rateAt, type Stage } from './pace.ts'
import { weighted } from './pick.ts'
import { messagesOf, type Message, type RequestKind, type Sender } from './request.ts'

export type Generator = 'own' | 'autocannon'

export interface LoadJob {
  readonly generator: Generator
  readonly url: string
  readonly kinds: readonly RequestKind[]
  /** Connections are assigned to the senders in turn. */
  readonly senders: readonly Sender[]
  readonly connections: number
  /** The length of each stage. */
  readonly seconds: number
  /** Undefined is open throttle. */
  readonly stages: readonly Stage[] | undefined
  /** Whether 429 is no error: the sender then waits as long as the reply says. */
  readonly slowsDown: boolean
  /** Share of the replies that may be errors; beyond it the run ends. */
  readonly errorShareMax: number
}

export interface LoadResult {
  readonly replies: Replies
  /** The first text of each wrong reply, by kind and status: `execute 503`. */
  readonly wrong: Readonly<Record<string, string>>
  /** Requests that were due and could not be sent: the rate was too high, or limited. */
  readonly notSent: number
  /** From the first request to the last reply. */
  readonly seconds: number
  /** The generator's CPU time per request, and its share of one core. */
  readonly cpuMicros: number
  readonly coreShare: number
  /**
   * Milliseconds by percent of the right replies that took at most so long, from when each request was due: a wait for a connection
   * counts in full. At open throttle they say how busy the service was and no more.
   */
  readonly latency: readonly { readonly percent: number; readonly ms: number }[]
  readonly overTime: OverTime
  /** Some requests that were answered as expected, at random, by kind; with their sender's place in the job. */
  readonly sample: Readonly<Record<string, readonly { readonly id: string; readonly sender: number }[]>>
}

/** The figures of each `stepSeconds`, one after the other. */
export interface OverTime {
  readonly stepSeconds: number
  /** Requests that were due; empty at open throttle. */
  readonly duePerSecond: readonly number[]
  /** Right replies. */
  readonly perSecond: readonly number[]
  readonly p50Ms: readonly number[]
  readonly p99Ms: readonly number[]
  /** Counts, not rates, because they are rare. */
  readonly errors: readonly number[]
  readonly limited: readonly number[]
}

/** The state of a run that is under way. */
export interface Progress {
  readonly seconds: number
  /** Right replies since the last progress. */
  readonly perSecond: number
  readonly p99Ms: number
  /** Errors and 429s so far. */
  readonly errors: number
  readonly limited: number
  /** The value of RateLimit-Policy in the first 429. */
  readonly limit: string | undefined
}

const PERCENTS = [10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.9, 99.99, 100]
/** Ids kept of each kind. */
const SAMPLE_SIZE = 50
/** Shorter steps would show single batches. */
const STEP_SECONDS_MIN = 0.1
const STEPS_MAX = 50
/** A share of fewer replies says nothing, so the tolerated share is taken of at least this many. */
const SHARE_OF_MIN = 1_000
/** The wait after a 429 that does not say how long, and after a missing reply. */
const REST_MS = 1_000
const PROGRESS_EVERY_MS = 1_000

const generators: Readonly<Record<Generator, OpenConnections>> = {
  own: openConnections,
  // Loaded only where it is wanted, because it takes half of this program's start.
  autocannon: async (...args) => (await import('./autocannon.ts')).openAutocannon(...args),
}

process.on('message', (job: LoadJob) => void load(job).then((result) => process.send?.({ result })))

async function load(job: LoadJob): Promise<LoadResult> {
  const { connections, close } = await generators[job.generator](job.url, job.connections)
  const senders = job.senders.map((sender) => ({ next: pickers(job, sender), restsUntilMs: 0 }))
  const startMs = performance.now()
  const startCpu = process.cpuUsage()
  const over = new AbortController()
  const tally = openTally(job, startMs, () => over.abort())
  const pace = openPace({ ...job, signal: over.signal })
  const progress = setInterval(() => process.send?.({ progress: tally.progress() }), PROGRESS_EVERY_MS)
  const driven = connections.map(({ send }, i) => {
    const at = i % senders.length
    const sender = senders[at]!
    let restsUntilMs = 0
    const { promise, resolve: ended } = Promise.withResolvers<void>()
    const go = () => {
      const nowMs = performance.now()
      const ms = Math.max(restsUntilMs, sender.restsUntilMs) - nowMs
      const skips = sender.restsUntilMs > nowMs
      if (ms > 0) return pace.rest({ ms, skips, go, end: ended })
      pace.take((dueMs) => {
        if (dueMs === undefined) return ended()
        const { kind, message } = sender.next()
        send(message, (reply) => {
          tally.add({ kind, id: message.id, sender: at, reply, dueMs })
          const untilMs = performance.now() + restAfter(reply)
          // A rate limit holds for the caller, any other wait for the connection.
          if (reply.status === 429) sender.restsUntilMs = untilMs
          else restsUntilMs = untilMs
          go()
        })
      })
    }
    go()
    return promise
  })
  await Promise.all(driven)
  over.abort()
  clearInterval(progress)
  const { user, system } = process.cpuUsage(startCpu)
  const elapsedMicros = (performance.now() - startMs) * 1000
  const { count, ...counted } = tally.counted()
  await close()
  const micros = user + system
  return { ...counted, notSent: pace.notSent(), cpuMicros: micros / count, coreShare: micros / elapsedMicros }
}

function restAfter({ status, retryAfterSeconds }: Reply): number {
  if (retryAfterSeconds) return retryAfterSeconds * 1000
  return status === 429 || status === 0 ? REST_MS : 0
}

/** Makes the next message of a sender, of the kinds in their proportions. */
function pickers({ url, kinds }: LoadJob, sender: Sender): () => { kind: RequestKind; message: Message } {
  const pick = weighted(
    kinds.map((kind) => ({ kind, make: messagesOf(kind, { url, ...sender }), weight: kind.weight ?? 1 })),
  )
  return () => {
    const { kind, make } = pick()
    return { kind, message: make() }
  }
}

/** @param lose ends the run early: a service that answers wrongly is not asked until the time is up */
function openTally(job: LoadJob, startMs: number, lose: () => void) {
  const replies: Record<string, Record<string, number>> = {}
  const wrong: Record<string, string> = {}
  const sample: Record<string, { id: string; sender: number }[]> = {}
  const steps = openSteps(job, startMs)
  const all = openTimes()
  let [count, errors, limited] = [0, 0, 0]
  let limit: string | undefined
  let last = { atMs: startMs, times: openTimes() }
  let lastMs = startMs
  return {
    add(answer: { kind: RequestKind; id: string; sender: number; reply: Reply; dueMs: number }): void {
      const { kind, id, sender, dueMs } = answer
      const { status, text } = answer.reply
      if (status === 429) limit ??= answer.reply.limit
      lastMs = performance.now()
      count++
      const counts = (replies[kind.name] ??= {})
      const alike = (counts[status] = (counts[status] ?? 0) + 1)
      if (status === kind.status) {
        const tookMs = lastMs - dueMs
        for (const times of [all, last.times]) times.add(tookMs)
        steps.addTime(lastMs, tookMs)
        if (kind.evidence !== undefined) keepSome((sample[kind.name] ??= []), { id, sender }, alike)
        return
      }
      wrong[`${kind.name} ${status}`] ??= text
      const isLimit = status === 429 && job.slowsDown
      steps.count(lastMs, isLimit ? 'limited' : 'errors')
      if (isLimit) limited++
      else if (++errors > job.errorShareMax * Math.max(count, SHARE_OF_MIN)) lose()
    },
    progress(): Progress {
      const { atMs, times } = last
      const nowMs = performance.now()
      last = { atMs: nowMs, times: openTimes() }
      const perSecond = (times.count() * 1000) / (nowMs - atMs)
      return { seconds: (nowMs - startMs) / 1000, perSecond, p99Ms: times.ms(99), errors, limited, limit }
    },
    counted: () => ({
      count,
      replies,
      wrong,
      sample,
      seconds: (lastMs - startMs) / 1000,
      latency: PERCENTS.map((percent) => ({ percent, ms: all.ms(percent) })),
      overTime: steps.overTime(),
    }),
  }
}

/** Takes an item into a sample where each of the `count` items so far has the same chance to be. */
function keepSome<Item>(kept: Item[], item: Item, count: number): void {
  const place = kept.length < SAMPLE_SIZE ? kept.length : Math.floor(Math.random() * count)
  if (place < SAMPLE_SIZE) kept[place] = item
}

/** Times and counts of each part of the run. */
function openSteps({ seconds, stages }: LoadJob, startMs: number) {
  const wholeSeconds = seconds * (stages?.length ?? 1)
  const stepSeconds = Math.max(wholeSeconds / STEPS_MAX, STEP_SECONDS_MIN)
  const length = Math.ceil(wholeSeconds / stepSeconds)
  const steps = Array.from({ length }, () => ({ times: openTimes(), errors: 0, limited: 0 }))
  const at = (ms: number) => steps[Math.floor((ms - startMs) / 1000 / stepSeconds)]
  return {
    /** Drops replies after the end, which would make the last step's rate too high. */
    addTime: (atMs: number, tookMs: number) => at(atMs)?.times.add(tookMs),
    /** Counts replies after the end in the last step. */
    count(atMs: number, what: 'errors' | 'limited'): void {
      const step = at(atMs) ?? steps.at(-1)
      if (step !== undefined) step[what]++
    },
    overTime: (): OverTime => ({
      stepSeconds,
      duePerSecond:
        stages === undefined ? [] : steps.map((_, i) => rateAt(stages, seconds, (i + 0.5) * stepSeconds)),
      perSecond: steps.map(({ times }) => times.count() / stepSeconds),
      p50Ms: steps.map(({ times }) => times.ms(50)),
      p99Ms: steps.map(({ times }) => times.ms(99)),
      errors: steps.map(({ errors }) => errors),
      limited: steps.map(({ limited }) => limited),
    }),
  }
}
