// GET /refusal/{businessTransactionId} (decisions §9): stored text, as it was signed.
import { readableOwner } from '../../core/config.ts'
import { failures } from '../../core/errors.ts'
import { isUuid } from '../../core/schemas/primitives.ts'
import { sealedText } from '../../core/sealed.ts'
import { readRefusal } from '../../core/tables/refusal-records.ts'
import type { Handler } from './route.ts'

export const refusal: Handler = async ({ params, caller }, { pool }) => {
  const id = params['businessTransactionId'] ?? ''
  const stored = isUuid(id) ? await readRefusal(pool, id, readableOwner(caller)) : null
  if (stored === null) return failures.refusalNotFound()
  return { status: 200, body: sealedText(stored), cache: 'private, no-cache' }
}
