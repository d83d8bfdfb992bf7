// GET /trust-records/{id} (interface §4.3) and the bulk export GET /trust-records (decisions §5).
import { readableOwner } from '../config.ts'
import { Failure, failures } from '../errors.ts'
import { isUuid } from '../schemas/primitives.ts'
import { trustRecordText } from '../sealed.ts'
import { cursorText, readCursor, type Position } from '../tables/position.ts'
import { listTrustRecords, readTrustRecord } from '../tables/trust-records.ts'
import { readPage, readTime } from './paging.ts'
import type { Handler } from './route.ts'

export const trustRecord: Handler = async ({ params, caller }, { pool }) => {
  const id = params['id'] ?? ''
  const stored = isUuid(id) ? await readTrustRecord(pool, id, readableOwner(caller)) : null
  if (stored === null) return failures.trustRecordNotFound()
  return { status: 200, body: trustRecordText(stored), cache: 'private, no-cache' }
}

/** Each page names the next by a cursor: its cost is that of one page, however far down. */
export const trustRecords: Handler = async ({ query, caller }, { exportPool }) => {
  const page = readPage(query)
  if (page instanceof Failure) return page
  const since = readTime(query, 'since')
  if (since instanceof Failure) return since
  const until = readTime(query, 'until')
  if (until instanceof Failure) return until
  const after = readAfter(query.get('cursor'))
  if (after instanceof Failure) return after
  if (after !== null && query.has('page'))
    return failures.invalidQuery('page and cursor cannot be given together.')

  // One more than asked for: whether there is a next page is then known, and the last one names none.
  const records = await listTrustRecords(exportPool, {
    callerId: readableOwner(caller),
    since,
    until,
    after,
    limit: page.limit + 1,
    offset: page.offset,
  })
  const shown = records.slice(0, page.limit)
  const last = shown.at(-1)
  return {
    status: 200,
    ...(last === undefined || shown.length === records.length
      ? {}
      : { headers: { Link: `<${nextPath(query, last)}>; rel="next"` } }),
    body: `[${shown.map(trustRecordText).join(',')}]`,
  }
}

function nextPath(query: URLSearchParams, last: Position): string {
  const next = new URLSearchParams(query)
  next.delete('page')
  next.set('cursor', cursorText(last))
  return `/trust-records?${next}`
}

/** The position of the last record that the caller has. */
function readAfter(cursor: string | null): Position | null | Failure {
  if (cursor === null) return null
  return readCursor(cursor)?.position ?? failures.invalidQuery('cursor must be one that a Link header gave.')
}
