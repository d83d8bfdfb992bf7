// An error of the database says whether it is away, refuses this statement, or has the row already.
import { DatabaseError } from 'pg'

/** The texts of pg when a connection is not to be had or is lost; it has no class or code for that. */
const CONNECTION_LOST =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/

/**
 * A connection's process says this under SQLSTATE XX000 before it ends: one of Citus whose server was killed while it waited for another node,
 * and one that opens where a full disk has no room for a file that it writes first.
 */
const CANNOT_GO_ON = /^(postmaster was shut down|could not write init file)/

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
  if (error instanceof DatabaseError) return isAwayCode(error.code ?? '') || CANNOT_GO_ON.test(error.message)
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
