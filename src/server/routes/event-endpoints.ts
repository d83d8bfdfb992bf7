// The endpoints that events are pushed to, and changes of them (docs/handbook/events.md).
import { Type } from 'typebox'
import {
  EventEndpointList,
  EventEndpointProposal,
  EventEndpointSecret,
  EventEndpointWithAttempts,
  EventRedelivery,
  EventSecretRequest,
} from '../../formats/schemas/event-endpoint.ts'
import { isUuid, Uuid } from '../../formats/schemas/primitives.ts'
import type { KeySetEntry } from '../../core/signing/published.ts'
import { failures } from '../../core/errors/errors.ts'
import { readAttempts } from '../../store/tables/event-attempts.ts'
import { readEventEndpoints } from '../../store/tables/event-deliveries.ts'
import { eventEndpointChange as change } from '../openapi/examples/changes.ts'
import { changeRoutes } from './changes.ts'
import { wholeList } from './list.ts'
import { governingGet, humanPost, textWithoutNulls, type Handler, type Route } from '../route.ts'
import { onThread } from './on-thread.ts'

const { action: _, ...registration } = change.pending.proposed
/** The example of an event endpoint, which a test registers. */
export const exampleEndpointId = change.approved.changeId
const exampleCursor = 'l5o3mQAAAAEAAAAABBI'
const example = {
  endpointId: exampleEndpointId,
  ...registration,
  registeredAt: change.approved.resolvedAt,
  state: 'delivering',
  cursor: exampleCursor,
  hasSecret: true,
  lastSuccessAt: '2026-11-21T16:02:11.480Z',
}
const exampleAttempt = {
  number: 1,
  beganAt: '2026-11-21T16:02:11.441Z',
  durationMs: 39,
  status: 204,
  eventId: 'b1a5c2de-7f3e-5c0b-9d84-0f6a1e2b3c4d',
  type: 'execution.completed',
  businessTransactionId: '938ec07b-1041-456a-8ca2-c3b3567616ef',
  before: 'l5o3mQAAAAEAAAAABBE',
  bodySha256: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
  bodyBytes: 412,
}
const params = {
  id: { schema: Uuid, description: 'The endpointId.', example: exampleEndpointId },
} as const

/** A session of the console only identifies the viewer: every change needs a signature of the human. */
function managing(action: 'secret' | 'redeliver'): Handler {
  const byKey = onThread('manage-event-endpoint', { beside: { action } })
  const bySession = onThread('manage-event-endpoint', { beside: { action, stepUp: 'required' } })
  return (request, service) => (request.session === undefined ? byKey : bySession)(request, service)
}

