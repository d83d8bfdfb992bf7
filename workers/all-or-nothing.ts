// A transaction that a refusal undoes.
import type { Pool } from 'pg'
import { Failure } from '../src/core/errors/errors.ts'
import { inTransaction, type Transaction } from '../src/store/postgres/transaction.ts'

/** As `inTransaction`, and rolled back also where `work` returns a failure: a refused request consumes nothing. */
export async function allOrNothing<T>(
  pool: Pool,
  work: (transaction: Transaction) => Promise<T | Failure>,
): Promise<T | Failure> {
  let refused: Failure | undefined
  try {
    return await inTransaction(pool, async (transaction) => {
      const result = await work(transaction)
      if (!(result instanceof Failure)) return result
      refused = result
      throw new Error('refused')
    })
  } catch (error) {
    if (refused !== undefined) return refused
    throw error
  }
}
