// The guard before the front end, for both servers: lets in only requests on whose end all parsers agree (RFC 9112 §6.3, §11.2).
import { plainAddress } from '../client-address.ts'
import type { DropReason, Head } from './listener.ts'

/** Request line and headers together. Over it a parser answers 431 where it can, else the guard drops the connection. */
export const headBytesMax = 16 * 1024
/** uWebSockets.js refuses more by itself; one limit for both. */
const headersMax = 100

interface RawHead {
  readonly method: string
  readonly path: string
  readonly query: string
  /** Lower-case name and value of every line, in the order they came: a merged list would hide duplicates. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Computed only when it is asked for. */
  readonly remoteAddress: () => string
}

/**
 * The head that the front end may see, or why not: then drop the connection without reading on and without a reply, for what follows on it may
 * be a body in one reading and a second request in the other.
 * What both parsers refuse is not repeated here: folded lines, a space before the colon, bare line ends, control characters.
 */
export function guard(raw: RawHead): Head | DropReason {
  const { method, path, query, headers } = raw
  // uWebSockets.js lets any bytes through as a method; node:http lets absolute-form targets through, which only proxies are sent.
  if (!/^[A-Z][A-Z-]*$/.test(method)) return 'method'
  if (!path.startsWith('/')) return 'target'
  if (headers.length > headersMax) return 'size'
  let headBytes = method.length + path.length + query.length
  let contentLength: string | undefined
  let hosts = 0
  for (const [name, value] of headers) {
    headBytes += name.length + value.length + ': \r\n'.length
    if (name === 'transfer-encoding') return 'transfer-encoding'
    if (name === 'host') hosts++
    if (name !== 'content-length') continue
    // Two equal ones as well (RFC 9110 §8.6 leaves the choice). 15 digits stay exact in a double.
    if (contentLength !== undefined || !/^\d{1,15}$/.test(value)) return 'content-length'
    contentLength = value
  }
  if (headBytes > headBytesMax) return 'size'
  if (hosts !== 1) return 'host'
  return {
    method,
    path,
    query,
    headers,
    bodyBytes: Number(contentLength ?? 0),
    remoteAddress() {
      return plainAddress(raw.remoteAddress())
    },
    header(wanted) {
      let found: string | undefined
      for (const [name, value] of headers)
        if (name === wanted) found = found === undefined ? value : `${found}, ${value}`
      return found
    },
  }
}