export const eventEndpoints = [
  wholeList({
    ...governingGet,
    path: '/event-endpoints',
    readers: true,
    operationId: 'listEventEndpoints',
    tag: 'Events',
    summary: 'Event endpoints and the progress of their deliveries',
    description: 'For humans and auditors.',
    order: 'URL',
    schema: EventEndpointList,
    member: 'eventEndpoints',
    example: {
      publicKeys: ['whpk_ghJFP4W0HwcAl20pgPzHAFKSP2aWuH7MM3lKpdnRCP8='],
      eventEndpoints: [example],
    },
    beside: ({ keys }) => ({ publicKeys: keys.jwks().keys.flatMap(standardWebhooksKey) }),
    read: ({ pool }) => readEventEndpoints(pool),
    keyOf: ({ url }) => url,
  }),
  ...changeRoutes({
    kind: 'event-endpoint',
    noun: 'an event endpoint',
    name: 'EventEndpoint',
    example: change,
    proposal: {
      description:
        'To register an endpoint, send url and types; to revoke it, send its url. The url must resolve to public addresses only, which is checked now, again at the approval, and at each delivery.',
      schema: EventEndpointProposal,
      example: {
        ...change.pending.proposed,
        // A loopback address, so that a reader can try it.
        url: 'http://127.0.0.1:8090/events',
        reason: change.pending.reason,
      },
    },
  }),
  {
    ...governingGet,
    path: '/event-endpoints/{id}',
    readers: true,
    operationId: 'getEventEndpoint',
    tag: 'Events',
    summary: 'An event endpoint with its last attempts',
    description:
      'For humans and auditors. `attempts` are the last 50 deliveries that were tried, newest first, with the status and the time of each answer. Of an answer nothing else is kept.',
    params,
    answers: {
      200: {
        description: 'The endpoint.',
        schema: EventEndpointWithAttempts,
        example: { ...example, attempts: [exampleAttempt] },
      },
    },
    failures: ['eventEndpointNotFound', 'overloaded'],
    readsDatabase: true,
    async handle({ params: { id } }, { pool }) {
      const endpointId = id?.toLowerCase()
      if (!isUuid(endpointId)) return failures.eventEndpointNotFound()
      const [[endpoint], attempts] = await Promise.all([
        readEventEndpoints(pool, endpointId),
        readAttempts(pool, endpointId),
      ])
      if (endpoint === undefined) return failures.eventEndpointNotFound()
      return { status: 200, body: textWithoutNulls({ ...endpoint, attempts }) }
    },
  },
  {
    ...humanPost,
    path: '/event-endpoints/{id}/secret',
    // From a session, the body must carry a step-up signature, which a session cannot make.
    session: true,
    operationId: 'makeEventEndpointSecret',
    tag: 'Events',
    summary: 'Make a secret for `v1` signatures',
    description:
      'For humans. Only this answer shows the secret. The previous secret keeps signing as well until `previousUntil`, a day later. During that day another secret needs a `stepUpAuthorization` of this human for the action `secret`, and a session of the console always does.',
    params,
    body: { schema: EventSecretRequest, example: {} },
    answers: {
      200: {
        description: 'The new secret.',
        schema: EventEndpointSecret,
        example: { secret: 'whsec_q0TIh0mJ8mkd4DkRw5VnVYkIaFTYhYVuYgVd1M6c0dE=' },
      },
    },
    failures: ['invalidField', 'eventEndpointNotFound', 'stepUpInvalid', 'conflict'],
    readsDatabase: true,
    handle: managing('secret'),
  },
  {
    ...humanPost,
    path: '/event-endpoints/{id}/redeliver',
    // From a session, the body must carry a step-up signature, which a session cannot make.
    session: true,
    operationId: 'redeliverEvents',
    tag: 'Events',
    summary: 'Deliver events again from a cursor of the feed',
    description:
      'For humans. Enables a disabled endpoint. Without `after`, delivery continues where it stopped. A later cursor skips events and needs a `stepUpAuthorization` of this human for the action `redeliver` and the same `after`. Without a step-up, or with an earlier cursor, the answer is 429 within a minute of the last redelivery to the endpoint, and until a working endpoint has received all events that existed at that redelivery. A session of the console always needs a step-up.',
    params,
    body: { schema: EventRedelivery, example: {} },
    answers: {
      200: {
        description: 'Delivery begins at once.',
        schema: Type.Object({
          endpointId: Uuid,
          result: Type.String({ description: 'a sentence: where the outcome is to be seen' }),
        }),
        example: {
          endpointId: exampleEndpointId,
          result:
            'The endpoint is enabled, and delivery begins at once. What came of it is in lastFailure and attempts of GET /event-endpoints/{id}.',
        },
      },
    },
    failures: ['invalidField', 'eventEndpointNotFound', 'stepUpInvalid', 'redeliveryGoesOn'],
    readsDatabase: true,
    handle: managing('redeliver'),
  },
] as const satisfies readonly Route[]

/** Writes a signing key as Standard Webhooks has it; empty for a revoked key, or for an algorithm that the deliveries do not use. */
function standardWebhooksKey({ algorithm, revokedAt, jwk: { x = '' } }: KeySetEntry): string[] {
  return algorithm === 'ed25519' && revokedAt === undefined
    ? [`whpk_${Buffer.from(x, 'base64url').toString('base64')}`]
    : []
}
