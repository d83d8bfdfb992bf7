// Measures the floor (bench/floor.ts) in the same rounds as the executions that it is compared with.
import { cpuBetween, cpuTimes } from './cpu.ts'
import { figuresOf, type Round } from './figures.ts'
import type { ExecutionTexts, FloorJob, FloorResult } from './floor.ts'
import { openProgram } from './program.ts'
import { FLOOR, saturation, type ScenarioReport } from './report.ts'
import { filledOnce } from './request.ts'
import type { Subject } from './scenario.ts'
import { transactionBody } from './transaction.ts'

/** The time that the program has for its answer, on top of the time it measures. */
const GRACE_MS = 30_000
const WARM_UP_SECONDS = 1

export type Floor = Awaited<ReturnType<typeof openFloor>>

/**
 * Starts the floor's program and warms it up.
 *
 * @param own a service whose database holds an execution
 * @param seconds of each round
 * @param stack takes the program
 * @returns `measure`, which measures a round, in CPU microseconds per execution; `rounds`, all measured rounds
 */
export async function openFloor(
  { service: { databaseUrl, pids }, database }: NonNullable<Subject['own']>,
  seconds: number,
  stack: AsyncDisposableStack,
) {
  const { rows } = await database.query<Omit<ExecutionTexts, 'request'>>(`
    SELECT t.body AS transaction, t.execution_authorization AS "authorization", r.body AS record, e.body AS "storedRecord",
      e.seal, e.verification, e.receipt
    FROM business_transactions AS t JOIN trust_records AS r USING (business_transaction_id)
      JOIN execution_evidence AS e USING (business_transaction_id)
    LIMIT 1`)
  const [stored] = rows
  if (stored === undefined) throw new Error('no execution is stored')
  const texts = { request: filledOnce(transactionBody({})), ...stored }
  const program = stack.use(openProgram<FloorJob, FloorResult>('floor.ts'))
  const run = async (length: number): Promise<Round> => {
    const from = cpuTimes(pids)
    const job = { databaseUrl, texts, seconds: length }
    const result = await program.run(job, { withinMs: length * 1000 + GRACE_MS })
    const { postgres = Number.NaN } = cpuBetween(from, cpuTimes(pids), result.executions)
    const { executions, cpuMicros: own } = result
    return { 'per s': executions / result.seconds, program: own, postgres, total: own + postgres }
  }
  await run(Math.min(seconds, WARM_UP_SECONDS))
  const rounds: Round[] = []
  return {
    rounds,
    async measure() {
      const round = await run(seconds)
      rounds.push(round)
      return round
    },
  }
}

/** @returns the report with the floor's figures, and the ratio of the service's throughput to the floor's */
export function withFloor(report: ScenarioReport, { rounds }: Floor): ScenarioReport {
  const figures = figuresOf(rounds)
  const service = saturation(report)?.figures['per s']?.median
  const ratio = figuresOf([{ 'service ÷ floor': (service ?? Number.NaN) / (figures['per s']?.median ?? 0) }])
  return { ...report, further: { [FLOOR]: [{ label: 'floor', figures: { ...figures, ...ratio } }] } }
}
