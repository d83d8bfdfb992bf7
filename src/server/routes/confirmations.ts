// Routes for statements of payment providers about a transaction, as the rules for their deliveries read them.
import { readableOwner } from '../../formats/people/caller.ts'
import { failures } from '../../core/errors/errors.ts'
import { isUuid } from '../../formats/schemas/primitives.ts'
import { ProviderConfirmationPage } from '../../formats/schemas/provider-confirmation.ts'
import { signedText } from '../../store/tables/sealed.ts'
import { readTransaction } from '../../store/tables/business-transactions.ts'
import { listConfirmations } from '../../store/tables/provider-confirmations.ts'
import example from '../openapi/examples/provider-confirmation.json' with { type: 'json' }
import { transactionId } from '../openapi/parameters.ts'
import { list } from './list.ts'
import { get, type Route, type RouteRequest } from '../route.ts'

export const confirmations = [
  list({
    ...get,
    path: '/confirmations/{id}',
    operationId: 'listConfirmations',
    tag: 'Webhooks',
    summary: 'Confirmations of a transaction by providers',
    description:
      'Each confirmation is signed, is in the evidence log, and can be verified offline. It does not say whether it agrees with this service: a contradiction is recorded as the audit event `confirmation.contradicts`.',
    params: { id: transactionId(example.confirmation.businessTransactionId) },
    schema: ProviderConfirmationPage,
    member: 'confirmations',
    example: [example],
    failures: ['transactionNotFound'],
    async refuse(_asked, { params, caller }, { pool }) {
      const id = idOf(params)
      const isTheirs = isUuid(id) && (await readTransaction(pool, id, readableOwner(caller))) !== null
      return isTheirs ? undefined : failures.transactionNotFound()
    },
    pagePath: (params) => `/confirmations/${idOf(params)}`,
    read: (range, _asked, { pool }, { params }) => listConfirmations(pool, idOf(params), range),
    textOf: (confirmation) => signedText('confirmation', confirmation),
  }),
] as const satisfies readonly Route[]

/** A page's `Link` names the id in lower case, however the request spelled it. */
function idOf(params: RouteRequest['params']): string {
  return (params['id'] ?? '').toLowerCase()
}
