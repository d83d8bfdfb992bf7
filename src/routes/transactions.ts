// GET /transactions and GET /transactions/{id} (interface §4.2): stored text, as it was signed.
import { readableOwner } from '../config.ts'
import { Failure, failures } from '../errors.ts'
import { isUuid } from '../schemas/primitives.ts'
import { listTransactions, readTransaction } from '../tables/business-transactions.ts'
import { readPage } from './paging.ts'
import type { Handler } from './route.ts'

export const transactions: Handler = async ({ query, caller }, { pool }) => {
  const page = readPage(query)
  if (page instanceof Failure) return page
  const bodies = await listTransactions(pool, { callerId: readableOwner(caller), ...page })
  return { status: 200, body: `[${bodies.join(',')}]` }
}

export const transaction: Handler = async ({ params, caller }, { pool }) => {
  const id = params['id'] ?? ''
  const body = isUuid(id) ? await readTransaction(pool, id, readableOwner(caller)) : null
  return body === null ? failures.transactionNotFound() : { status: 200, body }
}
