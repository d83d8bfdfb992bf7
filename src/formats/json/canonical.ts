// RFC 8785 (JCS) canonical JSON, composed from parts: a text that was canonicalized once is spliced in unchanged.
// Imports nothing: the offline verifier runs it in a browser.

/** The values that RFC 8785 can express. Any other value is refused, never repaired (decisions §4). */
export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json } | Canonical

/** Text that is already canonical. `canonicalize` inserts it unread, so a part is walked once however often it is stored. */
export class Canonical {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A value that has no canonical form. */
export class NotCanonical extends Error {
  constructor(what: string) {
    super(what)
    this.name = 'NotCanonical'
  }
}

/**
 * RFC 8785 text of a value. Members are sorted by UTF-16 code units (§3.2.3), numbers and strings are ECMAScript's own (§3.2.2).
 * @throws NotCanonical for undefined, NaN, Infinity, lone surrogates, `__proto__` members and objects of any class
 */
export function canonicalize(value: Json): string {
  // A value that was parsed from canonical text is in order already: then the engine's own serializer writes the same in a quarter of the time.
  return isInOrder(value) ? JSON.stringify(value) : write(value)
}

/** Whether JSON.stringify writes the RFC 8785 text: members sorted, no part prepared. Throws as `canonicalize` does. */
function isInOrder(value: Json): boolean {
  if (isScalar(value)) return true
  if (value instanceof Canonical) return false
  // By index: a hole is then undefined, and refused.
  if (isList(value)) {
    for (let i = 0; i < value.length; i++) if (!isInOrder(value[i] as Json)) return false
    return true
  }
  let before = ''
  for (const key of keysOf(value)) {
    if (key < before || !isInOrder(value[key] as Json)) return false
    before = key
  }
  return true
}

function write(value: Json): string {
  if (isScalar(value)) return JSON.stringify(value)
  if (value instanceof Canonical) return value.text
  let text = ''
  if (isList(value)) {
    for (let i = 0; i < value.length; i++) text += `${i === 0 ? '' : ','}${write(value[i] as Json)}`
    return `[${text}]`
  }
  const keys = keysOf(value)
  for (const key of areSorted(keys) ? keys : keys.toSorted())
    text += `${text === '' ? '' : ','}${memberName(key)}${write(value[key] as Json)}`
  return `{${text}}`
}

function areSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if ((keys[i] as string) < (keys[i - 1] as string)) return false
  return true
}

const NAMES_MAX = 1_000
/** Longer names are not cached: a caller can write one as long as a body. */
const NAME_LENGTH_MAX = 64
const names = new Map<string, string>()

/** A key as it is written, including the colon. Evidence repeats the same few names; callers' own names are not cached without limit. */
function memberName(key: string): string {
  let name = names.get(key)
  if (name === undefined) {
    name = `${JSON.stringify(key)}:`
    if (names.size < NAMES_MAX && key.length <= NAME_LENGTH_MAX) names.set(key, name)
  }
  return name
}

type Scalar = null | boolean | number | string

function isScalar(value: Json): value is Scalar {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw new NotCanonical('a string holds a lone surrogate')
      return true
    case 'number':
      if (!Number.isFinite(value)) throw new NotCanonical(`${value} is not a finite number`)
      return true
    case 'boolean':
      return true
    case 'object':
      return value === null
    default:
      throw new NotCanonical(`${typeof value} has no canonical form`)
  }
}

function isList(value: Exclude<Json, Scalar | Canonical>): value is readonly Json[] {
  return Array.isArray(value)
}

function keysOf(value: object): string[] {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null)
    throw new NotCanonical('an object is not a plain one')
  const keys = Object.keys(value)
  for (const key of keys)
    if (key === '__proto__' || !key.isWellFormed()) throw new NotCanonical('a key cannot be signed')
  return keys
}
