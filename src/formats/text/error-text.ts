/** The message of any thrown value. If a name has several addresses, each has an error of its own and the whole has no message. */
export function errorText(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(errorText).join(', ')
  return error instanceof Error ? error.message : String(error)
}
