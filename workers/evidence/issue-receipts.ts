// POST /receipt (interface §4.3): a new receipt for a record whose latest verification is VERIFIED.
import { failures } from '../../src/core/errors/errors.ts'
import { openSignatureMemo } from '../../src/core/signing/signature.ts'
import { inTransaction, type Transaction } from '../../src/store/postgres/transaction.ts'
import {
  appendReceipts,
  lockRecords,
  readLast,
  type AppendedRow,
} from '../../src/store/tables/trust-records.ts'
import type { ThreadContext } from '../context.ts'
import type { Sealed } from '../../src/store/tables/sealed.ts'
import type { QueuedEntry } from '../../src/store/tables/log-queue.ts'
import { receiptEntry } from '../execute/log-entries.ts'
import { draftReceipt, signReceipts } from '../execute/receipt.ts'
import {
  finishWithText,
  runStage,
  runTogether,
  finishedOf,
  stillGoing,
  type Finished,
  type InFlight,
} from '../in-flight.ts'
import { judgeStored, type Verification } from '../../src/core/evidence/verification.ts'
import { findRecords, idsInOrder, type StoredRecord } from './record-request.ts'
import { numbering } from './numbered.ts'

type Latest = Pick<Verification, 'verificationId' | 'trustRecordHash' | 'status'>

export async function issueReceipts(batch: readonly InFlight[], thread: ThreadContext): Promise<Finished[]> {
  const found = await findRecords(batch, thread.pool, failures.invalidBusinessTransactionId) // 400 404
  const ids = idsInOrder(stillGoing(found))
  if (ids.length === 0) return finishedOf(found)
  return inTransaction(thread.pool, async (sql) => {
    // Until the commit no verification can come between the one that is read here and the receipt for it.
    await lockRecords(sql, ids)
    return receiptLocked(found, { ids, sql, thread })
  })
}

async function receiptLocked(
  found: readonly (StoredRecord | Finished)[],
  { ids, sql, thread }: { ids: readonly string[]; sql: Transaction; thread: ThreadContext },
): Promise<Finished[]> {
  const [verifications, receipts] = await Promise.all([
    readLast(sql, 'verifications', ids),
    readLast(sql, 'receipts', ids),
  ])
  const unsigned = runStage(found, (item) => {
    const latest = latestOf(verifications.get(item.id))
    if (latest?.status !== 'VERIFIED' || !stillHolds(item, latest, thread))
      return failures.receiptNotVerified() // 409
    return { ...item, ...draftReceipt(item.id, latest, thread) }
  })
  const receipted = await runTogether(unsigned, async (items) => {
    const texts = await signReceipts(items, { ...thread, signatureMemo: openSignatureMemo() })
    return items.map((item, i) => ({ ...item, text: texts[i] as string }))
  })
  const numbered = runStage(receipted, numbering('receipts', receipts)) // 409
  const entries = thread.startLogEntries()
  const rows = stillGoing(numbered).map((item) => ({
    ...item.row,
    // The execution has had its event, with its first receipt.
    ...entries.add(() => ({ ...receiptEntry(item, streamsOfRecord(item.stored)), event: 'none' })),
  }))
  sql.runLast([...appendReceipts(rows), ...entries.statements()])
  return finishWithText(numbered)
}

/** @param record verified */
function streamsOfRecord({ body }: Sealed): QueuedEntry['streams'] {
  const { authorization, transaction } = JSON.parse(body) as {
    authorization: { payload: { callerId: string; policyName: string } }
    transaction: { intent: { action: string } }
  }
  const { callerId: caller, policyName: policy } = authorization.payload
  return { caller, capability: transaction.intent.action, policy }
}

/** Undefined where there is none, or where the row was changed and is none any more. */
function latestOf(row: AppendedRow | undefined): Latest | undefined {
  try {
    return row === undefined ? undefined : (JSON.parse(row.body) as Latest)
  } catch {
    return undefined
  }
}

/** A verification is not signed: we sign for a record that verifies now, never because a row says that it did. */
function stillHolds(item: StoredRecord, latest: Latest, { crypto }: ThreadContext): boolean {
  const { trustRecordHash, problems } = judgeStored({ id: item.id, ...item.stored }, crypto)
  return problems.length === 0 && trustRecordHash === latest.trustRecordHash
}
