// JSON that callers wrote, as PostgreSQL can read it. A text of PostgreSQL has no U+0000, and where JSON has an escaped one, no member of it is read,
// whatever the query: U+FFFD stands for it in all that is found and compared. What is stored, hashed and signed keeps it.

/** SQL of a stored JSON text as a value of type `json`. */
export const storedJson = (text: string): string => String.raw`replace(${text}, '\u0000', '\ufffd')::json`

/** A value as JSON that is compared with what `storedJson` reads. */
export const plainJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(String.raw`\u0000`, String.raw`\ufffd`)

/** A text as `storedJson` reads it, and as columns hold it that are made of what callers wrote. */
export const plainText = (text: string): string => text.replaceAll('\0', '\u{fffd}')
