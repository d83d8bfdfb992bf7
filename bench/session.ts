// The runs of one scenario against one subject: driven, counted against the database, and remembered for the check at the end.
import { drive, type Pace, type Run } from './drive.ts'
import { countRows, miscounted } from './evidence.ts'
import type { LoadJob, LoadResult } from './load.ts'
import { openProgram } from './program.ts'
import type { Progress } from './progress.ts'
import type { Requests } from './scenario.ts'
import type { Subject } from './subject.ts'

export interface Session {
  readonly runs: readonly Run[]
  /** What was not as it must be. */
  readonly problems: readonly string[]
  /** Neither figure of it is kept: for V8 to compile, PostgreSQL to plan, and the log to take whole images of pages. */
  warmUp(where: string): Promise<void>
  /** Open throttle. */
  open(connections: number, where: string): Promise<Run>
  /** So many requests per second. */
  paced(ratePerSecond: number, connections: number, where: string): Promise<Run>
  /** Does some of these, and looks whether the database has grown by what they were answered. */
  counted(work: () => Promise<void>): Promise<void>
}

/** Latency is measured at this share of the throughput that the same number of connections reached. */
export const LATENCY_RATE_SHARE = 0.5
export const WARM_UP_CONNECTIONS = 64

interface Of {
  readonly name: string
  readonly subject: Subject
  readonly requests: Requests
  /** Of each run. */
  readonly seconds: number
  readonly progress: Progress
  readonly warmUpConnections: number
}

/** in  stack  takes the load generator */
export function openSession(
  { name, subject, requests, seconds, progress, warmUpConnections }: Of,
  stack: AsyncDisposableStack,
): Session {
  const load = stack.use(openProgram<LoadJob, LoadResult>('load.ts'))
  const runs: Run[] = []
  const problems: string[] = []

  async function run(what: string, pace: Omit<Pace, 'seconds'>): Promise<Run> {
    const ran = await progress.during(`${name}: ${what}`, seconds, () =>
      drive(subject, requests, load, { ...pace, seconds }),
    )
    runs.push(ran)
    return ran
  }

  async function counted(work: () => Promise<void>): Promise<void> {
    if (subject.own === undefined) return work()
    const first = runs.length
    const from = await countRows(subject.own.database)
    await work()
    const to = await countRows(subject.own.database)
    const replies = runs.slice(first).map(({ load: { replies: of } }) => of)
    problems.push(...miscounted({ from, to }, requests.kinds, replies))
  }

  return {
    runs,
    problems,
    counted,
    open: (connections, where) => run(`${where}, open throttle`, { connections, ratePerSecond: undefined }),
    warmUp: (where) =>
      counted(
        async () => void (await run(where, { connections: warmUpConnections, ratePerSecond: undefined })),
      ),
    paced: (ratePerSecond, connections, where) => run(`${where}, fixed rate`, { connections, ratePerSecond }),
  }
}
