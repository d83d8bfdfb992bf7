// After a 502 of `finish`: the intent is in doubt at once (decisions §8). After a 502 for a thread that died or took too long, its deadline decides.
import type { Pool } from 'pg'
import { inTransaction } from '../../../src/store/postgres/transaction.ts'
import { markInDoubt } from '../../../src/store/tables/released-batches.ts'
import { within } from '../../../src/core/threads/within.ts'
import type { Performed } from '../perform.ts'

/** The longest delay of the answers, which are known already. */
const NOTED_MS_MAX = 250

/** Best effort: if the database is away or slow, the deadline passes anyway, and the answer is the same. */
export async function putInDoubt(performed: readonly Performed[], pool: Pool): Promise<void> {
  if (performed.length === 0) return
  const ids = performed.map((item) => item.transaction.businessTransactionId)
  const marked = inTransaction(pool, (tx) => markInDoubt(tx, ids))
  await within(NOTED_MS_MAX, marked, undefined).catch(() => undefined)
}
