// What the load generator sends, as data that crosses to its process: requests with places that are filled in for each one.
import { createHmac, randomUUID } from 'node:crypto'

/**
 * A kind of request. Places in `path`, `body` and `headers`: `{{0}}` to `{{9}}` are fresh random UUIDs, equal numbers the same one;
 * `{{stored}}` is one of the job's stored ids, picked at random; `{{now}}` is the time.
 */
export interface RequestKind {
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A header with the HMAC-SHA256 of the body, in hexadecimal. */
  readonly hmac?: { readonly header: string; readonly secret: string }
  /** Requests of all kinds are sent in these proportions; 1 where it is left out. */
  readonly weight?: number
  /** What every one of them must be answered. */
  readonly status: number
  /** Rows that PostgreSQL must hold more of for each reply with that status, by table. */
  readonly stores?: Readonly<Record<string, number>>
  /** The evidence that a reply with that status leaves behind, at the id of place `{{0}}` or `{{stored}}`. */
  readonly evidence?: 'trust-record' | 'refusal-record'
}

export interface Message {
  /** Head and body. */
  readonly text: string
  /** Of place `{{0}}`, else of `{{stored}}`; empty where the request has neither. */
  readonly id: string
}

/** Returns a function that makes one message after the other. */
export function messagesOf(
  kind: RequestKind,
  { url, key, stored }: { url: string; key: string; stored: readonly string[] },
): () => Message {
  const { host, pathname } = new URL(url)
  const path = filledIn(pathname.replace(/\/$/, '') + kind.path)
  const body = filledIn(kind.body ?? '')
  const headers = {
    Host: host,
    Authorization: `Bearer ${key}`,
    ...(kind.body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...kind.headers,
  }
  const given = Object.entries(headers)
    .map((header) => `${header.join(': ')}\r\n`)
    .join('')
  const head = filledIn(given)
  // Every place is filled with as many bytes as it was the last time.
  const places = placesFor(stored)
  const length = kind.body === undefined ? '' : `Content-Length: ${Buffer.byteLength(body(places()))}\r\n`
  const isFresh = [kind.path, kind.body, given].some((text) => text?.includes('{{0}}'))
  return () => {
    const place = places()
    const content = body(place)
    const { hmac } = kind
    const signature =
      hmac === undefined
        ? ''
        : `${hmac.header}: ${createHmac('sha256', hmac.secret).update(content).digest('hex')}\r\n`
    return {
      text: `${kind.method} ${path(place)} HTTP/1.1\r\n${head(place)}${signature}${length}\r\n${content}`,
      id: isFresh ? place('0') : stored.length > 0 ? place('stored') : '',
    }
  }
}

/** One text with its places filled, for a single call. */
export function filledOnce(text: string, stored: readonly string[] = []): string {
  return filledIn(text)(placesFor(stored)())
}

/** The names of all places stand still while one message is made. */
type Place = (name: string) => string

function placesFor(stored: readonly string[]): () => Place {
  return () => {
    const values: Record<string, string> = {}
    return (name) => (values[name] ??= fresh(name, stored))
  }
}

/** Random, because ids in rising order would spare the database's indexes what callers do to them. */
function fresh(name: string, stored: readonly string[]): string {
  if (name === 'now') return new Date().toISOString()
  if (name !== 'stored') return randomUUID()
  const id = stored[Math.floor(Math.random() * stored.length)]
  if (id === undefined) throw new Error('there is no stored id to ask for')
  return id
}

/** Cut where the places are: filling them in is all that a request costs the generator. */
function filledIn(text: string): (place: Place) => string {
  const pieces = text.split(/\{\{(\w+)\}\}/)
  return (place) => {
    let filled = pieces[0] ?? ''
    for (let i = 1; i < pieces.length; i += 2) filled += place(pieces[i] ?? '') + (pieces[i + 1] ?? '')
    return filled
  }
}
