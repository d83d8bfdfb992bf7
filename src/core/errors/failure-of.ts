// The failure that answers an error, for every place where one becomes an answer. The tables throw what the driver threw.
import { failures, type Failure } from './errors.ts'
import { isUnavailable } from '../../store/postgres/sql-errors.ts'

/** @returns 503 where the database is away; else a bare 500, with the error as the cause in the log line */
export function failureOf(error: unknown): Failure {
  return isUnavailable(error) ? failures.databaseUnavailable(error) : failures.internal(error)
}
