// The failure that answers an error, for every place that turns errors into answers. The tables throw the driver's errors.
import { failures, type Failure } from './errors.ts'
import { isUnavailable } from '../../store/postgres/sql-errors.ts'

/** @returns 503 when the database cannot be reached; else a bare 500, with the error as the cause in the log line */
export function failureOf(error: unknown): Failure {
  return isUnavailable(error) ? failures.databaseUnavailable(error) : failures.internal(error)
}
