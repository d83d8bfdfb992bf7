// The guard before the front end, for both servers: lets in only requests on whose end all parsers agree (RFC 9112 §6.3, §11.2).
import { plainAddress } from '../client-address.ts'
import type { Head, HttpVersion } from './listener.ts'
import type { DropReason } from './refused.ts'

/** Request line and headers together. A parser or the guard answers 431 to a longer head. */
export const headBytesMax = 16 * 1024
/** uWebSockets.js itself refuses more; both servers have the same limit. */
const headersMax = 100

interface RawHead {
  /** Such as `1.1`. */
  readonly httpVersion: string
  readonly method: string
  readonly path: string
  readonly query: string
  /** Lower-case name and value of every line, in the order they came: a merged list would hide duplicates. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Computed only when called. */
  readonly remoteAddress: () => string
}

/**
 * The head for the front end, or the reason of its refusal: then `refusalOf` makes the reply, and nothing more is read on the connection.
 * The checks of both parsers are not repeated here: folded lines, a space before the colon, bare line ends, control characters.
 */
export function guard(raw: RawHead): Head | DropReason {
  const { method, path, query, headers, httpVersion } = raw
  if (!isServed(httpVersion)) return 'http-version'
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
    // Two equal lengths are refused too (RFC 9110 §8.6 leaves the choice). 15 digits stay exact in a double.
    if (contentLength !== undefined || !/^\d{1,15}$/.test(value)) return 'content-length'
    contentLength = value
  }
  if (headBytes > headBytesMax) return 'size'
  // RFC 9112 §3.2: a request of HTTP/1.0 may lack a Host header.
  if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) return 'host'
  return {
    httpVersion,
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

function isServed(version: string): version is HttpVersion {
  return version === '1.1' || version === '1.0'
}
