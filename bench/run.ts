// One run of the generator against a subject, and the runs of one subject: driven, counted against the database, remembered.
import { availableParallelism } from 'node:os'
import { cpuBetween, cpuTimes, rssMiB, type CpuTimes } from './cpu.ts'
import { countRows, miscounted } from './evidence.ts'
import { sum } from './figures.ts'
import type { LoadJob, LoadResult } from './load.ts'
import { openProgram } from './program.ts'
import type { Requests, Scenario, Subject } from './scenario.ts'

export interface Run {
  readonly load: LoadResult
  /** Replies; all have the status they must have. */
  readonly replies: number
  /** CPU microseconds per reply: used, and what all cores had to give. */
  readonly cpu: CpuTimes | undefined
  readonly coreMicros: number
  /** For each request in a batch, the requests that shared it. */
  readonly batchSizes: readonly number[]
  /** Per reply, by their names. */
  readonly more: Readonly<Record<string, number>>
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
  const load = stack.use(openProgram<LoadJob, LoadResult>('load.ts'))
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
    const result = await load.run(job, { withinMs: seconds * 1000 + GRACE_MS })
    const replies = sum(Object.values(result.replies).flatMap((counts) => Object.values(counts)))
    const unexpected = unexpectedReplies(requests, result.replies)
    if (unexpected.length > 0) throw new Error(`${unexpected.join('; ')} (at ${connections} connections)`)
    const settled = own && (await settle?.(own.database, since))
    const to = cpu()
    const elapsedMicros = (performance.now() - startMs) * 1000
    const rss = own && rssMiB(own.service.pids.service)
    const ran: Run = {
      load: result,
      replies,
      cpu: cpuBetween(from, to, replies),
      coreMicros: (elapsedMicros * availableParallelism()) / replies,
      batchSizes: (await own?.service.takeBatchSizes()) ?? [],
      more: {
        ...(rss === undefined ? {} : { 'RSS MiB': rss }),
        ...(own === undefined ? {} : { 'WAL B': ((await walBytes()) - walFrom) / replies }),
        ...settled,
      },
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
      const replies = runs.slice(first).map(({ load: { replies: of } }) => of)
      problems.push(...miscounted({ from, to }, requests.kinds, replies))
    },
  }
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

function unexpectedReplies({ kinds }: Requests, replies: LoadResult['replies']): string[] {
  return kinds.flatMap(({ name, status: expected }) =>
    Object.entries(replies[name] ?? {})
      .filter(([status]) => Number(status) !== expected)
      .map(
        ([status, count]) =>
          `${count} replies to ${name} with status ${status} in place of ${expected}${advice(status)}`,
      ),
  )
}

/** ` (…)`, or nothing. */
export function advice(status: number | string): string {
  const text = ADVICE[status]
  return text === undefined ? '' : ` (${text})`
}
