// Execution intents in tests: put back in doubt, as a restored backup or a crash leaves them, and how they stand.
import { randomUUID } from 'node:crypto'
import { readIntents } from '../src/store/tables/execution-intents.ts'
import { inTransaction } from '../src/store/postgres/transaction.ts'
import { insertTransitions } from '../src/store/tables/intent-transitions.ts'
import { unlogged } from '../src/store/tables/log-queue.ts'
import { findOpen, lockOpen } from '../src/store/tables/released-batches.ts'
import type { TestDatabase } from './database.ts'

/** Puts executions in a batch of open intents whose deadline passed `secondsAgo`; negative: it has not passed. */
export async function openBatch(
  { pool }: Pick<TestDatabase, 'pool'>,
  ids: readonly string[],
  secondsAgo = 1,
): Promise<string> {
  const batch = randomUUID()
  await pool.query(
    `INSERT INTO released_batches (batch, ids, deadline) VALUES ($1::uuid, $2::uuid[], now() - $3 * interval '1 s')`,
    [batch, ids, secondsAgo],
  )
  return batch
}

/**
 * Opens a closed intent again, past its deadline.
 * @param evidence 'kept': the record exists while its intent is still RELEASED; 'lost': there is none, as after a crash
 */
export async function putInDoubt(
  database: TestDatabase,
  id: string,
  evidence: 'kept' | 'lost' = 'lost',
): Promise<void> {
  await openBatch(database, [id])
  if (evidence === 'kept') return
  for (const table of ['execution_evidence', 'appended_verifications', 'appended_receipts'])
    await database.pool.query(`DELETE FROM ${table} WHERE business_transaction_id = $1::uuid`, [id])
}

/** The row of a transition that nobody signed. @param members in the order of their names, as its canonical text has them */
export function aTransitionRow(id: string, members: object) {
  const at = new Date().toISOString()
  const body = JSON.stringify({ at, ...members })
  return { transitionId: randomUUID(), businessTransactionId: id, at, body, seal: '{}', ...unlogged }
}

/**
 * Closes an open intent by somebody's word, with a transition that is not signed.
 * @returns a function that takes it back
 */
export async function closeBySomebody(
  { pool }: Pick<TestDatabase, 'pool'>,
  id: string,
): Promise<() => Promise<void>> {
  const transition = aTransitionRow(id, { resolution: 'EXECUTED', to: 'RESOLVED' })
  await inTransaction(pool, async (tx) => {
    const { takeOut } = await lockOpen(tx, [id])
    await tx.run([...takeOut([id]), ...insertTransitions([transition])])
  })
  return async () => {
    await pool.query('DELETE FROM intent_transitions WHERE transition_id = $1::uuid', [
      transition.transitionId,
    ])
    await openBatch({ pool }, [id])
  }
}

/**
 * Moves the deadlines of released intents into the past, with those of their batches.
 * @throws where one of them is not released
 */
export async function passDeadline(database: TestDatabase, ...ids: string[]): Promise<void> {
  await database.pool.query(
    `UPDATE released_batches SET deadline = now() - interval '1 s' WHERE ids && $1::uuid[]`,
    [ids],
  )
  const open = await findOpen(database.pool, ids)
  if (open.size < ids.length) throw new Error(`of ${ids.length} only ${open.size} were RELEASED`)
}

/** Ids that are noted as in doubt. */
export async function notedInDoubt(database: TestDatabase): Promise<Set<string>> {
  const { rows } = await database.pool.query<{ id: string }>(
    'SELECT business_transaction_id AS id FROM in_doubt_intents',
  )
  return new Set(rows.map(({ id }) => id))
}

/** Undefined where nothing was released. */
export async function intentState(
  { pool }: Pick<TestDatabase, 'pool'>,
  id: string,
): Promise<string | undefined> {
  return (await readIntents(pool, [id])).get(id)?.intent?.state
}
