// Conditional requests (RFC 9110 §13): a cacheable reply carries a strong ETag, and a client that has its body is not sent it again.
import { hash } from 'node:crypto'
import type { Answer } from '../answer.ts'

/** The ETag of a body, quotes included. */
export function etagOf(body: string | Uint8Array): string {
  return `"${hash('sha256', body, 'hex')}"`
}

/** @returns the answer with its ETag, as 304 where `If-None-Match` names it; unchanged where no cache may keep the answer */
export function conditional(answer: Answer, ifNoneMatch: string | undefined): Answer {
  const { body, cache } = answer
  if (cache === undefined) return answer
  const { etag = etagOf(body) } = answer
  const headers = { ...answer.headers, ETag: etag, 'Cache-Control': cache }
  return matches(ifNoneMatch, etag) ? { ...answer, status: 304, headers, body: '' } : { ...answer, headers }
}

/** RFC 9110 §13.1.2: weak comparison, any of a list, or `*`. */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}
