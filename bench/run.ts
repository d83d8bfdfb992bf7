// One run of the generator against a subject, and the runs of one subject: driven, counted against the database, remembered.
import { availableParallelism } from 'node:os'
import { cpuBetween, cpuTimes, disturbance, rssBytes } from './cpu.ts'
import { sum, text, type Round } from './figures.ts'
import { countLeft, miscounted, storedBytes } from './left.ts'
import type { Generator, LoadJob, LoadResult, Progress } from './load.ts'
import type { Stage } from './pace.ts'
import { openProgram } from './program.ts'
import type { Sender } from './request.ts'
import { say, sayProgress, type Requests, type Scenario, type Subject } from './scenario.ts'

export interface Run {
  /** The senders that the sample names by their position. */
  readonly senders: readonly Sender[]
  readonly load: LoadResult
  readonly counts: Counts
  /** Right replies. */
  readonly perSecond: number
  /** Requests that shared a batch, memory, PostgreSQL's log. */
  readonly figures: Round
  /** Figures that only this scenario has. */
  readonly settled: Round
  /** CPU microseconds per reply by part, the generator's too. */
  readonly cpu: Round
  /** Percent of all cores that the host and other programs took. */
  readonly disturbance: Round
}

/** Replies of a run. */
export interface Counts {
  /** Replies with the expected status. */
  readonly right: number
  /** Replies with another status, and requests without a reply: only where some are tolerated. */
  readonly errors: number
  /** By kind of request and status: `execute 503`. */
  readonly errorsBy: Readonly<Record<string, number>>
  /** Replies with 429, which a deployment may answer. */
  readonly limited: number
  /** Requests that were due and could not be sent. */
  readonly notSent: number
}

/** The time that the generator has for its answer, on top of the time it measures. */
const GRACE_MS = 30_000

/**
 * @param of.seconds of a run, or of each of its stages
 * @param stack takes the load generator
 */
export function openSession(
  subject: Subject,
  requests: Requests,
  of: { seconds: number; settle: Scenario['settle']; errorShareMax: number },
  stack: AsyncDisposableStack,
) {
  const { url, own, slowsDown } = subject
  const { seconds, settle, errorShareMax } = of
  const program = stack.use(openProgram<LoadJob, LoadResult, Progress>('load.ts'))
  const runs: Run[] = []
  const problems: string[] = []
  const stores = own !== undefined && requests.kinds.some(({ leaves = {} }) => Object.keys(leaves).length > 0)
  const answered = () => sum(runs.map(({ counts }) => counts.right))
  let isLimitSaid = false
  let rested = { answered: 0, bytes: Number.NaN }

  async function drive(
    { generator, requests: sent = requests }: { readonly generator: Generator; readonly requests?: Requests },
    connections: number,
    stages?: readonly Stage[],
  ): Promise<Run> {
    const wholeSeconds = seconds * (stages?.length ?? 1)
    const limits = { slowsDown, errorShareMax }
    const walFrom = await walBytes(own)
    const since = new Date()
    const from = readGauges(own)
    const job: LoadJob = { generator, url, ...sent, connections, seconds, stages, ...limits }
    const load = await program.run(job, {
      withinMs: wholeSeconds * 1000 + GRACE_MS,
      onProgress: (progress) => {
        if (progress.limited > 0 && !isLimitSaid) say(limitText(progress.limit))
        isLimitSaid ||= progress.limited > 0
        sayProgress(progress.seconds, progressText(progress, wholeSeconds, connections))
      },
    })
    sayProgress()
    const counts = countsOf(sent, load, limits, `at ${connections} connections`)
    const { right } = counts
    const settled: Round = (own && (await settle?.(own.database, since))) ?? {}
    const to = readGauges(own)
    const rss = own && rssBytes(own.service.pids.service)
    const sizes = (await own?.service.takeBatchSizes()) ?? []
    const figures: Round = {
      ...batchesOf(sizes),
      'RSS MiB': rss && rss / 2 ** 20,
      'WAL B': ((await walBytes(own)) - walFrom) / right,
    }
    const cpu = {
      ...cpuBetween(from.cpu, to.cpu, right),
      generator: load.cpuMicros,
      'its core %': load.coreShare * 100,
    }
    const ran = {
      senders: sent.senders,
      load,
      counts,
      perSecond: right / load.seconds,
      figures,
      settled,
      cpu,
    }
    return { ...ran, disturbance: disturbedBetween(from, to) }
  }

  return {
    subject,
    requests,
    runs: runs as readonly Run[],
    problems: problems as readonly string[],
    /** Right replies of all runs so far. */
    answered,
    /** @returns bytes that each reply since the last call has left; not a number at the first call, and where replies leave nothing */
    async takeBytesAtRest(): Promise<number> {
      if (!stores) return Number.NaN
      const last = rested
      rested = { answered: answered(), bytes: await storedBytes(own.database) }
      return (rested.bytes - last.bytes) / (rested.answered - last.answered)
    },
    /**
     * @param stages undefined: open throttle
     * @throws Error with a sentence where more replies are wrong than are tolerated
     */
    async run(...given: Parameters<typeof drive>): Promise<Run> {
      const ran = await drive(...given)
      runs.push(ran)
      return ran
    },
    /** Does some runs, and checks that the database has grown by their replies. */
    async counted(work: () => Promise<void>): Promise<void> {
      if (own === undefined) return work()
      const first = runs.length
      const from = await countLeft(own.database, requests.kinds)
      await work()
      const to = await countLeft(own.database, requests.kinds)
      const replies = runs.slice(first).map(({ load }) => load.replies)
      problems.push(...miscounted({ from, to }, requests.kinds, replies))
    },
  }
}

