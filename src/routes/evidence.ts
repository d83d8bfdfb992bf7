// The latest verification and receipt of a record (interface §4.3): stored text.
import { readableOwner, type Caller } from '../config.ts'
import { failures } from '../errors.ts'
import { isUuid } from '../schemas/primitives.ts'
import { readLastOf } from '../tables/trust-records.ts'
import type { Handler, Service } from './route.ts'

export const latestVerification: Handler = async ({ params, caller }, { pool }) => {
  const stored = await latest('verifications', params['id'], caller, pool)
  if (stored === null) return failures.trustRecordNotFound()
  return stored.last === null ? failures.verificationNotFound() : { status: 200, body: stored.last }
}

export const latestReceipt: Handler = async ({ params, caller }, { pool }) => {
  const stored = await latest('receipts', params['id'], caller, pool)
  if (stored === null) return failures.trustRecordNotFound()
  return stored.last === null
    ? failures.receiptNotFound()
    : { status: 200, body: stored.last, cache: 'private, no-cache' }
}

async function latest(
  table: 'verifications' | 'receipts',
  id: string | undefined,
  caller: Caller | undefined,
  pool: Service['pool'],
): Promise<{ last: string | null } | null> {
  return isUuid(id) ? readLastOf(pool, table, { id, callerId: readableOwner(caller) }) : null
}
