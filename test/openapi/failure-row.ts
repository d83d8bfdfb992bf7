// The row of src/core/errors/errors.ts that a reply was made by, found by what the reply shows.
import { shownFailures, type FailureRow } from '../../src/server/openapi/failure-rows.ts'

/** Rows whose message says what exactly is wrong: the message in the document is one of many. */
const ONE_OF_MANY: readonly FailureRow[] = ['invalidTransaction', 'invalidQuery', 'invalidField']

/**
 * Finds the row that a failure was made by.
 *
 * @param rows those that the route lists
 * @param failure as the reply shows it; `code` is null where the body has no member for one
 */
export function rowOf(
  rows: readonly FailureRow[],
  { status, error, code }: { status: number; error: string; code: string | undefined | null },
): FailureRow | undefined {
  const alike = rows.filter((row) => {
    const shown = shownFailures[row]
    return shown.status === status && (code === null || shown.code === code)
  })
  return (
    alike.find((row) => !ONE_OF_MANY.includes(row) && sentence(row).test(error)) ??
    alike.find((row) => ONE_OF_MANY.includes(row))
  )
}

/** Matches the row's message with any detail. */
function sentence(row: FailureRow): RegExp {
  const parts = shownFailures[row].message.split(/<\w+>(?:.*<\w+>)?/).map((part) => RegExp.escape(part))
  return new RegExp(`^${parts.join('[\\s\\S]+')}$`)
}
