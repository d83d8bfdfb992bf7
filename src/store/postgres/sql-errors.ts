// Classifies each error once, by the trouble of the database or of the statement that it reports.
import { DatabaseError } from 'pg'

/** pg's messages when it cannot get a connection or loses one: it has no class or code for that. */
const CONNECTION_LOST =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/

/**
 * Messages with SQLSTATE XX000 of a server process that is about to end: on Citus, its server was killed while it waited for another node; or
 * a new connection found no room on a full disk for a file that it writes first.
 */
const CANNOT_GO_ON = /^(postmaster was shut down|could not write init file)/

/** SQLSTATEs, or their classes, of a database that is away. Deadlocks, Citus' nodes and the system have kinds of their own. */
const AWAY = [
  '08', // connection
  '28', // the server does not let us in
  '3D', // no such database
  '53', // resources, such as a full disk
  '57', // operator intervention, a statement's time-out
  '25006', // read only: a demoted primary
  '25P03', // it ended our idle transaction
  '25P04', // it ended a transaction of ours that took too long
  '40001', // a replica ended a read that held up its replay; our isolation levels cause it in no other way
  '55P03', // another session holds a lock for too long
]

/** Errors of the stored values: constraints, data exceptions, limits, and exceptions that a trigger raises; not a missing value. */
const OF_ITS_VALUES = /^(22|23(?!502)|54|P0)/

export type DatabaseTrouble =
  /** The database cannot be reached, or accepts such a statement from no client now. */
  | { readonly kind: 'away' }
  /**
   * The server that we are connected to answers, but a Citus node behind it does not: the coordinator reports 08006. Rows on its other nodes
   * can be read and written.
   */
  | { readonly kind: 'partly away' }
  /** The database rolled the transaction back to break a deadlock: it can be tried again. */
  | { readonly kind: 'deadlock' }
  /** The system of the database failed (class 58), for example with an unreadable disk. */
  | { readonly kind: 'broken'; readonly sqlState: string }
  /** The database refuses the statement whatever its values: damage (class XX), a missing table or right (42), any other unexpected class. */
  | { readonly kind: 'refused'; readonly sqlState: string }
  /** The row to insert exists already. */
  | { readonly kind: 'taken' }
  /** The database refuses these values. */
  | { readonly kind: 'values' }
  /** The error does not come from the database: it is a mistake of ours, which a retry or a 503 would hide. */
  | { readonly kind: 'none' }

/** Judges by SQLSTATE, by the socket's system error, or by pg's message. */
export function classify(error: unknown): DatabaseTrouble {
  if (error instanceof AggregateError) return { kind: error.errors.every(isUnavailable) ? 'away' : 'none' }
  if (!(error instanceof DatabaseError)) return { kind: isOfConnection(error) ? 'away' : 'none' }
  const { code: sqlState, message } = error
  if (CANNOT_GO_ON.test(message)) return { kind: 'away' }
  if (sqlState === undefined) return { kind: 'none' }
  if (sqlState === '08006') return { kind: 'partly away' }
  if (sqlState === '40P01') return { kind: 'deadlock' }
  if (sqlState === '23505') return { kind: 'taken' }
  if (sqlState.startsWith('58')) return { kind: 'broken', sqlState }
  if (AWAY.some((start) => sqlState.startsWith(start))) return { kind: 'away' }
  return OF_ITS_VALUES.test(sqlState) ? { kind: 'values' } : { kind: 'refused', sqlState }
}

function isOfConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  // A file that cannot be read has a path; a socket has none.
  const isOfSocket = 'syscall' in error && 'errno' in error && !('path' in error)
  return isOfSocket || CONNECTION_LOST.test(error.message)
}

const UNAVAILABLE: Readonly<Record<DatabaseTrouble['kind'], boolean>> = {
  away: true,
  'partly away': true,
  deadlock: true,
  broken: true,
  refused: false,
  taken: false,
  values: false,
  none: false,
}

/** Whether the same statement may succeed later, which is what a 503 says. */
export function isUnavailable(error: unknown): boolean {
  return UNAVAILABLE[classify(error).kind]
}

const OF_ROWS: ReadonlySet<DatabaseTrouble['kind']> = new Set(['taken', 'values', 'deadlock'])

/**
 * Whether a statement failed because of its rows, or of other writers of the same rows: it is undone for certain, other statements may
 * succeed, and its connection is sound.
 */
export function isOfRows(error: unknown): boolean {
  return OF_ROWS.has(classify(error).kind)
}

/** SQLSTATEs, or their classes, with which a server ends a connection: it may have committed before. */
const CONNECTION_ENDED = /^(08|25P|57P|XX)/

/** Whether a transaction whose COMMIT was sent may have committed although it failed: its answer may have been lost with the connection. */
export function mayHaveCommitted(error: unknown): boolean {
  return !(error instanceof DatabaseError) || CONNECTION_ENDED.test(error.code ?? '')
}
