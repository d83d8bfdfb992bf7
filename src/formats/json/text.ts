// Parses JSON text that has exactly one reading, and refuses any other (decisions §3 "Not JSON we accept", RFC 8259 §4, RFC 7493).
// Imports nothing: the offline verifier reads evidence with it in a browser.

/** The reason why a text is not accepted as JSON, for the log line; the caller gets `Malformed JSON body.` */
export class MalformedJson extends Error {
  constructor(what: string) {
    super(what)
    this.name = 'MalformedJson'
  }
}

/**
 * Parses JSON strictly.
 * @param depthMax maximum nesting of arrays and objects
 * @throws MalformedJson for syntax errors, a BOM, duplicate or `__proto__` keys, lone surrogates, too deep nesting, and numbers that
 *   overflow, or underflow to zero
 */
export function parseJsonText(text: string, depthMax: number): unknown {
  const members = scan(text, depthMax)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new MalformedJson(error instanceof Error ? error.message.replace(/".*"/s, '…') : 'syntax error')
  }
  // JSON.parse silently keeps the last of two equal keys: then the value has fewer members than the text.
  if (inspect(value) !== members) throw new MalformedJson('duplicate key')
  return value
}

/**
 * Counts the colons outside of strings, one per member in valid JSON; bounds the depth before any recursion; and refuses numbers
 * that would be parsed as 0, which cannot be detected in the value.
 */
function scan(text: string, depthMax: number): number {
  let members = 0
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x22: // "
        i = endOfString(text, i)
        break
      case 0x3a: // :
        members++
        break
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > depthMax) throw new MalformedJson(`deeper than ${depthMax}`)
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth--
        break
      case 0x2e: // .
        if (text.startsWith(SMALL, i + 1)) i = endOfNumber(text, i) - 1
        break
      case 0x45: // E
      case 0x65: // e
        if (text.charCodeAt(i + 1) === 0x2d) i = endOfNumber(text, i) - 1
        break
    }
  }
  return members
}

/** A number with fewer zeros after its point and no negative exponent is never too small for a double. */
const SMALL = '0'.repeat(300)

/** Returns the end of the number around `at`. Throws MalformedJson for a number other than 0 that would be read as 0. */
function endOfNumber(text: string, at: number): number {
  let start = at
  while (isOfNumber(text.charCodeAt(start - 1))) start--
  let end = at + 1
  while (isOfNumber(text.charCodeAt(end))) end++
  const number = text.slice(start, end)
  if (/^[^eE]*[1-9]/.test(number) && Number(number) === 0) throw new MalformedJson('number out of range')
  return end
}

/** A digit, or one of `.`, `-`, `+`, `e`, `E`. */
function isOfNumber(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    code === 0x2e ||
    code === 0x2d ||
    code === 0x2b ||
    (code | 0x20) === 0x65
  )
}

function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x22) return i
    if (code === 0x5c) i++ // a backslash takes the next character with it
  }
  return text.length
}

/** Counts the members below a parsed value and refuses values that JSON.parse accepts wrongly. */
function inspect(value: unknown): number {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw new MalformedJson('lone surrogate')
    return 0
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new MalformedJson('number out of range')
    return 0
  }
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) return value.reduce<number>((members, item) => members + inspect(item), 0)
  let members = 0
  for (const [key, member] of Object.entries(value)) {
    if (key === '__proto__') throw new MalformedJson('__proto__ key')
    if (!key.isWellFormed()) throw new MalformedJson('lone surrogate in a key')
    members += 1 + inspect(member)
  }
  return members
}
