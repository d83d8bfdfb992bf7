// How every table is written: multi-row VALUES statements, prepared by name in fixed sizes.
import { hash } from 'node:crypto'
import { DatabaseError, Pool, type ClientBase, type QueryResult, type QueryResultRow } from 'pg'
import { Failure, failures } from '../errors.ts'
import { openSilence } from './silence.ts'

/** What runs a statement: a pooled connection inside a transaction, or a pool where one statement is the transaction. */
export type Sql = Pick<ClientBase, 'query'>

export type SqlValue = string | number | Date | Buffer | null

// A batch is cut into these sizes, greatest first, so that each statement is parsed and planned once per connection.
// Multi-row VALUES was measured against unnest(): 20k rows/s to 11–15k (docs/design-notes.md "Parts").
const SIZES = [128, 64, 32, 16, 8, 4, 2, 1] as const

/** A statement over any number of rows; `$rows` in its text is where the VALUES go. */
export interface RowsStatement<Row> {
  readonly name: string
  readonly text: string
  /** Casts of the columns in order: a parameter in VALUES has no type of its own. */
  readonly types: readonly string[]
  readonly values: (row: Row) => readonly SqlValue[]
}

/** Sends a statement over all rows, before it returns; resolves with everything it RETURNs, in no order. */
export async function runRows<Row, Result extends QueryResultRow>(
  sql: Sql,
  statement: RowsStatement<Row>,
  rows: readonly Row[],
): Promise<Result[]> {
  const sent: Promise<QueryResult<Result>>[] = []
  let start = 0
  for (const size of SIZES) {
    for (; rows.length - start >= size; start += size) {
      const values = rows.slice(start, start + size).flatMap(statement.values)
      sent.push(
        sql.query<Result>({ name: `${statement.name}_${size}`, text: textFor(statement, size), values }),
      )
    }
  }
  return (await Promise.all(sent)).flatMap((result) => result.rows)
}

const texts = new Map<string, string>()

function textFor(statement: RowsStatement<never>, size: number): string {
  const key = `${statement.name}_${size}`
  let text = texts.get(key)
  if (text === undefined) {
    const row = (r: number) =>
      `(${statement.types.map((type, c) => `$${r * statement.types.length + c + 1}::${type}`).join(', ')})`
    text = statement.text.replace('$rows', Array.from({ length: size }, (_, r) => row(r)).join(', '))
    texts.set(key, text)
  }
  return text
}

/**
 * Runs `work` in one transaction. Whatever it throws rolls everything back. What it sends without waiting in between takes one
 * round trip; BEGIN and COMMIT take their own. A statement that travelled with a BEGIN that fails would commit by itself, and a
 * COMMIT that travelled behind a statement that was never sent would commit the rest.
 */
export async function inTransaction<T>(pool: Pool, work: (sql: Sql) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const result = await work(client)
    await client.query('COMMIT')
    client.release()
    return result
  } catch (error) {
    // A connection in an unknown state is closed, which rolls back: nothing of this transaction can leak into the next.
    client.release(true)
    throw error
  }
}

/** As `inTransaction`, rolled back also where `work` ends in a failure: a refusal consumes nothing. */
export async function allOrNothing<T>(
  pool: Pool,
  work: (sql: Sql) => Promise<T | Failure>,
): Promise<T | Failure> {
  let refused: Failure | undefined
  try {
    return await inTransaction(pool, async (sql) => {
      const result = await work(sql)
      if (!(result instanceof Failure)) return result
      refused = result
      throw new Error('refused')
    })
  } catch (error) {
    if (refused !== undefined) return refused
    throw error
  }
}

/** A name that is locked; shared, against those alone who take it whole. */
export interface AdvisoryLock {
  readonly key: string
  readonly shared?: true
}

/** Waits for locks that the transaction holds until it ends, in one order for everybody. Who waits is served in turn. */
export async function takeLocks(sql: Sql, locks: readonly AdvisoryLock[]): Promise<void> {
  if (locks.length === 0) return
  await sql.query({
    name: 'advisory_locks',
    text: `
      SELECT CASE WHEN shared THEN pg_advisory_xact_lock_shared(number) ELSE pg_advisory_xact_lock(number) END
      FROM (
        SELECT number, bool_and(shared) AS shared FROM unnest($1::bigint[], $2::boolean[]) AS asked (number, shared)
        GROUP BY number ORDER BY number
      ) AS sorted`,
    values: [locks.map(({ key }) => lockNumber(key)), locks.map(({ shared }) => shared === true)],
  })
}

