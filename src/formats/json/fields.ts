// A JSON object that somebody sent.

export type Fields = Record<string, unknown>

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Own members of objects only: neither a prototype's nor a list's `length` can stand for a value the caller sent. */
export function memberAt(value: unknown, members: readonly string[]): unknown {
  let at = value
  for (const member of members) at = isObject(at) && Object.hasOwn(at, member) ? at[member] : undefined
  return at
}
