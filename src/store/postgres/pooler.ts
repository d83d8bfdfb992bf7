// A connection pooler between the service and PostgreSQL (docs/handbook/scaling.md "PgBouncer").
import { DatabaseError } from 'pg'
import { openPool } from './sql.ts'
import { inTransaction } from './transaction.ts'

/** The prepared statement does not exist (SQLSTATE 26000), or another client has one of that name (42P05). */
const NOT_OURS = /^(26000|42P05)$/

/**
 * Checks that a prepared statement still exists when its connection uses it: a pooler in transaction mode that does not keep
 * prepared statements gives each transaction another server connection, and executions would fail under load.
 *
 * @param connectionString of the service's database
 * @throws Error with a sentence for the operator where it does not
 */
export async function requirePreparedStatements(connectionString: string): Promise<void> {
  const pool = openPool(connectionString, 2)
  const prepared = { name: 'prepared_before', text: 'SELECT 1' }
  try {
    const one = await pool.connect()
    try {
      await one.query(prepared)
      // Occupies the server connection that has the prepared statement, if a pooler gives that connection to any client.
      await inTransaction(pool, async (other) => {
        await other.query('SELECT 1')
        await one.query(prepared)
      })
    } finally {
      one.release(true)
    }
  } catch (cause) {
    if (!(cause instanceof DatabaseError && NOT_OURS.test(cause.code ?? ''))) throw cause
    throw new Error(
      'The pooler of DATABASE_URL does not keep prepared statements: use its session mode, or PgBouncer 1.21 or newer with max_prepared_statements.',
      { cause },
    )
  } finally {
    await pool.end()
  }
}
