// The shape of a scenario, and what it may use while it sets itself up.
import type { MeasureOptions, Measured } from './measure.ts'
import { filledOnce, type RequestKind } from './request.ts'
import type { ServiceOptions } from './service.ts'
import { call, type Subject } from './subject.ts'
import { transactionBody, type TransactionOptions } from './transaction.ts'

export interface Scenario {
  readonly name: string
  /** One sentence for the reader of a report. */
  readonly description: string
  /** Only against a service of the bench's own: it needs other settings of it, or its database. */
  readonly isLocal?: true
  /** Settings of that service. */
  readonly service?: Partial<ServiceOptions>
  /** Connection counts, one after another, where the command line names none. */
  readonly connections: readonly number[]
  /** Measured with that many stored records, one level after another. */
  readonly hasLevels?: true
  /** The floor and the yardsticks are measured beside it in every round. */
  readonly hasYardsticks?: true
  /** Where it is not for every transaction of a caller. */
  readonly isPossible?: (transaction: TransactionOptions) => boolean
  readonly setUp: (setting: Setting) => Promise<Requests>
}

/** One whose figures are others than those of a load: it measures them itself. */
export interface SelfMeasured {
  readonly name: string
  readonly description: string
  readonly isLocal: true
  readonly estimatedSeconds: (options: Pick<MeasureOptions, 'seconds' | 'rounds'>) => number
  readonly measure: (options: MeasureOptions, stack: AsyncDisposableStack) => Promise<Measured>
}

export interface Setting {
  readonly subject: Subject
  /** How many records a scenario that reads stores beforehand. */
  readonly storedCount: number
  /** Takes what has to be undone. */
  readonly stack: AsyncDisposableStack
}

export interface Requests {
  readonly kinds: readonly RequestKind[]
  readonly stored: readonly string[]
}

/** Rows of one approved execution. */
export const EXECUTION_ROWS = {
  business_transactions: 1,
  execution_intents: 1,
  trust_records: 1,
  verifications: 1,
  receipts: 1,
}

export function executions(transaction: TransactionOptions): RequestKind {
  return {
    name: 'execute',
    method: 'POST',
    path: '/execute',
    body: transactionBody(transaction),
    status: 200,
    stores: EXECUTION_ROWS,
    evidence: 'trust-record',
  }
}

const STORING_AT_ONCE = 16

/** Executes so many. out  their ids · fails with what was answered in place of a 200 */
export async function storedRecords({ subject, storedCount }: Setting): Promise<string[]> {
  const body = transactionBody(subject.transaction)
  const ids: string[] = []
  const one = async () => {
    const filled = filledOnce(body)
    const { status, text } = await call(subject, 'POST', '/execute', filled)
    if (status !== 200) throw new Error(`POST /execute answered ${status}: ${text}`)
    ids.push((JSON.parse(filled) as { businessTransactionId: string }).businessTransactionId)
  }
  for (let left = storedCount; left > 0; left -= STORING_AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(left, STORING_AT_ONCE) }, one))
  return ids
}
