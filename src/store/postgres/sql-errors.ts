// An error is judged once: by the trouble of the database, or of the statement, that it tells of.
import { DatabaseError } from 'pg'

/** The texts of pg when a connection is not to be had or is lost; it has no class or code for that. */
const CONNECTION_LOST =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/

/**
 * A connection's process says this under SQLSTATE XX000 before it ends: one of Citus whose server was killed while it waited for another node,
 * and one that opens where a full disk has no room for a file that it writes first.
 */
const CANNOT_GO_ON = /^(postmaster was shut down|could not write init file)/

/** SQLSTATEs, or their classes, of a database that is away. Deadlocks, Citus' nodes and the system have kinds of their own. */
const AWAY = [
  '08', // connection
  '28', // we are not let in
  '3D', // no such database
  '53', // resources, such as a full disk
  '57', // operator intervention, a statement's time-out
  '25006', // read only: a demoted primary
  '25P03', // it ended a transaction of ours that was idle
  '25P04', // or that took too long
  '40001', // a replica ended a read that held up its replay; no isolation level of ours knows it otherwise
  '55P03', // somebody holds a lock for too long
]

/** Constraints, data exceptions and limits that the stored values can run into, and what a trigger raises; not a missing value. */
const OF_ITS_VALUES = /^(22|23(?!502)|54|P0)/

export type DatabaseTrouble =
  /** It cannot be reached, or accepts this from no client now. */
  | { readonly kind: 'away' }
  /**
   * The server that we are connected to answers, and one behind it does not: a node of Citus, for which the coordinator says 08006. What is
   * stored on its other nodes can be read and written.
   */
  | { readonly kind: 'partly away' }
  /** It rolled the transaction back to break a deadlock: it can be tried again. */
  | { readonly kind: 'deadlock' }
  /** Its system failed (class 58), as a disk does that cannot be read. */
  | { readonly kind: 'broken'; readonly sqlState: string }
  /** It refuses the statement whatever its values are: damage (class XX), a missing table or right (42), any other unexpected class. */
  | { readonly kind: 'refused'; readonly sqlState: string }
  /** The row to insert exists already. */
  | { readonly kind: 'taken' }
  /** It refuses these values. */
  | { readonly kind: 'values' }
  /** The error is none of the database: a mistake of ours, which a retry or a 503 would hide. */
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

/** Whether the same statement may be taken later: what a 503 says. */
export function isUnavailable(error: unknown): boolean {
  return UNAVAILABLE[classify(error).kind]
}

const OF_ROWS: ReadonlySet<DatabaseTrouble['kind']> = new Set(['taken', 'values', 'deadlock'])

/**
 * Whether a statement failed for its rows, or for others who write the same ones: it is undone for certain, other statements may succeed, and
 * its connection is sound.
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
