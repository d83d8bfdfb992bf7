// Executing and reading back (interface §4.2).
import { Type } from 'typebox'
import { BusinessTransaction, SubmittedTransaction } from '../../../core/schemas/business-transaction.ts'
import { ExecutionTrustRecord } from '../../../core/schemas/trust-record.ts'
import secondTransaction from '../examples/second-transaction.json' with { type: 'json' }
import transaction from '../examples/transaction.json' with { type: 'json' }
import trustRecord from '../examples/trust-record.json' with { type: 'json' }
import type { FailureRow } from '../failure-rows.ts'
import type { Operation } from '../operation.ts'
import { linkedPaging, transactionId } from '../parameters.ts'

/** Interface §7 in its order. */
const refusals = [
  'invalidBusinessTransactionId',
  'invalidTransaction',
  'policyDenied',
  'principalOutsideScope',
  'capabilityOutsideScope',
  'policyNotFound',
  'duplicateTransaction',
  'executionRejected',
  'noConnector',
  'executionFailed',
  'outcomeUnknown',
  'stateUnavailable',
  'evidenceRefused',
] as const satisfies FailureRow[]

export const executions = {
  'POST /execute': {
    operationId: 'execute',
    tag: 'Execution',
    summary: 'Execute a business transaction',
    description:
      'Decides, executes, verifies and receipts within the request. A rejection by the policy is the 500 `Execution rejected: …`. ' +
      'After a 502 do not retry: whether the effect happened is not known.',
    body: { schema: SubmittedTransaction, example: transaction },
    answers: {
      200: {
        description: 'What happened, sealed. `executions[].status` tells how the connector ended.',
        schema: ExecutionTrustRecord,
        example: trustRecord,
        optionalHeaders: ['Server-Timing'],
      },
    },
    failures: refusals,
    readsDatabase: true,
  },
  'POST /transactions': {
    operationId: 'createTransaction',
    tag: 'Execution',
    summary: 'Execute a business transaction, answered as a creation',
    description: 'The same execution as POST /execute, on the same budget.',
    body: { schema: SubmittedTransaction, example: secondTransaction },
    answers: {
      201: {
        description: 'What happened, sealed.',
        schema: ExecutionTrustRecord,
        example: trustRecord,
        optionalHeaders: ['Server-Timing'],
      },
    },
    failures: refusals,
    readsDatabase: true,
  },
  'GET /transactions': {
    operationId: 'listTransactions',
    tag: 'Execution',
    summary: 'The transactions you submitted',
    description: 'A page ends early where it reaches 4 MiB; follow `Link` to the end.',
    query: linkedPaging,
    answers: {
      200: {
        description: 'One page, newest first.',
        schema: Type.Array(BusinessTransaction),
        example: [trustRecord.transaction],
        optionalHeaders: ['Link'],
      },
    },
    failures: ['invalidPage', 'invalidPageSize', 'invalidQuery', 'overloaded'],
    readsDatabase: true,
  },
  'GET /transactions/{id}': {
    operationId: 'getTransaction',
    tag: 'Execution',
    summary: 'One of them',
    params: { id: transactionId(transaction.businessTransactionId) },
    answers: {
      200: { description: 'As stored.', schema: BusinessTransaction, example: trustRecord.transaction },
    },
    failures: ['transactionNotFound', 'overloaded'],
    readsDatabase: true,
  },
} as const satisfies Record<string, Operation>
