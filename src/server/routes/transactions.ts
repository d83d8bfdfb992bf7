// Executing transactions, and reading them back (interface §4.2). A read answers the stored text as it was signed.
import { Type } from 'typebox'
import { readableOwner } from '../../formats/people/caller.ts'
import { failures } from '../../core/errors/errors.ts'
import { BusinessTransaction, SubmittedTransaction } from '../../formats/schemas/business-transaction.ts'
import { isUuid } from '../../formats/schemas/primitives.ts'
import { ExecutionTrustRecord } from '../../formats/schemas/trust-record.ts'
import { listTransactions, readTransaction } from '../../store/tables/business-transactions.ts'
import secondTransaction from '../openapi/examples/second-transaction.json' with { type: 'json' }
import transaction from '../openapi/examples/transaction.json' with { type: 'json' }
import trustRecord from '../openapi/examples/trust-record.json' with { type: 'json' }
import { ofCaller, transactionId } from '../openapi/parameters.ts'
import { list } from './list.ts'
import { get, post, type Route } from '../route.ts'
import { onThread } from './on-thread.ts'

/** The rows are in the order of interface §7. */
const executionFailures = [
  'invalidBusinessTransactionId',
  'invalidTransaction',
  'policyDenied',
  'principalOutsideScope',
  'capabilityOutsideScope',
  'policyNotFound',
  'duplicateTransaction',
  'executionRejected',
  'missingObject',
  'noConnector',
  'executionFailed',
  'outcomeUnknown',
  'stateUnavailable',
  'evidenceRefused',
  'evidenceNotVerified',
  'signingKeyRevoked',
] as const

export const transactions = [
  {
    ...post,
    path: '/execute',
    limit: 'execute',
    operationId: 'execute',
    tag: 'Execution',
    summary: 'Execute a business transaction',
    description:
      'The reply follows the decision, the execution, its verification and its receipt. A rejection by the policy answers 500 ' +
      '`Execution rejected: …`. Do not retry after a 502: the outcome of the execution is unknown.',
    body: { schema: SubmittedTransaction, example: transaction },
    answers: {
      200: {
        description: 'The sealed record. `executions[].status` is the outcome of the connector.',
        schema: ExecutionTrustRecord,
        example: trustRecord,
        optionalHeaders: ['Server-Timing'],
      },
    },
    failures: executionFailures,
    readsDatabase: true,
    handle: onThread('execute'),
  },
  {
    ...post,
    path: '/transactions',
    limit: 'execute',
    operationId: 'createTransaction',
    tag: 'Execution',
    summary: 'Execute a business transaction and answer 201',
    description: 'Executes as POST /execute does and counts against the same rate limit.',
    body: { schema: SubmittedTransaction, example: secondTransaction },
    answers: {
      201: {
        description: 'The sealed record.',
        schema: ExecutionTrustRecord,
        example: trustRecord,
        optionalHeaders: ['Server-Timing'],
      },
    },
    failures: executionFailures,
    readsDatabase: true,
    handle: onThread('execute', { as: 201 }),
  },
  list({
    ...get,
    path: '/transactions',
    operationId: 'listTransactions',
    tag: 'Execution',
    summary: 'The transactions you submitted',
    description:
      'A page has at most 4 MiB and may hold fewer entries than asked for; follow `Link` to the end.',
    filters: ofCaller,
    schema: Type.Array(BusinessTransaction),
    example: [trustRecord.transaction],
    read: (range, { callerId }, { pool }) => listTransactions(pool, range, callerId),
    textOf: ({ body }) => body,
  }),
  {
    ...get,
    path: '/transactions/{id}',
    operationId: 'getTransaction',
    tag: 'Execution',
    summary: 'One transaction that you submitted',
    params: { id: transactionId(transaction.businessTransactionId) },
    answers: {
      200: {
        description: 'The stored transaction.',
        schema: BusinessTransaction,
        example: trustRecord.transaction,
      },
    },
    failures: ['transactionNotFound', 'overloaded'],
    readsDatabase: true,
    async handle({ params: { id }, caller }, { pool }) {
      const body = isUuid(id) ? await readTransaction(pool, id, readableOwner(caller)) : null
      return body === null ? failures.transactionNotFound() : { status: 200, body }
    },
  },
] as const satisfies readonly Route[]
