// Execution intents in tests: put back in doubt, as a restored backup or a crash leaves them, and how they stand.
import type { TestDatabase } from './database.ts'

/**
 * Opens a closed intent again, past its deadline.
 * @param evidence 'kept': the record exists while its intent is still RELEASED; 'lost': there is none, as after a crash
 */
export async function putInDoubt(
  database: TestDatabase,
  id: string,
  evidence: 'kept' | 'lost' = 'lost',
): Promise<void> {
  await database.pool.query(
    `UPDATE execution_intents SET state = 'RELEASED', closed_at = NULL, deadline = now() - interval '1 s'
     WHERE business_transaction_id = $1::uuid`,
    [id],
  )
  if (evidence === 'kept') return
  for (const table of ['execution_evidence', 'appended_verifications', 'appended_receipts'])
    await database.pool.query(`DELETE FROM ${table} WHERE business_transaction_id = $1::uuid`, [id])
}

/**
 * Moves the deadlines of released intents into the past.
 * @throws where one of them is not released
 */
export async function passDeadline(database: TestDatabase, ...ids: string[]): Promise<void> {
  const { rowCount } = await database.pool.query(
    `UPDATE execution_intents SET deadline = now() - interval '1 s'
     WHERE business_transaction_id = ANY($1::uuid[]) AND state = 'RELEASED'`,
    [ids],
  )
  if (rowCount !== ids.length) throw new Error(`of ${ids.length} ${rowCount} were RELEASED`)
}

/** Ids that are noted as in doubt. */
export async function notedInDoubt(database: TestDatabase): Promise<Set<string>> {
  const { rows } = await database.pool.query<{ id: string }>(
    'SELECT business_transaction_id AS id FROM in_doubt_intents',
  )
  return new Set(rows.map(({ id }) => id))
}
