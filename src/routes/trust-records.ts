// GET /trust-records/{id} (interface §4.3).
import { failures } from '../errors.ts'
import { isUuid } from '../schemas/primitives.ts'
import { trustRecordText } from '../sealed.ts'
import { readTrustRecord } from '../tables/trust-records.ts'
import { readableOwner, type Handler } from './route.ts'

export const trustRecord: Handler = async ({ params, caller }, { pool }) => {
  const id = params['id'] ?? ''
  const stored = isUuid(id) ? await readTrustRecord(pool, id, readableOwner(caller)) : null
  if (stored === null) return failures.trustRecordNotFound()
  return { status: 200, body: trustRecordText(stored), cache: 'private, no-cache' }
}