/** 64 bits of a hash, as text. */
function lockNumber(key: string): string {
  return hash('sha256', key, 'buffer').readBigInt64BE().toString()
}

/** What pg says when a connection is not to be had or is lost; it has no class or code for that. */
const CONNECTION_LOST =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/

const UNAVAILABLE = /^(08|28|3D|53|57|58|25006|25P03|25P04|40001|40P01|55P03)/

/**
 * Whether the database is away, as against refusing this statement. It says so by SQLSTATE: class 08 (connection), 28 and 3D (we are
 * not let in), 53 (resources, a full disk), 57 (operator intervention, a statement's time-out), 58 (system), 25006 (read only: a
 * demoted primary), 25P03 and 25P04 (it ended a transaction of ours), 55P03 (somebody holds a lock for too long), 40P01 (we were
 * chosen to break a deadlock), 40001 (a replica ends a read that holds up its replay; no isolation level of ours knows it
 * otherwise). The socket says so by a system error, pg by its message. Everything else is a mistake of ours, and retrying or
 * answering 503 would hide it.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseError) return UNAVAILABLE.test(error.code ?? '')
  if (error instanceof AggregateError) return error.errors.every(isUnavailable)
  if (!(error instanceof Error)) return false
  return ('syscall' in error && 'errno' in error) || CONNECTION_LOST.test(error.message)
}

/** What a caller is told of an error that nobody answered for: that the database is away, or a bare 500. */
export function failureOf(error: unknown): Failure {
  return isUnavailable(error) ? failures.databaseUnavailable(error) : failures.internal(error)
}

/** Whether a row stands already where a statement would put one (SQLSTATE 23505). */
export function isTaken(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '23505'
}

/** How long the database may take: told to the server when connecting, so that no statement costs more (docs/handbook/operating.md). */
export interface Patience {
  /** A statement. */
  readonly statementMs: number
  /** For a lock that somebody else holds, such as an ALTER TABLE by hand: less, so that requests do not pile up behind it. */
  readonly lockMs: number
  /** How long a connection is used, however busy. Without it: until it breaks or refuses a statement. */
  readonly connectionSeconds?: number
}

const PATIENCE: Patience = { statementMs: 10_000, lockMs: 3_000 }

/** Who writes finds out that its server was demoted. Who only reads would go on with what that server last knew. */
export const READERS_PATIENCE: Patience = { ...PATIENCE, connectionSeconds: 20 }

/** A thread that is short of the processor comes back to its transaction this late, and is not to lose it for that. */
const IDLE_MS_MIN = 2_400

/** Pool settings that every part of the service shares. */
export function openPool(
  connectionString: string,
  connectionsMax: number,
  { statementMs, lockMs, connectionSeconds = 0 }: Patience = PATIENCE,
): Pool {
  const reach = { connectionString, application_name: 'countersign' }
  const silence = openSilence(reach)
  const pool = new Pool({
    ...reach,
    max: connectionsMax,
    connectionTimeoutMillis: 2_000,
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    // A server that can no longer say that it timed out on this connection, and still answers on others: it is given up.
    query_timeout: statementMs + 2_000,
    // Of an instance that fell silent: what it has locked is free again before anybody gives up waiting for it. No transaction of ours
    // waits for anything but the database, and that of POST /receipt for its signatures.
    idle_in_transaction_session_timeout: Math.max(IDLE_MS_MIN, Math.round(lockMs * 0.8)),
    maxLifetimeSeconds: connectionSeconds,
    // What lies idle is asked for before a firewall forgets it, and replaced where it was forgotten.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Statements are sent without waiting for the ones before them; the server runs them in order.
    pipeline: true,
    stream: silence.stream,
  })
  silence.watch(pool)
  // A connection that breaks fails its statement or is replaced at the next use. It also emits an error, on the pool while it is
  // idle and on itself while it is in use, which without a listener would end the thread.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}
