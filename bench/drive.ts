// One run of the generator against a subject: what it saw, what it cost, and what was wrong.
import { availableParallelism } from 'node:os'
import { cpuBetween, cpuTimes, type CpuTimes } from './cpu.ts'
import { sum } from './figures.ts'
import type { LoadJob, LoadResult } from './load.ts'
import { rssMiB } from './memory.ts'
import type { Program } from './program.ts'
import type { Requests } from './scenario.ts'
import type { Subject } from './subject.ts'

export interface Run {
  readonly load: LoadResult
  /** Replies; all have the status they must have. */
  readonly replies: number
  /** CPU microseconds per reply: used, and what all cores had to give. */
  readonly cpu: CpuTimes | undefined
  readonly coreMicros: number
  /** Of each request that travelled in a batch: how many shared it. */
  readonly batchSizes: readonly number[]
  /** PostgreSQL's log, per reply. */
  readonly walBytes: number | undefined
  /** Of the service, at the end. */
  readonly rssMiB: number | undefined
}

export type Pace = Pick<LoadJob, 'connections' | 'seconds' | 'ratePerSecond'>

/** For the generator to answer, on top of the time it measures. */
const GRACE_MS = 30_000

/** fails with a sentence at any reply that is not what it must be */
export async function drive(
  { url, key, own }: Subject,
  { kinds, stored }: Requests,
  load: Program<LoadJob, LoadResult>,
  pace: Pace,
): Promise<Run> {
  const wal = async () => {
    const result = await own?.database.query<{ at: string }>(
      `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text AS at`,
    )
    return Number(result?.rows[0]?.at)
  }
  const cpu = () => own && cpuTimes(own.service.pids)
  const walFrom = await wal()
  const startMs = performance.now()
  const from = cpu()
  const result = await load.run(
    { url, key, kinds, stored, ...pace },
    { withinMs: pace.seconds * 1000 + GRACE_MS },
  )
  const to = cpu()
  const elapsedMicros = (performance.now() - startMs) * 1000
  const rss = own && rssMiB(own.service.pids.service)
  const replies = sum(Object.values(result.replies).flatMap((counts) => Object.values(counts)))
  const unexpected = unexpectedReplies({ kinds, stored }, result.replies)
  if (unexpected.length > 0) throw new Error(`${unexpected.join('; ')} (at ${pace.connections} connections)`)
  return {
    load: result,
    replies,
    cpu: cpuBetween(from, to, replies),
    coreMicros: (elapsedMicros * availableParallelism()) / replies,
    batchSizes: (await own?.service.takeBatchSizes()) ?? [],
    walBytes: own && ((await wal()) - walFrom) / replies,
    rssMiB: rss,
  }
}

/** What an operator can do about it, where the status says. */
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