export type Session = ReturnType<typeof openSession>

/** @returns milliseconds that so many percent of the right replies took at most */
export function latencyOf({ load }: Run, percent: number): number | undefined {
  return load.latency.find((one) => one.percent === percent)?.ms
}

/** CPU time by part, and that of other programs: only differences mean something. */
export function readGauges(own: Subject['own']) {
  return { ms: performance.now(), cpu: own && cpuTimes(own.service.pids), disturbance: disturbance() }
}

type Gauges = ReturnType<typeof readGauges>

/** @returns percent of all cores */
export function disturbedBetween(from: Gauges, to: Gauges): Round {
  const percent = (part: 'steal' | 'others') =>
    ((to.disturbance?.[part] ?? Number.NaN) - (from.disturbance?.[part] ?? Number.NaN)) /
    ((to.ms - from.ms) * 10 * availableParallelism())
  return { 'steal %': percent('steal'), 'others %': Math.max(0, percent('others')) }
}

/** @returns where PostgreSQL's log ends; not a number for a deployment */
async function walBytes(own: Subject['own']): Promise<number> {
  const result = await own?.database.query<{ at: string }>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text AS at`,
  )
  return Number(result?.rows[0]?.at)
}

/** @param sizes the size of each request's batch: a batch of n stands there n times */
function batchesOf(sizes: readonly number[]): Round {
  if (sizes.length === 0) return {}
  const mean = sizes.length / sum(sizes.map((size) => 1 / size))
  return { 'batch mean': mean, 'batch max': Math.max(...new Set(sizes)) }
}

/** Advice to an operator about a status. */
const ADVICE: Readonly<Record<string, string>> = {
  0: 'no reply: the connection broke, or nothing came within ten seconds',
  401: 'the service does not know this key',
  403: 'this key may not invoke the action or assert the principal; or, where it is POLICY_DENIED, --signals and --parameters do not agree',
  404: 'the service does not have this policy, or this route',
  429: 'the rate limit: raise RATE_LIMIT_EXECUTE_PER_MINUTE of the deployment for the measurement, or send with more keys',
  503: 'OVERLOADED: fewer connections, or a higher QUEUE_REQUESTS_MAX (one caller has a quarter of it)',
}

/** @returns ` (…)`, or nothing */
export const advice = (status: number | string) =>
  ADVICE[status] === undefined ? '' : ` (${ADVICE[status]})`

/** @throws Error with a sentence where too many replies are wrong */
function countsOf(
  { kinds }: Requests,
  { replies, wrong, notSent }: LoadResult,
  { slowsDown, errorShareMax }: Pick<LoadJob, 'slowsDown' | 'errorShareMax'>,
  where: string,
): Counts {
  const all = kinds.flatMap(({ name, status: must }) =>
    Object.entries(replies[name] ?? {}).map(([status, count]) => ({ name, must, status, count })),
  )
  const count = (of: typeof all) => sum(of.map((one) => one.count))
  const others = all.filter(({ status, must }) => Number(status) !== must)
  const errors = others.filter(({ status }) => !slowsDown || status !== '429')
  const counts: Counts = {
    notSent,
    errorsBy: Object.fromEntries(errors.map((one) => [`${one.name} ${one.status}`, one.count])),
    right: count(all) - count(others),
    errors: count(errors),
    limited: count(others) - count(errors),
  }
  const share = counts.errors / count(all)
  if (counts.right > 0 && share <= errorShareMax) return counts
  const sentences = others.map(({ name, must, status, count: n }) => {
    const said = wrong[`${name} ${status}`] ?? ''
    return `${n} replies to ${name} with status ${status} in place of ${must}${advice(status)}${said === '' ? '' : `, the first: ${said}`}`
  })
  const much = `${text(share * 100)} % errors, more than --max-error-percent ${text(errorShareMax * 100)}: `
  throw new Error(`${errorShareMax > 0 ? much : ''}${sentences.join('; ')} (${where})`)
}

/** @param policy of the header RateLimit-Policy, as `"execute";q=600;w=60` */
function limitText(policy: string | undefined): string {
  const limits = Array.from(
    (policy ?? '').matchAll(/"([^"]+)";q=(\d+);w=(\d+)/g),
    ([, name, quota, window]) => `${quota} in ${window} s (${name})`,
  )
  const known = limits.length === 0 ? '' : `, which is ${limits.join(' and ')} for a caller`
  return `429: this measures the rate limit of the deployment${known}: raise it for the measurement, send with more keys, or at a lower --rate`
}

function progressText(progress: Progress, wholeSeconds: number, connections: number): string {
  const { seconds, perSecond, p99Ms, errors, limited } = progress
  const now = `${text(perSecond)} replies/s, p99 ${text(p99Ms)} ms`
  const at = `${connections} connections, ${seconds.toFixed(0)} of ${text(wholeSeconds)} s`
  return `${at}: ${now}; so far ${errors} errors, ${limited} × 429`
}
