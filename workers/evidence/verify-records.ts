// POST /verify (interface §4.3): recomputes records as they are stored now and appends the results.
import { failures } from '../../src/core/errors/errors.ts'
import { inTransaction } from '../../src/store/postgres/transaction.ts'
import { appendVerifications, lockRecords, readLast } from '../../src/store/tables/trust-records.ts'
import type { ThreadContext } from '../context.ts'
import { finishWithText, runStage, stillGoing, type Finished, type InFlight } from '../in-flight.ts'
import { verifyStored } from '../../src/core/evidence/verification.ts'
import { findRecords, idsInOrder, type StoredRecord } from './record-request.ts'
import { numbering } from './numbered.ts'

/** A batch of requests; each verification is appended to its record, earlier ones stay (interface §3). 409 where it is full. */
export async function verifyRecords(batch: readonly InFlight[], thread: ThreadContext): Promise<Finished[]> {
  const found = await findRecords(batch, thread.pool, failures.invalidBusinessTransactionId) // 400 404
  const verified = runStage(found, (item: StoredRecord) => {
    const { text } = verifyStored({ id: item.id, ...item.stored }, thread)
    return { ...item, text }
  })
  const ids = idsInOrder(stillGoing(verified))
  if (ids.length === 0) return finishWithText(verified)
  return inTransaction(thread.pool, async (sql) => {
    await lockRecords(sql, ids)
    const last = await readLast(sql, 'verifications', ids)
    const numbered = runStage(verified, numbering('verifications', last)) // 409
    const rows = stillGoing(numbered).map(({ row }) => row)
    sql.runLast(appendVerifications(rows))
    return finishWithText(numbered)
  })
}
