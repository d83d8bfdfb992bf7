// Times in signed artifacts, some from humans' tools (RFC 3339), as milliseconds: every implementation reads them alike, or not at all.

const TIMESTAMP =
  /^([1-9]\d{3}-\d{2}-\d{2})[Tt]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d+))?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/**
 * Milliseconds since 1970; finer digits are cut off. NaN for any other text, including leap seconds: every comparison with
 * NaN is false, so write comparisons that must hold.
 */
export function instantMs(text: string): number {
  const [, date = '', time = '', fraction = '', offset = ''] = TIMESTAMP.exec(text) ?? []
  // Some engines read 30 February as 2 March.
  const midnight = new Date(`${date}T00:00:00.000Z`)
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== date) return Number.NaN
  return Date.parse(`${date}T${time}.${fraction.padEnd(3, '0').slice(0, 3)}${offset.toUpperCase()}`)
}
