// Makes JSON from callers readable for PostgreSQL, whose texts cannot hold U+0000: an escaped one makes every read of a member fail. Searches and
// comparisons therefore see U+FFFD in its place; stored, hashed and signed texts keep U+0000.

/** SQL of a stored JSON text as a value of type `json`. */
export const storedJson = (text: string): string => String.raw`replace(${text}, '\u0000', '\ufffd')::json`

/** A value as JSON text, for comparison with values that `storedJson` reads. */
export const plainJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(String.raw`\u0000`, String.raw`\ufffd`)

/** A text as `storedJson` reads it, and as columns hold it that are derived from texts of callers. */
export const plainText = (text: string): string => text.replaceAll('\0', '\u{fffd}')
