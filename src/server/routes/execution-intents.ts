// Execution intents: executions that were released to a connector, and their outcomes (decisions §8).
import { readableOwner } from '../../formats/people/caller.ts'
import { Failure, failures } from '../../core/errors/errors.ts'
import { intentText, readIntentText } from '../../core/intents/shown.ts'
import {
  ExecutionIntent,
  ExecutionIntentPage,
  IntentResolution,
  NoMembers,
} from '../../formats/schemas/execution-intent.ts'
import { isUuid } from '../../formats/schemas/primitives.ts'
import { listInDoubt } from '../../store/tables/execution-intents.ts'
import { sweepOnce } from '../jobs/sweep.ts'
import exampleTransitions from '../openapi/examples/intent-transitions.json' with { type: 'json' }
import trustRecord from '../openapi/examples/trust-record.json' with { type: 'json' }
import { linkedPaging, listFailures, transactionId } from '../openapi/parameters.ts'
import { pageHeaders, readRange } from './paging.ts'
import { get, governingGet, humanPost, type Route, type RouteRequest } from '../route.ts'
import type { Answer } from '../answer.ts'
import type { Service } from '../service.ts'
import { onThread } from './on-thread.ts'

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

/** Ids of the intents in doubt that the examples of the two POST routes close. */
export const inDoubtExamples = {
  toResolve: '0e1f5c52-6a0b-4c2f-8f25-2b1f5f3c9a01',
  toFinalize: '1b6f0a3d-2c58-4e0e-9d53-7c1d2e9f8b02',
} as const

export const executionIntents = [
  {
    ...governingGet,
    path: '/execution-intents/unfinalized',
    readers: true,
    operationId: 'listUnfinalizedIntents',
    tag: 'Execution Intents',
    summary: 'Executions in doubt',
    description:
      'Executions that were released to a connector and have no evidence of their outcome after their deadline. For humans and auditors.',
    query: linkedPaging,
    answers: {
      200: {
        description: 'One page, the newest doubt first.',
        schema: ExecutionIntentPage,
        example: { intents: [released] },
        optionalHeaders: ['Link'],
      },
    },
    failures: listFailures,
    readsDatabase: true,
    handle: listUnfinalized,
  },
  {
    ...get,
    path: '/execution-intents/{id}',
    operationId: 'getExecutionIntent',
    tag: 'Execution Intents',
    summary: 'The release of an execution and its outcome',
    description:
      'Read it after a 502 of POST /execute. An intent that was closed later shows the signed transition.',
    params: { id: transactionId(trustRecord.businessTransactionId) },
    answers: {
      200: {
        description: 'The intent and its current state.',
        schema: ExecutionIntent,
        example: { ...closed, state: 'FINALIZED', closedAt: trustRecord.createdAt },
        cached: true,
      },
    },
    failures: ['intentNotFound', 'overloaded'],
    readsDatabase: true,
    async handle({ params: { id }, caller }, { pool }) {
      const text = isUuid(id) ? await readIntentText(pool, id, readableOwner(caller)) : null
      return text === null
        ? failures.intentNotFound()
        : { status: 200, body: text, cache: 'private, no-cache' }
    },
  },
  {
    ...humanPost,
    path: '/execution-intents/{id}/finalize',
    operationId: 'finalizeIntent',
    tag: 'Execution Intents',
    summary: 'Close an execution in doubt by its stored record',
    params: { id: transactionId(inDoubtExamples.toFinalize) },
    body: { schema: NoMembers, example: {} },
    answers: {
      200: {
        description: 'The intent is FINALIZED, or ERRORED if the record is of a failed execution.',
        schema: ExecutionIntent,
        example: {
          ...closed,
          state: 'FINALIZED',
          closedAt: exampleTransitions.finalized.transition.at,
          transitions: [exampleTransitions.finalized],
        },
      },
    },
    failures: ['invalidField', 'intentNotFound', 'conflict'],
    readsDatabase: true,
    handle: onThread('finalize-intent'),
  },
  {
    ...humanPost,
    path: '/execution-intents/{id}/resolve',
    // From a session, the body must carry a step-up signature, which a session cannot make.
    session: true,
    operationId: 'resolveIntent',
    tag: 'Execution Intents',
    summary: 'Record how an execution in doubt ended',
    description:
      'Final. It does not execute anything: submit a transaction that was not executed again, under a new id. With `INTENT_CLOSE_QUORUM=2`, or `closeQuorum: 2` in its policy, the intent is closed when a second human states the same outcome; until then the first human may change theirs. A `stepUpAuthorization` is the signature of the human for exactly this; it stays in the transition. A session of the console needs one.',
    params: { id: transactionId(inDoubtExamples.toResolve) },
    body: {
      schema: IntentResolution,
      example: { resolution: 'NOT_EXECUTED', note: exampleTransitions.resolved.transition.note },
    },
    answers: {
      200: {
        description: 'RESOLVED.',
        schema: ExecutionIntent,
        example: {
          ...closed,
          state: 'RESOLVED',
          resolution: 'NOT_EXECUTED',
          closedAt: exampleTransitions.resolved.transition.at,
          transitions: [exampleTransitions.resolved],
        },
      },
      202: {
        description: 'Still in doubt: a second human must state the same outcome.',
        schema: ExecutionIntent,
        example: {
          ...released,
          firstWord: {
            resolution: 'NOT_EXECUTED',
            note: exampleTransitions.resolved.transition.note,
            by: 'local-dev',
            at: exampleTransitions.resolved.transition.at,
          },
        },
      },
    },
    failures: ['fieldRequired', 'invalidField', 'intentNotFound', 'stepUpInvalid', 'conflict'],
    readsDatabase: true,
    handle: resolveIntent,
  },
] as const satisfies readonly Route[]

const resolve = onThread('resolve-intent')
const resolveOfSession = onThread('resolve-intent', { beside: { stepUp: 'required' } })

/** Sweeps first: the statement of the first of two humans is stored with an intent that is known to be in doubt. */
async function resolveIntent(request: RouteRequest, service: Service): Promise<Answer | Failure> {
  const swept = await sweepOnce(service.dispatcher.submit)
  if (swept.kind !== 'done') return swept.answer
  return (request.session === undefined ? resolve : resolveOfSession)(request, service)
}

/** Sweeps first, so that an intent whose deadline has just passed is listed too. */
async function listUnfinalized(
  { query }: RouteRequest,
  { pool, dispatcher }: Service,
): Promise<Answer | Failure> {
  const range = readRange(query)
  if (range instanceof Failure) return range
  const swept = await sweepOnce(dispatcher.submit)
  if (swept.kind !== 'done') return swept.answer
  const { rows, next } = await listInDoubt(pool, range)
  const texts = rows.map(intentText)
  const { noticed } = swept.result
  return {
    status: 200,
    ...pageHeaders('/execution-intents/unfinalized', query, next),
    body: `{"intents":[${texts.join(',')}]}`,
    ...(noticed > 0 ? { log: { noticed } } : {}),
  }
}
