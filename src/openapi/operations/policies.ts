// POST /policies/validate (interface §4.4).
import { PolicyValidity, PolicyVersion } from '../../schemas/error.ts'
import type { Operation } from '../operation.ts'

export const policies = {
  'POST /policies/validate': {
    operationId: 'validatePolicy',
    tag: 'Policies',
    summary: 'Whether a policy version can be loaded',
    description: 'Validates no document. Every answer but the 401 is `{valid, errors}`.',
    body: { schema: PolicyVersion, example: { policyId: 'sandbox-echo', policyVersion: '1.0.0' } },
    answers: {
      200: { description: 'It can.', schema: PolicyValidity, example: { valid: true, errors: [] } },
    },
    failures: ['fieldRequired', 'policyNotFound'],
    readsDatabase: true,
  },
} as const satisfies Record<string, Operation>
