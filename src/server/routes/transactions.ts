// GET /transactions and GET /transactions/{id} (interface §4.2): stored text, as it was signed.
import { readableOwner } from '../../core/config.ts'
import { Failure, failures } from '../../core/errors.ts'
import { isUuid } from '../../core/schemas/primitives.ts'
import { listTransactions, readTransaction } from '../../core/tables/business-transactions.ts'
import { pageHeaders, readRange } from './paging.ts'
import type { Handler } from './route.ts'

export const transactions: Handler = async ({ query, caller }, { pool }) => {
  const range = readRange(query)
  if (range instanceof Failure) return range
  const page = await listTransactions(pool, range, readableOwner(caller))
  return {
    status: 200,
    ...pageHeaders('/transactions', query, page.next),
    body: `[${page.rows.map(({ body }) => body).join(',')}]`,
  }
}

export const transaction: Handler = async ({ params, caller }, { pool }) => {
  const id = params['id'] ?? ''
  const body = isUuid(id) ? await readTransaction(pool, id, readableOwner(caller)) : null
  return body === null ? failures.transactionNotFound() : { status: 200, body }
}
