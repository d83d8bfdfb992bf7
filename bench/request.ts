// Requests of the load generator are data that cross to its process: requests with places, which are filled in for each request.
import { createHmac, randomUUID } from 'node:crypto'
import type { Leaving } from './left.ts'
import { anyOf } from './pick.ts'

/**
 * A kind of request. Places in `path`, `body` and `headers`: `{{0}}` to `{{9}}` are fresh random UUIDs, equal numbers the same one;
 * `{{stored}}` is one of the sender's stored ids, picked at random, `{{next}}` each of them in turn; `{{principal}}` is its principal;
 * `{{now}}` is the time.
 */
export interface RequestKind extends Leaving {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Used one after the other, and again from the first. */
  readonly bodies?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  /** A header with the HMAC-SHA256 of the body, in hexadecimal. */
  readonly hmac?: { readonly header: string; readonly secret: string }
  /** Requests of all kinds are sent in these proportions. Default: 1. */
  readonly weight?: number
  /** The evidence that a reply with that status leaves behind, at the id of place `{{0}}` or `{{stored}}`. */
  readonly evidence?: 'trust-record' | 'refusal-record'
}

export interface Message {
  readonly method: RequestKind['method']
  readonly path: string
  /** Names and values in turn. */
  readonly headers: readonly string[]
  readonly body: string | undefined
  /** The id in the place `{{0}}`, else in `{{stored}}`; empty where the request has neither. */
  readonly id: string
}

/** A caller of the service. */
export interface Sender {
  /** Raw API key. */
  readonly key: string
  /** The value of the place `{{principal}}`. Default: the caller of the bench's own services. */
  readonly principal?: string
  /** Ids for the place `{{stored}}`: executions of this caller. */
  readonly stored: readonly string[]
}

/** @returns a function that makes one message after the other */
export function messagesOf(
  { method, path, bodies = [], headers, hmac }: RequestKind,
  { url, ...sender }: Sender & { url: string },
): () => Message {
  const pathOf = template(new URL(url).pathname.replace(/\/$/, '') + path)
  const bodiesOf = bodies.map(template)
  const headersOf = Object.entries({
    Authorization: `Bearer ${sender.key}`,
    ...(bodies.length === 0 ? {} : { 'Content-Type': 'application/json' }),
    ...headers,
  }).map(([name, value]) => [name, template(value)] as const)
  const isFresh = [path, ...bodies].some((part) => part.includes('{{0}}'))
  let made = 0
  return () => {
    const place = places(sender, { next: sender.stored[made % sender.stored.length] ?? '' })
    const content = bodiesOf[made++ % bodiesOf.length]?.(place)
    const filled = headersOf.flatMap(([name, value]) => [name, value(place)])
    const signed = (secret: string) => createHmac('sha256', secret).update(content ?? '')
    if (hmac !== undefined) filled.push(hmac.header, signed(hmac.secret).digest('hex'))
    const id = isFresh ? place('0') : sender.stored.length > 0 ? place('stored') : ''
    return { method, path: pathOf(place), headers: filled, body: content, id }
  }
}

/**
 * @param given values of some places, by their names
 * @returns one text with its places filled, for a single call
 */
export function filledOnce(
  body: string,
  sender: Partial<Sender> = {},
  given: Readonly<Record<string, string>> = {},
): string {
  return template(body)(places(sender, given))
}

/** The value of a place, which is the same all through one message. */
type Place = (name: string) => string

function places(sender: Partial<Sender>, given: Readonly<Record<string, string>> = {}): Place {
  const values: Record<string, string> = { ...given }
  return (name) => (values[name] ??= valueOf(name, sender))
}

/** Ids are random, as those of callers are: rising ids would cost the database's indexes less. */
function valueOf(name: string, { stored = [], principal = 'bench' }: Partial<Sender>): string {
  if (name === 'now') return new Date().toISOString()
  // Within the quotes of a JSON text.
  if (name === 'principal') return JSON.stringify(principal).slice(1, -1)
  if (name !== 'stored') return randomUUID()
  return anyOf(stored)
}

/** The text is cut at its places, so that filling them in is all that a request costs the generator. */
function template(whole: string): (place: Place) => string {
  const pieces = whole.split(/\{\{(\w+)\}\}/)
  return (place) => {
    let filled = pieces[0] ?? ''
    for (let i = 1; i < pieces.length; i += 2) filled += place(pieces[i] ?? '') + (pieces[i + 1] ?? '')
    return filled
  }
}
