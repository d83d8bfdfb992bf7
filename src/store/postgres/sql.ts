// The interface for running statements, and the settings of the pools.
import { hash } from 'node:crypto'
import { Pool, type QueryConfig, type QueryResult, type QueryResultRow } from 'pg'
import { detectDeadConnections } from './dead-connections.ts'
import { pinRest, sessionOf } from './session.ts'

/** Runs statements: a transaction, or a pool, where each statement is a transaction. */
export interface Sql {
  query<Row extends QueryResultRow>(
    statement: string | QueryConfig,
    values?: unknown[],
  ): Promise<QueryResult<Row>>
}

/** A name that is locked. A shared lock waits only for an exclusive one, and the reverse. */
export interface AdvisoryLock {
  readonly key: string
  readonly shared?: true
}

/** Waits for locks that the transaction holds until it ends. All take them in one order; those that wait are served in turn. */
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

/** How long the database may take: set when connecting, so that no statement costs extra (docs/handbook/operating.md). */
interface Patience {
  /** For a statement. */
  readonly statementMs: number
  /** For a lock that another session holds, such as a manual ALTER TABLE: shorter, so that requests do not pile up behind it. */
  readonly lockMs: number
  /** For a new connection. Default: two seconds, since callers wait. */
  readonly connectMs?: number
  /** How long a connection is used, however busy. Default: until it breaks or refuses a statement. */
  readonly connectionSeconds?: number
}

const PATIENCE: Patience = { statementMs: 10_000, lockMs: 3_000 }

/** A write fails once its server was demoted; a connection that only reads would go on reading that server's old state. */
export const READERS_PATIENCE: Patience = { ...PATIENCE, connectionSeconds: 20 }

/** A command may wait: on a busy machine, PostgreSQL may take seconds to start a connection. */
export const COMMAND_PATIENCE: Patience = { ...PATIENCE, connectMs: 30_000 }

/** A starved thread may return to its transaction this late; PostgreSQL must not close the connection before. */
const IDLE_MS_MIN = 2_400

/** Pool settings that every part of the service shares. */
export function openPool(
  connectionString: string,
  connectionsMax: number,
  { statementMs, lockMs, connectMs = 2_000, connectionSeconds = 0 }: Patience = PATIENCE,
): Pool {
  const reach = { ...sessionOf(connectionString), application_name: 'countersign' }
  const dead = detectDeadConnections(reach)
  const pool = new Pool({
    ...reach,
    max: connectionsMax,
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    // For a server that cannot report the timeout on this connection and still answers on others.
    query_timeout: statementMs + 2_000,
    // Frees the locks of an instance that was cut off before others give up waiting for them. Our transactions wait only for the
    // database, and that of POST /receipt also for its signatures.
    idle_in_transaction_session_timeout: Math.max(IDLE_MS_MIN, Math.round(lockMs * 0.8)),
    maxLifetimeSeconds: connectionSeconds,
    // Probes idle connections before a firewall drops them; one that was dropped is replaced.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Statements are sent without waiting for the ones before them; the server runs them in order.
    pipeline: true,
    stream: dead.stream,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, which its types leave out
    onConnect: pinRest,
  })
  dead.watch(pool)
  // A connection that breaks fails its statement or is replaced at the next use. It also emits an error, on the pool while it is
  // idle and on itself while it is in use, which without a listener would end the thread.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => {
    client.on('error', () => undefined)
  })
  return pool
}

/** SQL: a time as the interface writes it, ISO 8601 in UTC with milliseconds or, for a position, microseconds; null where it is null. */
export function isoTime(column: string, fraction: 'MS' | 'US' = 'MS'): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.${fraction}"Z"')`
}

/** Bytes as the text of a parameter. */
export function byteaText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`
}
