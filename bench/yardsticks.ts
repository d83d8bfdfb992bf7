// The floor and the two yardsticks, measured in the same rounds as the executions that they stand beside.
import type { Client } from 'pg'
import { cpuBetween, cpuTimes } from './cpu.ts'
import { figureOf, figureOfAll } from './figures.ts'
import type { ExecutionTexts, FloorJob, FloorResult } from './floor.ts'
import type { LoadJob, LoadResult } from './load.ts'
import type { NaiveJob, NaiveReady } from './naive.ts'
import { openProgram, type Program } from './program.ts'
import type { Yardstick, Yardsticks } from './report.ts'
import { filledOnce } from './request.ts'
import { executions } from './scenario.ts'
import type { MeasuredService } from './service.ts'
import type { SingleRowsJob, SingleRowsResult } from './single-rows.ts'
import { transactionBody } from './transaction.ts'

/** One yardstick in one round. CPU microseconds per execution. */
interface Taken {
  readonly perSecond: number
  readonly programMicros: number
  readonly postgresMicros: number | undefined
}

export type YardstickRound = Readonly<Record<keyof Yardsticks, Taken>>

export interface YardstickRun {
  /** Measures all three, one after another. */
  round(seconds: number): Promise<YardstickRound>
}

/** For a program to answer, on top of the time it measures. */
const GRACE_MS = 30_000
/** Of the single rows, to PostgreSQL. */
const ROW_CONNECTIONS = 16
/** Of the naive implementation, over HTTP; it has 16 to PostgreSQL. */
const NAIVE_CONNECTIONS = 64
const WARM_UP_SECONDS = 1

/** in  stack  takes the programs. The database must hold an execution. */
export async function openYardsticks(
  { service, database }: { service: MeasuredService; database: Client },
  { seconds }: { seconds: number },
  stack: AsyncDisposableStack,
): Promise<YardstickRun> {
  const { databaseUrl, key, pids } = service
  const texts = await storedTexts(database)
  const { transaction, authorization, record, seal, verification, receipt } = texts
  const bytes = transaction + authorization + record + seal + verification + receipt
  const floor = stack.use(openProgram<FloorJob, FloorResult>('floor.ts'))
  const singleRows = stack.use(openProgram<SingleRowsJob, SingleRowsResult>('single-rows.ts'))
  const load = stack.use(openProgram<LoadJob, LoadResult>('load.ts'))
  const server = stack.use(openProgram<NaiveJob, NaiveReady>('naive.ts'))
  const naive = await server.run({ databaseUrl, key }, { withinMs: GRACE_MS })

  const run: YardstickRun = {
    async round(length) {
      const withinMs = length * 1000 + GRACE_MS
      const floored = await beside(pids, () =>
        floor.run({ databaseUrl, texts, seconds: length }, { withinMs }),
      )
      const rows = await beside(pids, () =>
        singleRows.run({ databaseUrl, connections: ROW_CONNECTIONS, seconds: length, bytes }, { withinMs }),
      )
      return {
        floor: {
          perSecond: floored.result.executions / floored.result.seconds,
          programMicros: floored.result.cpuMicros,
          postgresMicros: floored.postgresMicros(floored.result.executions),
        },
        singleRows: {
          perSecond: rows.result.rows / rows.result.seconds,
          programMicros: rows.result.cpuMicros,
          postgresMicros: rows.postgresMicros(rows.result.rows),
        },
        naive: await naiveRound({ load, key, naive, postmaster: pids.postmaster, seconds: length, withinMs }),
      }
    },
  }
  await run.round(Math.min(seconds, WARM_UP_SECONDS))
  return run
}

async function beside<Result>(pids: MeasuredService['pids'], program: () => Promise<Result>) {
  const from = cpuTimes(pids)
  const result = await program()
  const to = cpuTimes(pids)
  return { result, postgresMicros: (executed: number) => cpuBetween(from, to, executed)?.postgres }
}

interface NaiveCase {
  readonly load: Program<LoadJob, LoadResult>
  readonly key: string
  readonly naive: NaiveReady
  readonly postmaster: number
  readonly seconds: number
  readonly withinMs: number
}

async function naiveRound({ load, key, naive, postmaster, seconds, withinMs }: NaiveCase): Promise<Taken> {
  const pids = { service: naive.pid, postmaster }
  const from = cpuTimes(pids)
  const job = { url: naive.url, key, kinds: [executions({})], stored: [], connections: NAIVE_CONNECTIONS }
  const { replies, seconds: elapsed } = await load.run(
    { ...job, seconds, ratePerSecond: undefined },
    { withinMs },
  )
  const { 200: executed = 0, ...others } = replies['execute'] ?? {}
  if (executed === 0 || Object.keys(others).length > 0)
    throw new Error(`the naive implementation answered ${JSON.stringify(replies)}`)
  const cpu = cpuBetween(from, cpuTimes(pids), executed)
  return {
    perSecond: executed / elapsed,
    programMicros: cpu === undefined ? Number.NaN : cpu.door + cpu.workers + cpu.helpers,
    postgresMicros: cpu?.postgres,
  }
}

export function describeYardsticks(rounds: readonly YardstickRound[]): Yardsticks {
  const of = (name: keyof Yardsticks): Yardstick => {
    const taken = rounds.map((round) => round[name])
    return {
      perSecond: figureOf(taken.map(({ perSecond }) => perSecond)),
      programMicros: figureOf(taken.map(({ programMicros }) => programMicros)),
      postgresMicros: figureOfAll(taken.map(({ postgresMicros }) => postgresMicros)),
    }
  }
  return { floor: of('floor'), singleRows: of('singleRows'), naive: of('naive') }
}

/** What one execution received and left in the database. */
async function storedTexts(database: Client): Promise<ExecutionTexts> {
  const { rows } = await database.query<Omit<ExecutionTexts, 'request'>>(`
    SELECT t.body AS transaction, t.execution_authorization AS "authorization", r.body AS record, r.seal,
      v.body AS verification, c.body AS receipt
    FROM business_transactions AS t JOIN trust_records AS r USING (business_transaction_id)
      JOIN verifications AS v USING (business_transaction_id) JOIN receipts AS c USING (business_transaction_id)
    LIMIT 1`)
  const [stored] = rows
  if (stored === undefined) throw new Error('no execution is stored')
  return { request: filledOnce(transactionBody({})), ...stored }
}
