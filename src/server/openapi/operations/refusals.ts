// Refusal Records (decisions §9).
import { RefusalRecord, RefusalVerification } from '../../../core/schemas/refusal-record.ts'
import refusalRecord from '../examples/refusal-record.json' with { type: 'json' }
import type { Operation } from '../operation.ts'
import { transactionId } from '../parameters.ts'

export const refusals = {
  'GET /refusal/{businessTransactionId}': {
    operationId: 'getRefusal',
    tag: 'Refusals',
    summary: 'Why a transaction was not executed',
    params: { businessTransactionId: transactionId(refusalRecord.businessTransactionId) },
    answers: {
      200: {
        description: 'The signed record.',
        schema: RefusalRecord,
        example: refusalRecord,
        cached: true,
      },
    },
    failures: ['refusalNotFound', 'overloaded'],
    readsDatabase: true,
  },
  'POST /refusal/verify': {
    operationId: 'verifyRefusal',
    tag: 'Refusals',
    summary: 'Check a Refusal Record that somebody shows you',
    description:
      'Any JSON object is answered: where a member is missing or of another type, the check that reads it fails.',
    body: { schema: RefusalRecord, example: refusalRecord },
    answers: {
      200: {
        description: '`valid` where every check holds; a key that is not published is not valid.',
        schema: RefusalVerification,
        example: {
          valid: true,
          checks: [
            { name: 'refusal hash', valid: true },
            { name: 'refusal signature', valid: true },
            { name: 'decision binding', valid: true },
            { name: 'approvals', valid: true },
          ],
        },
      },
    },
    failures: ['invalidEvidence', 'internal'],
  },
} as const satisfies Record<string, Operation>
