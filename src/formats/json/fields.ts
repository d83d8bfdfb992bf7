// Reads received JSON: its objects and the places in it.

export type Fields = Record<string, unknown>

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The steps of a JSON pointer (RFC 6901). */
export function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Only own members of objects: neither a prototype's nor a list's `length` can pass for a value that the caller sent. */
export function memberAt(value: unknown, members: readonly string[]): unknown {
  let at = value
  for (const member of members) at = isObject(at) && Object.hasOwn(at, member) ? at[member] : undefined
  return at
}
