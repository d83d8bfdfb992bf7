// Execution intents (decisions §8).
import {
  ExecutionIntent,
  ExecutionIntentPage,
  IntentResolution,
  NoMembers,
} from '../../../core/schemas/execution-intent.ts'
import transitions from '../examples/intent-transitions.json' with { type: 'json' }
import trustRecord from '../examples/trust-record.json' with { type: 'json' }
import type { Operation } from '../operation.ts'
import { linkedPaging, transactionId } from '../parameters.ts'

const released = {
  businessTransactionId: trustRecord.businessTransactionId,
  state: 'RELEASED',
  inDoubt: true,
  callerId: 'local-dev',
  action: trustRecord.transaction.intent.action,
  target: trustRecord.transaction.intent.target,
  releasedAt: trustRecord.authorization.payload.authorizedAt,
  deadline: '2026-11-21T14:28:13.967Z',
  authorization: trustRecord.authorization,
  transitions: [],
}
const closed = { ...released, inDoubt: false }

/** For the examples of the two that close one: ids of intents that are in doubt. */
export const inDoubtExamples = {
  toResolve: '0e1f5c52-6a0b-4c2f-8f25-2b1f5f3c9a01',
  toFinalize: '1b6f0a3d-2c58-4e0e-9d53-7c1d2e9f8b02',
} as const

export const executionIntents = {
  'GET /execution-intents/unfinalized': {
    operationId: 'listUnfinalizedIntents',
    tag: 'Execution Intents',
    summary: 'What is in doubt',
    description:
      'Released to a connector, and past its deadline without evidence of how it ended. For humans.',
    query: linkedPaging,
    answers: {
      200: {
        description: 'One page, what was noticed last first.',
        schema: ExecutionIntentPage,
        example: { intents: [released] },
        optionalHeaders: ['Link'],
      },
    },
    failures: ['invalidPage', 'invalidPageSize', 'invalidQuery', 'overloaded'],
    readsDatabase: true,
  },
  'GET /execution-intents/{id}': {
    operationId: 'getExecutionIntent',
    tag: 'Execution Intents',
    summary: 'Whether an execution was released, and how it ended',
    description:
      'After a 502 of POST /execute this tells how it stands. What ended by hand shows the signed transition.',
    params: { id: transactionId(trustRecord.businessTransactionId) },
    answers: {
      200: {
        description: 'As it stands now.',
        schema: ExecutionIntent,
        example: { ...closed, state: 'FINALIZED', closedAt: trustRecord.createdAt },
        cached: true,
      },
    },
    failures: ['intentNotFound', 'overloaded'],
    readsDatabase: true,
  },
  'POST /execution-intents/{id}/finalize': {
    operationId: 'finalizeIntent',
    tag: 'Execution Intents',
    summary: 'Close what is in doubt from the stored record that proves it',
    params: { id: transactionId(inDoubtExamples.toFinalize) },
    body: { schema: NoMembers, example: {} },
    answers: {
      200: {
        description: 'FINALIZED, or ERRORED where the record is of a failed execution.',
        schema: ExecutionIntent,
        example: {
          ...closed,
          state: 'FINALIZED',
          closedAt: transitions.finalized.transition.at,
          transitions: [transitions.finalized],
        },
      },
    },
    failures: ['invalidField', 'intentNotFound', 'conflict'],
    readsDatabase: true,
  },
  'POST /execution-intents/{id}/resolve': {
    operationId: 'resolveIntent',
    tag: 'Execution Intents',
    summary: 'Say how an execution ended that nothing else tells of',
    description: 'Final. It runs nothing again: what was not executed is submitted anew, under another id.',
    params: { id: transactionId(inDoubtExamples.toResolve) },
    body: {
      schema: IntentResolution,
      example: { resolution: 'NOT_EXECUTED', note: transitions.resolved.transition.note },
    },
    answers: {
      200: {
        description: 'RESOLVED.',
        schema: ExecutionIntent,
        example: {
          ...closed,
          state: 'RESOLVED',
          resolution: 'NOT_EXECUTED',
          closedAt: transitions.resolved.transition.at,
          transitions: [transitions.resolved],
        },
      },
    },
    failures: ['fieldRequired', 'invalidField', 'intentNotFound', 'conflict'],
    readsDatabase: true,
  },
} as const satisfies Record<string, Operation>
