// Last step: record, verification, receipt and the closed intent in one commit. Only then is the execution answered.
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { failures } from '../../src/errors.ts'
import { trustRecordText } from '../../src/sealed.ts'
import { closeIntents } from '../../src/tables/execution-intents.ts'
import { inTransaction, isUnavailable, type Sql } from '../../src/tables/sql.ts'
import { readRecordBodies, storeRecords } from '../../src/tables/trust-records.ts'
import type { ReceiptedExecution } from './receipt.ts'
import { Answered, stillGoing } from './road.ts'

// The effect has happened: a database that is back within the intent's deadline margin still gets its evidence.
const RETRY_DELAYS_MS = [50, 200, 500, 1_000]

/**
 * Stores a batch and answers it: 200 with the record, 500 for an execution that failed for certain.
 * fails as answers: 502 where the evidence could not be stored; its intent stays RELEASED, in doubt, never to be repeated
 */
export async function store(
  executions: readonly (ReceiptedExecution | Answered)[],
  pool: Pool,
): Promise<Answered[]> {
  const causes = await storeOrCause(sortedById(stillGoing(executions)), pool)
  return executions.map((item) => {
    if (item instanceof Answered) return item
    const cause = causes.get(item)
    if (cause !== undefined) return new Answered(item.request, failures.outcomeUnknown(cause))
    return new Answered(item.request, reply(item))
  })
}

function reply({ outcomeOfCall, record, verification, receipt }: ReceiptedExecution) {
  if (outcomeOfCall.kind === 'failed') return failures.executionFailed(outcomeOfCall.reason)
  return {
    body: trustRecordText({ ...record, verifications: [verification.text], receipts: [receipt] }),
  }
}

/** Why each of those that are not stored is not. An item that the database refuses does not fail its neighbours. */
async function storeOrCause(
  executions: readonly ReceiptedExecution[],
  pool: Pool,
): Promise<Map<ReceiptedExecution, unknown>> {
  if (executions.length === 0) return new Map()
  try {
    const settled = await withRetries(() => storeAll(executions, pool))
    const others = executions.filter((item) => !settled.has(idOf(item)))
    return new Map(others.map((item) => [item, 'the intent was settled by somebody else']))
  } catch (error) {
    if (isUnavailable(error) || executions.length === 1)
      return new Map(executions.map((item) => [item, error]))
    const alone = new Map<ReceiptedExecution, unknown>()
    for (const item of executions)
      for (const [failed, cause] of await storeOrCause([item], pool)) alone.set(failed, cause)
    return alone
  }
}

async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (const delayMs of RETRY_DELAYS_MS) {
    try {
      return await work()
    } catch (error) {
      if (!isUnavailable(error)) throw error
      await delay(delayMs)
    }
  }
  return work()
}

/** out  the ids whose stored record is ours */
function storeAll(executions: readonly ReceiptedExecution[], pool: Pool): Promise<Set<string>> {
  return inTransaction(pool, async (sql) => {
    const closed = await close(executions, sql)
    const others = executions.filter((item) => !closed.has(idOf(item)))
    await storeRecords(sql, rowsOf(executions.filter((item) => closed.has(idOf(item)))))
    return others.length === 0 ? closed : closed.union(await storedBefore(others, sql))
  })
}

/** Closes the intents first, which locks them: whoever finds one still RELEASED owns its outcome, a late worker finds none. */
async function close(executions: readonly ReceiptedExecution[], sql: Sql): Promise<Set<string>> {
  const closedAt = new Date().toISOString()
  const idsOf = (kind: 'completed' | 'failed') =>
    executions.filter((item) => item.outcomeOfCall.kind === kind).map(idOf)
  const [finalized, errored] = await Promise.all([
    closeIntents(sql, { ids: idsOf('completed'), state: 'FINALIZED', closedAt }),
    closeIntents(sql, { ids: idsOf('failed'), state: 'ERRORED', closedAt }),
  ])
  return finalized.union(errored)
}

function rowsOf(executions: readonly ReceiptedExecution[]) {
  return {
    records: executions.map((item) => ({
      businessTransactionId: idOf(item),
      callerId: item.request.caller.callerId,
      createdAt: item.recordCreatedAt,
      ...item.record,
    })),
    verifications: executions.map((item) => ({
      businessTransactionId: idOf(item),
      ordinal: 1,
      body: item.verification.text,
    })),
    receipts: executions.map((item) => ({
      businessTransactionId: idOf(item),
      ordinal: 1,
      body: item.receipt,
    })),
  }
}

/** A retry after a commit whose answer was lost finds its own record: that is success. */
async function storedBefore(executions: readonly ReceiptedExecution[], sql: Sql): Promise<Set<string>> {
  const bodies = await readRecordBodies(sql, executions.map(idOf))
  return new Set(executions.filter((item) => bodies.get(idOf(item)) === item.record.body).map(idOf))
}

/** One order for all writers, so that two of them never wait for each other in a circle. */
function sortedById(executions: readonly ReceiptedExecution[]): ReceiptedExecution[] {
  return executions.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
}

function idOf({ transaction }: ReceiptedExecution): string {
  return transaction.businessTransactionId
}
