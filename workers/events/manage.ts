// What a human does with an event endpoint beside registering it: has a secret made, and has events delivered again.
import { randomBytes } from 'node:crypto'
import { Failure, failures } from '../../src/core/errors.ts'
import { FROM_NOW, readEvents } from '../../src/core/events/read.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import { EventRedelivery } from '../../src/core/schemas/event-endpoint.ts'
import { NoMembers } from '../../src/core/schemas/execution-intent.ts'
import { isUuid } from '../../src/core/schemas/primitives.ts'
import { redeliver, replaceSecret } from '../../src/core/tables/event-deliveries.ts'
import type { Sql } from '../../src/core/postgres/sql.ts'
import { allOrNothing } from '../all-or-nothing.ts'
import type { ThreadContext } from '../context.ts'
import { auditEvent, auditAndLog } from '../evidence/audit.ts'
import type { WorkerRequest } from '../in-flight.ts'
import { secretText } from './standard-webhooks.ts'

const SECRET_BYTES = 32

const actions = {
  secret: {
    type: 'event_endpoint.secret_made',
    route: 'POST /event-endpoints/{id}/secret',
    reason: 'A secret was made for the event endpoint.',
    bodyOf: bodyOf(NoMembers),
    async act(sql: Sql, endpointId: string): Promise<object | undefined> {
      const secret = randomBytes(SECRET_BYTES)
      const until = await replaceSecret(sql, endpointId, secret)
      if (until === undefined) return undefined
      return { secret: secretText(secret), ...(until === null ? {} : { previousUntil: until }) }
    },
  },
  redeliver: {
    type: 'event_endpoint.redelivered',
    route: 'POST /event-endpoints/{id}/redeliver',
    reason: 'Events are delivered again to the event endpoint, which is enabled.',
    bodyOf: bodyOf(EventRedelivery),
    async act(sql: Sql, endpointId: string, after?: string) {
      return (await redeliver(sql, endpointId, after ?? null)) ? { endpointId } : undefined
    },
  },
} as const

type EndpointAction = keyof typeof actions

/** The act and its audit event are one commit. */
export async function manageEndpoint(
  { body, params, caller }: WorkerRequest,
  { pool, key, startLogBatch }: Pick<ThreadContext, 'pool' | 'key' | 'startLogBatch'>,
) {
  const action = actions[params['action'] as EndpointAction]
  const given: { after?: string } | Failure = action.bodyOf(body)
  if (given instanceof Failure) return given
  const after = given.after === undefined ? undefined : await cursorOf(given.after, pool)
  if (after instanceof Failure) return after
  const id = params['id']?.toLowerCase()
  if (!isUuid(id)) return failures.eventEndpointNotFound()
  return allOrNothing(pool, async (sql) => {
    const answer = await action.act(sql, id, after)
    if (answer === undefined) return failures.eventEndpointNotFound()
    const { type, route, reason } = action
    const log = startLogBatch()
    const event = auditEvent(
      {
        type,
        route,
        by: caller.callerId,
        reason,
        detail: { endpointId: id, ...(after === undefined ? {} : { after }) },
      },
      key,
    )
    await sql.run(auditAndLog([event], log))
    return { body: JSON.stringify(answer) }
  })
}

/** A place in the feed as it was given, or the newest. */
async function cursorOf(after: string, sql: Sql): Promise<string | Failure> {
  const page = await readEvents(sql, { after, limit: 1, scope: { callerId: null } })
  if (page instanceof Failure) return page
  return after === FROM_NOW ? page.next : after
}
