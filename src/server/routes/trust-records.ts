// GET /trust-records/{id} (interface §4.3) and the bulk export GET /trust-records (decisions §5).
import { readableOwner } from '../../core/config.ts'
import { Failure, failures } from '../../core/errors.ts'
import { isUuid } from '../../core/schemas/primitives.ts'
import { trustRecordText } from '../../core/sealed.ts'
import { listTrustRecords, readTrustRecord } from '../../core/tables/trust-records.ts'
import { pageHeaders, readRange, readTimes } from './paging.ts'
import type { Handler } from './route.ts'

export const trustRecord: Handler = async ({ params, caller }, { pool }) => {
  const id = params['id'] ?? ''
  const stored = isUuid(id) ? await readTrustRecord(pool, id, readableOwner(caller)) : null
  if (stored === null) return failures.trustRecordNotFound()
  return { status: 200, body: trustRecordText(stored), cache: 'private, no-cache' }
}

/** Each page names the next by a cursor: its cost is that of one page, however far down. */
export const trustRecords: Handler = async ({ query, caller }, { exportPool }) => {
  const range = readRange(query)
  if (range instanceof Failure) return range
  const times = readTimes(query)
  if (times instanceof Failure) return times
  const page = await listTrustRecords(exportPool, range, { callerId: readableOwner(caller), ...times })
  return {
    status: 200,
    ...pageHeaders('/trust-records', query, page.next),
    body: `[${page.rows.map(trustRecordText).join(',')}]`,
  }
}
