// Execution intents: what was released to a connector and how it ended (decisions §8).
import { readableOwner } from '../../core/config.ts'
import { Failure, failures } from '../../core/errors.ts'
import { intentText, readIntentText } from '../../core/intents/shown.ts'
import { noticedBy, sweepOnce } from '../jobs/sweep.ts'
import { isUuid } from '../../core/schemas/primitives.ts'
import { listInDoubt } from '../../core/tables/execution-intents.ts'
import { readTransitions } from '../../core/tables/intent-transitions.ts'
import { pageHeaders, readRange } from './paging.ts'
import type { Handler } from './route.ts'

/** Sweeps first: what has passed its deadline a moment ago is listed too. */
export const unfinalizedIntents: Handler = async ({ query }, { pool, dispatcher }) => {
  const range = readRange(query)
  if (range instanceof Failure) return range
  const swept = await sweepOnce(dispatcher.submit)
  if (swept.status !== 200) return swept
  const { rows, next } = await listInDoubt(pool, range)
  const transitions = await readTransitions(
    pool,
    rows.map((row) => row.businessTransactionId),
  )
  const texts = rows.map((row) => intentText(row, transitions.get(row.businessTransactionId) ?? []))
  const noticed = noticedBy(swept)
  return {
    status: 200,
    ...pageHeaders('/execution-intents/unfinalized', query, next),
    body: `{"intents":[${texts.join(',')}]}`,
    ...(noticed > 0 ? { log: { noticed } } : {}),
  }
}

export const executionIntent: Handler = async ({ params, caller }, { pool }) => {
  const id = params['id'] ?? ''
  const text = isUuid(id) ? await readIntentText(pool, id, readableOwner(caller)) : null
  return text === null ? failures.intentNotFound() : { status: 200, body: text, cache: 'private, no-cache' }
}
