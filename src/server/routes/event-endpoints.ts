// The endpoints that events are pushed to, and changes of them (docs/handbook/events.md).
import { Type } from 'typebox'
import {
  EventEndpointList,
  EventEndpointProposal,
  EventEndpointSecret,
  EventRedelivery,
  EventSecretRequest,
} from '../../formats/schemas/event-endpoint.ts'
import { Uuid } from '../../formats/schemas/primitives.ts'
import { readEventEndpoints } from '../../store/tables/event-deliveries.ts'
import { eventEndpointChange as change } from '../openapi/examples/changes.ts'
import { cursor } from '../openapi/parameters.ts'
import { changeRoutes } from './changes.ts'
import { answerList } from './paging.ts'
import { governingGet, humanPost, textWithoutNulls, type Route } from '../route.ts'
import { onThread } from './on-thread.ts'

const { action: _, ...registration } = change.pending.proposed
/** The example of an event endpoint, which a test registers. */
export const exampleEndpointId = change.approved.changeId
const exampleCursor = 'l5o3mQAAAAEAAAAABBI'
const params = {
  id: { schema: Uuid, description: 'Its endpointId.', example: exampleEndpointId },
} as const

export const eventEndpoints = [
  {
    ...governingGet,
    path: '/event-endpoints',
    readers: true,
    operationId: 'listEventEndpoints',
    tag: 'Events',
    summary: 'Where events are pushed to, and how far each endpoint has been served',
    description: 'For humans and auditors. Whole, up to 4 MiB; then `Link` leads on.',
    query: cursor,
    answers: {
      200: {
        description: 'By URL.',
        schema: EventEndpointList,
        example: {
          publicKeys: ['whpk_ghJFP4W0HwcAl20pgPzHAFKSP2aWuH7MM3lKpdnRCP8='],
          eventEndpoints: [
            {
              endpointId: exampleEndpointId,
              ...registration,
              registeredAt: change.approved.resolvedAt,
              state: 'delivering',
              cursor: exampleCursor,
              hasSecret: true,
              lastSuccessAt: '2026-11-21T16:02:11.480Z',
            },
          ],
        },
        optionalHeaders: ['Link'],
      },
    },
    failures: ['overloaded'],
    readsDatabase: true,
    async handle({ query }, { pool, keys }) {
      const entries = (await readEventEndpoints(pool)).map((row) => ({
        key: row.url,
        text: textWithoutNulls(row),
      }))
      const publicKeys = keys
        .jwks()
        .keys.flatMap(({ algorithm, revokedAt, jwk: { x = '' } }) =>
          algorithm === 'ed25519' && revokedAt === undefined
            ? [`whpk_${Buffer.from(x, 'base64url').toString('base64')}`]
            : [],
        )
      return answerList(query, {
        path: '/event-endpoints',
        member: 'eventEndpoints',
        entries,
        beside: { publicKeys },
      })
    },
  },
  ...changeRoutes({
    kind: 'event-endpoint',
    path: '/event-endpoints/changes',
    noun: 'an event endpoint',
    name: 'EventEndpoint',
    example: change,
    proposal: {
      path: '/event-endpoints/changes',
      description:
        'To register takes url and types, to revoke the url. The endpoint is looked at now, again when it is approved, and at each delivery; it resolves to public addresses only.',
      body: {
        schema: EventEndpointProposal,
        example: {
          ...change.pending.proposed,
          // A loopback address, so that a reader can try it.
          url: 'http://127.0.0.1:8090/events',
          reason: change.pending.reason,
        },
      },
    },
  }),
  {
    ...humanPost,
    path: '/event-endpoints/{id}/secret',
    operationId: 'makeEventEndpointSecret',
    tag: 'Events',
    summary: 'Have a secret made for `v1` signatures',
    description:
      'For humans. The secret is shown in this answer and never again. It replaces the one before, which signs beside it until `previousUntil`, a day later. While an earlier one still signs, another takes a `stepUpAuthorization` of this human for the action `secret`.',
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
    handle: onThread('manage-event-endpoint', { beside: { action: 'secret' } }),
  },
  {
    ...humanPost,
    path: '/event-endpoints/{id}/redeliver',
    operationId: 'redeliverEvents',
    tag: 'Events',
    summary: 'Deliver events again, from a place in the feed on',
    description:
      'For humans. Enables an endpoint that was disabled. Without `after`: from where delivery stopped. A place later than that skips events, which takes a `stepUpAuthorization` of this human for the action `redeliver` and the same `after`. A request without one, or for an earlier place, is 429 within a minute of the last redelivery to the endpoint, and while an endpoint that takes events has not had all that were there when it was asked for.',
    params,
    body: { schema: EventRedelivery, example: {} },
    answers: {
      200: {
        description: 'Delivery begins at once.',
        schema: Type.Object({ endpointId: Uuid }),
        example: { endpointId: exampleEndpointId },
      },
    },
    failures: ['invalidField', 'eventEndpointNotFound', 'stepUpInvalid'],
    readsDatabase: true,
    handle: onThread('manage-event-endpoint', { beside: { action: 'redeliver' } }),
  },
] as const satisfies readonly Route[]
