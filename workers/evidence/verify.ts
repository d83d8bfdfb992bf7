// POST /verify (interface §4.3): recomputes records as they are stored now and appends what it found.
import { failures } from '../../src/core/errors.ts'
import { inTransaction } from '../../src/core/tables/transaction.ts'
import { appendRows, lockRecords, readLast } from '../../src/core/tables/trust-records.ts'
import type { ThreadContext } from '../context.ts'
import { arriveWithText, forward, stillGoing, type Answered, type InFlight } from '../execute/pipeline.ts'
import { verifyStored } from '../execute/verify.ts'
import { asked, find, idsInOrder, type Found } from './asked.ts'
import { numbering } from './numbered.ts'

/** A batch of requests; each verification is appended to its record, earlier ones stay (interface §3). 409 where it is full. */
export async function verify(
  batch: readonly InFlight[],
  { pool, crypto }: ThreadContext,
): Promise<Answered[]> {
  const found = await find(forward(batch, asked(failures.invalidBusinessTransactionId)), pool) // 400 404
  const verified = forward(found, (item: Found) => {
    const { text } = verifyStored(item.stored, { id: item.id, ...item.stored }, crypto)
    return { ...item, text }
  })
  const ids = idsInOrder(stillGoing(verified))
  if (ids.length === 0) return arriveWithText(verified)
  return inTransaction(pool, async (sql) => {
    await lockRecords(sql, ids)
    const last = await readLast(sql, 'verifications', ids)
    const numbered = forward(verified, numbering('verifications', last)) // 409
    const rows = stillGoing(numbered).map(({ row }) => row)
    sql.runLast(appendRows('verifications', rows))
    return arriveWithText(numbered)
  })
}
