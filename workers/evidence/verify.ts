// POST /verify (interface §4.3): recomputes records as they are stored now and appends what it found.
import { failures } from '../../src/errors.ts'
import { inTransaction } from '../../src/tables/transaction.ts'
import { appendRows, lockRecords, readLast } from '../../src/tables/trust-records.ts'
import type { Thread } from '../execute/index.ts'
import { arriveWithText, forward, stillGoing, type Answered, type Travelling } from '../execute/road.ts'
import { verifyStored } from '../execute/verify.ts'
import { asked, find, idsInOrder, type Found } from './asked.ts'
import { numbering } from './numbered.ts'

/** A batch of requests; each verification is appended to its record, earlier ones stay (interface §3). 409 where it is full. */
export async function verify(batch: readonly Travelling[], { pool, crypto }: Thread): Promise<Answered[]> {
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
