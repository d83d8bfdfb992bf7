// RFC 8785 (JCS) canonical JSON, composed from parts: what has been canonicalized once is spliced in as it stands.
// Imports nothing: the offline verifier runs it in a browser.

/** What RFC 8785 can carry. Anything else is refused, never repaired (decisions §4). */
export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json } | Canonical

/** Text that is already canonical. `canonicalize` splices it unread, so a part is walked once however often it is stored. */
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
 * fails NotCanonical for undefined, NaN, Infinity, lone surrogates, `__proto__` members and objects of any class
 */
export function canonicalize(value: Json): string {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw new NotCanonical('a string holds a lone surrogate')
      return JSON.stringify(value)
    case 'number':
      if (!Number.isFinite(value)) throw new NotCanonical(`${value} is not a finite number`)
      return value === 0 ? '0' : String(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      if (value instanceof Canonical) return value.text
      if (Array.isArray(value)) return canonicalArray(value as readonly Json[])
      return canonicalObject(value as { readonly [key: string]: Json })
    default:
      throw new NotCanonical(`${typeof value} has no canonical form`)
  }
}

function canonicalArray(items: readonly Json[]): string {
  let text = ''
  // By index: a hole is then undefined, and refused.
  for (let i = 0; i < items.length; i++) text += `${i === 0 ? '' : ','}${canonicalize(items[i] as Json)}`
  return `[${text}]`
}

function canonicalObject(value: { readonly [key: string]: Json }): string {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null)
    throw new NotCanonical('an object is not a plain one')
  let text = ''
  for (const key of Object.keys(value).toSorted()) {
    if (key === '__proto__' || !key.isWellFormed()) throw new NotCanonical('a key cannot be signed')
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalize(value[key] as Json)}`
  }
  return `{${text}}`
}
