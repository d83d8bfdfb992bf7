// What runs statements, what their errors mean, and the pools' settings.
import { hash } from 'node:crypto'
import { DatabaseError, Pool, type QueryConfig, type QueryResult, type QueryResultRow } from 'pg'
import { detectDeadConnections } from './dead-connections.ts'

/** What runs a statement: a transaction, or a pool where one statement is the transaction. */
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

/** What a connection's process of Citus says, under SQLSTATE XX000, where its server was killed while it waited for another node. */
const COORDINATOR_KILLED = /^postmaster was shut down/

/** SQLSTATEs, or their classes, of a database that is away. */
const UNAVAILABLE = [
  '08', // connection
  '28', // we are not let in
  '3D', // no such database
  '53', // resources, such as a full disk
  '57', // operator intervention, a statement's time-out
  '58', // system
  '25006', // read only: a demoted primary
  '25P03', // it ended a transaction of ours that was idle
  '25P04', // or that took too long
  '40001', // a replica ended a read that held up its replay; no isolation level of ours knows it otherwise
  '40P01', // we were chosen to break a deadlock
  '55P03', // somebody holds a lock for too long
]

/**
 * Whether the database is away, as against refusing this statement: by SQLSTATE, by the socket's system error, or by pg's message.
 * Everything else is a mistake of ours, which a retry or a 503 would hide.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseError)
    return isAwayCode(error.code ?? '') || COORDINATOR_KILLED.test(error.message)
  if (error instanceof AggregateError) return error.errors.every(isUnavailable)
  if (!(error instanceof Error)) return false
  // A file that cannot be read has a path; a socket has none.
  const isOfSocket = 'syscall' in error && 'errno' in error && !('path' in error)
  return isOfSocket || CONNECTION_LOST.test(error.message)
}

const isAwayCode = (code: string) => UNAVAILABLE.some((start) => code.startsWith(start))

/**
 * Whether the server that we are connected to answers, and one behind it does not: a node of Citus, for which the coordinator says
 * SQLSTATE 08006. What is stored on its other nodes can be read and written.
 */
export function isPartlyAway(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '08006'
}

/** Whether the database rolled a transaction back to break a deadlock (SQLSTATE 40P01): it can be tried again. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '40P01'
}

/** Constraints, data exceptions and limits that the stored values can run into, and what a trigger raises; not a missing value. */
const OF_ITS_VALUES = /^(22|23(?!502)|54|P0)/

/**
 * Why the database refuses a statement for reasons other than its values: damage (class XX), its system (58), a missing table or right
 * (42), and any other unexpected class.
 * @returns SQLSTATE; undefined where the database is away, or the values may be the reason
 */
export function sqlStateOfRefusal(error: unknown): string | undefined {
  if (!(error instanceof DatabaseError) || error.code === undefined) return undefined
  const { code } = error
  if (code.startsWith('58')) return code
  return OF_ITS_VALUES.test(code) || isUnavailable(error) ? undefined : code
}

/** Whether a row stands already where a statement would put one (SQLSTATE 23505). */
export function isTaken(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '23505'
}

/** How long the database may take: set when connecting, so that no statement costs more (docs/handbook/operating.md). */
interface Patience {
  /** A statement. */
  readonly statementMs: number
  /** For a lock that somebody else holds, such as an ALTER TABLE by hand: less, so that requests do not pile up behind it. */
  readonly lockMs: number
  /** For a connection. Without it: two seconds, since callers wait. */
  readonly connectMs?: number
  /** How long a connection is used, however busy. Without it: until it breaks or refuses a statement. */
  readonly connectionSeconds?: number
}

const PATIENCE: Patience = { statementMs: 10_000, lockMs: 3_000 }

/** A write finds out that its server was demoted; a connection that only reads would go on with what that server last knew. */
export const READERS_PATIENCE: Patience = { ...PATIENCE, connectionSeconds: 20 }

/** Nobody waits for a command: where a machine is busy, PostgreSQL may start a connection after seconds. */
export const COMMAND_PATIENCE: Patience = { ...PATIENCE, connectMs: 30_000 }

/** A thread that is short of the processor comes back to its transaction this late, and is not to lose it for that. */
const IDLE_MS_MIN = 2_400

/**
 * Session settings, sent when a connection opens. A prepared statement keeps its plan: one made while the table was empty reads all of
 * it until ANALYZE has run, so sequential scans are off. That makes unindexed statements look so dear that PostgreSQL before version 18
 * would compile them at each execution, so that is off too.
 */
const SESSION_OPTIONS = '-c enable_seqscan=off -c jit=off'

/** Ours, then those of `DATABASE_URL?options=…`, which the driver would use in place of ours. The last of a name counts. */
function withSessionOptions(connectionString: string): string {
  // Only spaces are encoded: where the URL has a raw space the driver decodes those of the rest and no other character.
  return connectionString.replace(
    /[?&]options=/,
    (name) => `${name}${SESSION_OPTIONS.replaceAll(' ', '%20')}%20`,
  )
}

/** Pool settings that every part of the service shares. */
export function openPool(
  connectionString: string,
  connectionsMax: number,
  { statementMs, lockMs, connectMs = 2_000, connectionSeconds = 0 }: Patience = PATIENCE,
): Pool {
  const reach = {
    connectionString: withSessionOptions(connectionString),
    options: SESSION_OPTIONS,
    application_name: 'countersign',
  }
  const dead = detectDeadConnections(reach)
  const pool = new Pool({
    ...reach,
    max: connectionsMax,
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    // For a server that cannot report the timeout on this connection and still answers on others.
    query_timeout: statementMs + 2_000,
    // Frees the locks of an instance that was cut off before others give up waiting for them. Our transactions wait for nothing but
    // the database, and that of POST /receipt for its signatures.
    idle_in_transaction_session_timeout: Math.max(IDLE_MS_MIN, Math.round(lockMs * 0.8)),
    maxLifetimeSeconds: connectionSeconds,
    // Probes idle connections before a firewall drops them; one that was dropped is replaced.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Statements are sent without waiting for the ones before them; the server runs them in order.
    pipeline: true,
    stream: dead.stream,
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

/** Bytes as the text of a parameter. */
export function byteaText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`
}
