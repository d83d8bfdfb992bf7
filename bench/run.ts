// One run of the generator against a subject, and the runs of one subject: driven, counted against the database, remembered.
import { availableParallelism } from 'node:os'
import { cpuBetween, cpuFigures, cpuTimes, rssBytes } from './cpu.ts'
import { countRows, miscounted } from './evidence.ts'
import { sum, type Round } from './figures.ts'
import type { LoadJob, LoadResult, Replies } from './load.ts'
import { openProgram } from './program.ts'
import type { Requests, Scenario, Subject } from './scenario.ts'

export interface Run {
  readonly load: LoadResult
  /** Replies; all have the status they must have. */
  readonly replies: number
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

export interface Session {
  readonly subject: Subject
  readonly requests: Requests
  readonly runs: readonly Run[]
  /** Anything that is not as it must be. */
  readonly problems: readonly string[]
  /**
   * @param ratePerSecond undefined: open throttle
   * @throws Error with a sentence at any reply that is not what it must be
   */
  run(connections: number, ratePerSecond?: number): Promise<Run>
  /** Does some runs, and checks that the database has grown by what they were answered. */
  counted(work: () => Promise<void>): Promise<void>
}

/** For the generator to answer, on top of the time it measures. */
const GRACE_MS = 30_000

/** @param stack takes the load generator */
export function openSession(
  subject: Subject,
  requests: Requests,
  { seconds, settle }: { seconds: number; settle: Scenario['settle'] },
  stack: AsyncDisposableStack,
): Session {
  const { url, key, own } = subject
  const generator = stack.use(openProgram<LoadJob, LoadResult>('load.ts'))
  const runs: Run[] = []
  const problems: string[] = []
  const cpu = () => own && cpuTimes(own.service.pids)

  async function walBytes(): Promise<number> {
    const result = await own?.database.query<{ at: string }>(
      `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text AS at`,
    )
    return Number(result?.rows[0]?.at)
  }

  async function run(connections: number, ratePerSecond?: number): Promise<Run> {
    const walFrom = await walBytes()
    const since = new Date()
    const startMs = performance.now()
    const from = cpu()
    const job: LoadJob = { url, key, ...requests, connections, seconds, ratePerSecond }
    const load = await generator.run(job, { withinMs: seconds * 1000 + GRACE_MS })
    const unexpected = unexpectedReplies(requests, load.replies)
    if (unexpected.length > 0) throw new Error(`${unexpected.join('; ')} (at ${connections} connections)`)
    const replies = sum(Object.values(load.replies).flatMap((counts) => Object.values(counts)))
    const settled = (own && (await settle?.(own.database, since))) ?? {}
    const used = cpuBetween(from, cpu(), replies)
    const available = ((performance.now() - startMs) * 1000 * availableParallelism()) / replies
    const rss = own && rssBytes(own.service.pids.service)
    const ran: Run = {
      load,
      replies,
      perSecond: replies / load.seconds,
      cpu: { ...cpuFigures(used), generator: load.cpuMicros, 'its core %': load.coreShare * 100 },
      disturbance:
        used === undefined
          ? {}
          : {
              'steal %': (100 * used.steal) / available,
              'others %': Math.max(0, (100 * (used.busy - used.total - load.cpuMicros)) / available),
            },
      figures: {
        ...batchesOf((await own?.service.takeBatchSizes()) ?? []),
        'RSS MiB': rss && rss / 2 ** 20,
        'WAL B': ((await walBytes()) - walFrom) / replies,
      },
      settled,
    }
    runs.push(ran)
    return ran
  }

  return {
    subject,
    requests,
    runs,
    problems,
    run,
    async counted(work) {
      if (own === undefined) return work()
      const first = runs.length
      const from = await countRows(own.database, requests.kinds)
      await work()
      const to = await countRows(own.database, requests.kinds)
      const replies = runs.slice(first).map(({ load }) => load.replies)
      problems.push(...miscounted({ from, to }, requests.kinds, replies))
    },
  }
}

/** @param sizes one for each request, of its batch: a batch of n stands there n times */
function batchesOf(sizes: readonly number[]): Round {
  if (sizes.length === 0) return {}
  const mean = sizes.length / sum(sizes.map((size) => 1 / size))
  return { 'batch mean': mean, 'batch max': Math.max(...new Set(sizes)) }
}

/** What an operator can do about a status. */
const ADVICE: Readonly<Record<string, string>> = {
  0: 'no reply: the connection broke, or nothing came within ten seconds',
  401: 'the service does not know this key',
  403: 'this key may not invoke the action or assert the principal; or, where it is POLICY_DENIED, --signals and --parameters do not agree',
  404: 'the service does not have this policy, or this route',
  429: 'the rate limit: raise RATE_LIMIT_EXECUTE_PER_MINUTE of the deployment for the measurement',
  503: 'OVERLOADED: fewer connections, or a higher QUEUE_REQUESTS_MAX (one caller has a quarter of it)',
}

function unexpectedReplies({ kinds }: Requests, replies: Replies): string[] {
  return kinds.flatMap(({ name, status: expected }) =>
    Object.entries(replies[name] ?? {}).flatMap(([status, count]) =>
      Number(status) === expected
        ? []
        : [`${count} replies to ${name} with status ${status} in place of ${expected}${advice(status)}`],
    ),
  )
}

/** @returns ` (…)`, or nothing */
export function advice(status: number | string): string {
  const advised = ADVICE[status]
  return advised === undefined ? '' : ` (${advised})`
}
