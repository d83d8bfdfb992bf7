// Routes for what payment providers have said of a transaction, as the rules for their deliveries read it.
import { readableOwner } from '../../formats/people/caller.ts'
import { Failure, failures } from '../../core/errors/errors.ts'
import { isUuid } from '../../formats/schemas/primitives.ts'
import { ProviderConfirmationPage } from '../../formats/schemas/provider-confirmation.ts'
import { signedText } from '../../store/tables/sealed.ts'
import { readTransaction } from '../../store/tables/business-transactions.ts'
import { listConfirmations } from '../../store/tables/provider-confirmations.ts'
import example from '../openapi/examples/provider-confirmation.json' with { type: 'json' }
import { linkedPaging, listFailures, transactionId } from '../openapi/parameters.ts'
import { pageHeaders, readRange } from './paging.ts'
import { get, type Route } from '../route.ts'

export const confirmations = [
  {
    ...get,
    path: '/confirmations/{id}',
    operationId: 'listConfirmations',
    tag: 'Webhooks',
    summary: 'What providers say of a transaction',
    description:
      'Each is signed, is in the evidence log, and verifies offline. Whether it agrees with this service is not in it: a contradiction is the audit event `confirmation.contradicts`.',
    params: { id: transactionId(example.confirmation.businessTransactionId) },
    query: linkedPaging,
    answers: {
      200: {
        description: 'One page, newest first.',
        schema: ProviderConfirmationPage,
        example: { confirmations: [example] },
        optionalHeaders: ['Link'],
      },
    },
    failures: ['transactionNotFound', ...listFailures],
    readsDatabase: true,
    async handle({ params, query, caller }, { pool }) {
      const range = readRange(query)
      if (range instanceof Failure) return range
      const id = (params['id'] ?? '').toLowerCase()
      if (!isUuid(id) || (await readTransaction(pool, id, readableOwner(caller))) === null)
        return failures.transactionNotFound()
      const { rows, next } = await listConfirmations(pool, id, range)
      const texts = rows.map((row) => signedText('confirmation', row))
      return {
        status: 200,
        ...pageHeaders(`/confirmations/${id}`, query, next),
        body: `{"confirmations":[${texts.join(',')}]}`,
      }
    },
  },
] as const satisfies readonly Route[]
