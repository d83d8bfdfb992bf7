// Strong entity tags (RFC 9110 §8.8.3): which bytes a reply carries, so that a cache need not be sent them again.
import { hash } from 'node:crypto'

/** The ETag of a body, quotes included. */
export function etagOf(body: string | Uint8Array): string {
  return `"${hash('sha256', body, 'hex')}"`
}
