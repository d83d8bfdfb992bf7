// Measures the floor (bench/floor.ts) in the same rounds as the executions that it is compared with.
import type { Client } from 'pg'
import { cpuBetween, cpuTimes } from './cpu.ts'
import { figureOf } from './figures.ts'
import type { ExecutionTexts, FloorJob, FloorResult } from './floor.ts'
import { openProgram } from './program.ts'
import type { Floor } from './report.ts'
import { filledOnce } from './request.ts'
import type { MeasuredService } from './service.ts'
import { transactionBody } from './transaction.ts'

/** CPU microseconds per execution. */
export interface FloorRound {
  readonly perSecond: number
  readonly program: number
  readonly postgres: number
  readonly total: number
}

/** For the program to answer, on top of the time it measures. */
const GRACE_MS = 30_000
const WARM_UP_SECONDS = 1

/**
 * @param stack takes the program
 * @returns measures one round of so many seconds; the database must hold an execution
 */
export async function openFloor(
  { service, database }: { service: MeasuredService; database: Client },
  { seconds }: { seconds: number },
  stack: AsyncDisposableStack,
): Promise<(seconds: number) => Promise<FloorRound>> {
  const { databaseUrl, pids } = service
  const { rows } = await database.query<Omit<ExecutionTexts, 'request'>>(`
    SELECT t.body AS transaction, t.execution_authorization AS "authorization", r.body AS record, r.seal,
      v.body AS verification, c.body AS receipt
    FROM business_transactions AS t JOIN trust_records AS r USING (business_transaction_id)
      JOIN verifications AS v USING (business_transaction_id) JOIN receipts AS c USING (business_transaction_id)
    LIMIT 1`)
  const [stored] = rows
  if (stored === undefined) throw new Error('no execution is stored')
  const texts = { request: filledOnce(transactionBody({})), ...stored }
  const program = stack.use(openProgram<FloorJob, FloorResult>('floor.ts'))
  const round = async (length: number): Promise<FloorRound> => {
    const from = cpuTimes(pids)
    const job = { databaseUrl, texts, seconds: length }
    const result = await program.run(job, { withinMs: length * 1000 + GRACE_MS })
    const postgres = cpuBetween(from, cpuTimes(pids), result.executions)?.postgres ?? Number.NaN
    return {
      perSecond: result.executions / result.seconds,
      program: result.cpuMicros,
      postgres,
      total: result.cpuMicros + postgres,
    }
  }
  await round(Math.min(seconds, WARM_UP_SECONDS))
  return round
}

export function describeFloor(rounds: readonly FloorRound[]): Floor {
  const of = (part: keyof FloorRound) => figureOf(rounds.map((round) => round[part]))
  return { perSecond: of('perSecond'), program: of('program'), postgres: of('postgres'), total: of('total') }
}
