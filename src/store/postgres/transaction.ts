// Transactions in few round trips: BEGIN is sent with the first statements of `run`, COMMIT with those of `runLast`; or all of it in one
// message.
import type { Pool, PoolClient, QueryConfig, QueryResultRow } from 'pg'
import { isOfRows } from './sql-errors.ts'
import { rowReader, sendStatements, type Statement, type StatementResult } from './statement-batch.ts'
import type { Sql } from './sql.ts'

/** A connection inside a transaction. */
export interface Transaction extends Sql {
  /** Sends statements at once and resolves to the rows of each. */
  readonly run: <Row>(statements: readonly Statement<Row>[]) => Promise<Row[][]>
  /**
   * Sends statements with the COMMIT. A statement that fails undoes the transaction like any other. If the connection is lost while a
   * statement waits, PostgreSQL goes on to the COMMIT: the caller must be able to find such rows later.
   */
  readonly runLast: (statements: readonly Statement<unknown>[]) => void
}

const BEGIN: Statement = { name: 'BEGIN', text: 'BEGIN', rows: [] }
const COMMIT: Statement = { name: 'COMMIT', text: 'COMMIT', rows: [] }
const ROLLBACK: Statement = { name: 'ROLLBACK', text: 'ROLLBACK', rows: [] }

/**
 * Runs statements as one transaction, which needs one round trip. BEGIN and COMMIT are in the same message: without them Citus would commit
 * the first statement on its own.
 *
 * @returns why it failed; undefined where it has committed. See `mayHaveCommitted`
 * @throws Error where no connection is available: nothing was sent then
 */
export async function inOneMessage(
  pool: Pick<Pool, 'connect'>,
  statements: readonly Statement<unknown>[],
): Promise<unknown> {
  const client = await pool.connect()
  try {
    await sendStatements(client, [BEGIN, ...statements, COMMIT])
    client.release()
    return undefined
  } catch (error) {
    // The next user of the connection does not wait for the ROLLBACK: its statements run behind it.
    const rollback = isOfRows(error) ? sendStatements(client, [ROLLBACK]) : undefined
    rollback?.catch(() => undefined)
    client.release(rollback === undefined)
    return error
  }
}

/** Runs `work` in one transaction. Any error that it throws, and any statement that fails, rolls everything back. */
export async function inTransaction<T>(
  pool: Pick<Pool, 'connect'>,
  work: (transaction: Transaction) => T | Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  try {
    const { transaction, commit } = open(client)
    const result = await work(transaction)
    await commit()
    client.release()
    return result
  } catch (error) {
    // A connection in an unknown state is closed, which rolls back: nothing of this transaction can leak into the next.
    client.release(true)
    throw error
  }
}

/** Runs `read` in a transaction in which every statement sees the database as of one moment. */
export function inSnapshot<T>(pool: Pick<Pool, 'connect'>, read: (sql: Sql) => Promise<T>): Promise<T> {
  return inTransaction(pool, async (sql) => {
    await sql.run([SNAPSHOT])
    return read(sql)
  })
}

const SNAPSHOT: Statement = {
  name: 'snapshot',
  text: 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY',
  rows: [],
}

function open(client: PoolClient): { transaction: Transaction; commit: () => Promise<void> } {
  let begun: Promise<unknown> | undefined
  let ended = false
  const last: Statement<unknown>[] = []

  /** After the end of the transaction, the connection serves another one. */
  function mustBeOpen(): void {
    if (ended) throw new Error('the transaction has ended')
  }

  /** The statements that follow wait for BEGIN's success: after a failed BEGIN a statement would commit on its own. */
  async function send(statements: readonly Statement<unknown>[]): Promise<StatementResult[]> {
    if (begun !== undefined) {
      await begun
      return sendStatements(client, statements)
    }
    const first = sendStatements(client, [BEGIN, ...statements])
    begun = first
    return (await first).slice(1)
  }

  async function query<Row extends QueryResultRow>(statement: string | QueryConfig, values?: unknown[]) {
    mustBeOpen()
    // Not `send([])`: its promise resolves after BEGIN's own, so a statement that is sent later would overtake this one.
    await (begun ??= sendStatements(client, [BEGIN]))
    mustBeOpen()
    return client.query<Row>(statement, values)
  }

  async function run<Row>(statements: readonly Statement<Row>[]): Promise<Row[][]> {
    mustBeOpen()
    const readers = statements.map(rowReader)
    const results = statements.length === 0 ? [] : await send(statements)
    return results.map(({ rows }, nth) => rows.map(readers[nth]!))
  }

  async function commit(): Promise<void> {
    ended = true
    if (begun === undefined && last.length === 0) return
    const results = await send([...last, COMMIT])
    // COMMIT rolls back a transaction in which a statement has failed, and only this tag shows it.
    if (results.at(-1)?.tag !== 'COMMIT') throw new Error('the transaction was rolled back')
  }

  return {
    transaction: {
      query,
      run,
      runLast(statements) {
        mustBeOpen()
        last.push(...statements)
      },
    },
    commit,
  }
}
