// Times in signed artifacts, some by humans' tools (RFC 3339), as milliseconds: read alike by every implementation, or not at all.

const TIMESTAMP =
  /^([1-9]\d{3}-\d{2}-\d{2})[Tt]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d+))?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/**
 * Milliseconds since 1970; finer digits are cut off. NaN for any other text, leap seconds included: every comparison with
 * it is false, so write comparisons that must hold.
 */
export function instantMs(text: string): number {
  const [, date = '', time = '', fraction = '', offset = ''] = TIMESTAMP.exec(text) ?? []
  // Some engines make 2 March of 30 February.
  const midnight = new Date(`${date}T00:00:00.000Z`)
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== date) return Number.NaN
  return Date.parse(`${date}T${time}.${fraction.padEnd(3, '0').slice(0, 3)}${offset.toUpperCase()}`)
}
