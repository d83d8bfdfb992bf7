// The verifications and receipts of a record, the latest (interface §4.3) or all (decisions §12): stored text.
import { readableOwner, type Caller } from '../../core/config.ts'
import { Failure, failures } from '../../core/errors.ts'
import { isUuid } from '../../core/schemas/primitives.ts'
import { listAppended, readLastOf, type AppendedTable } from '../../core/tables/trust-records.ts'
import { nextLink, readBehind } from './paging.ts'
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
  table: AppendedTable,
  id: string | undefined,
  caller: Caller | undefined,
  pool: Service['pool'],
): Promise<{ last: string | null } | null> {
  return isUuid(id) ? readLastOf(pool, table, { id, callerId: readableOwner(caller) }) : null
}

/** Newest first. A page has at most a hundred entries of a few kilobytes each, so it needs no bound in bytes. */
export function listOf(table: AppendedTable): Handler {
  return async ({ params, query, caller }, { pool }) => {
    const range = readBehind(query, readOrdinal)
    if (range instanceof Failure) return range
    const id = params['id']
    const page = isUuid(id)
      ? await listAppended(pool, table, { id, callerId: readableOwner(caller) }, range)
      : null
    if (page === null) return failures.trustRecordNotFound()
    const link = page.next === null ? null : nextLink(`/${table}/${id}`, query, ordinalCursor(page.next))
    return {
      status: 200,
      ...(link === null ? {} : { headers: { Link: link } }),
      body: `[${page.texts.join(',')}]`,
    }
  }
}

/** Opaque to callers, like every cursor. */
function ordinalCursor(ordinal: number): string {
  return Buffer.from(`behind ${ordinal}`).toString('base64url')
}

function readOrdinal(cursor: string): number | undefined {
  const [, ordinal] = /^behind ([1-9][0-9]{0,8})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  return ordinal === undefined ? undefined : Number(ordinal)
}
