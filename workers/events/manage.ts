// The acts of a human on an event endpoint beside registering it: having a secret made, and events delivered again.
import { randomBytes } from 'node:crypto'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { isLater } from '../../src/core/events/cursor.ts'
import { FROM_NOW, newestCursor, readEvents } from '../../src/core/events/read.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import { EventRedeliveryRead, EventSecretRequestRead } from '../../src/formats/schemas/event-endpoint.ts'
import { isEndpointStepUp, type EndpointStepUp } from '../../src/formats/schemas/governance.ts'
import { isUuid } from '../../src/formats/schemas/primitives.ts'
import { lockEndpoint, redeliver, replaceSecret } from '../../src/store/tables/event-deliveries.ts'
import { consumeStepUpNonce } from '../../src/store/tables/pending-changes.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import { allOrNothing } from '../all-or-nothing.ts'
import { checkStepUp } from '../authority/step-up.ts'
import type { ThreadContext } from '../context.ts'
import { startRecording } from '../evidence/recording.ts'
import type { ScopedCaller, WorkerRequest } from '../in-flight.ts'
import { secretText } from './standard-webhooks.ts'

const SECRET_BYTES = 32
/** The most replaced secrets that still sign: each of them signs every delivery. */
const EARLIER_SECRETS_MAX = 8
/** The duration of a redelivery is unknown: a waiting client asks again after this time. */
const GOING_ON_SECONDS = 60

type Locked = NonNullable<Awaited<ReturnType<typeof lockEndpoint>>>

interface Action {
  readonly type: 'event_endpoint.secret_made' | 'event_endpoint.redelivered'
  readonly route: 'POST /event-endpoints/{id}/secret' | 'POST /event-endpoints/{id}/redeliver'
  readonly reason: string
  readonly bodyOf: (body: Uint8Array) => Given | Failure
  /** Whether it may cost a receiver events or its signatures: one stolen key must not suffice for that. */
  readonly needsStepUp: (locked: Locked, after: string | undefined) => boolean
  readonly act: (sql: Sql, endpoint: Acting) => Promise<object | Failure>
}

interface Given {
  readonly after?: string
  readonly stepUpAuthorization?: unknown
}

interface Acting {
  readonly endpointId: string
  readonly locked: Locked
  /** A place in the feed; undefined: where delivery stopped. */
  readonly after: string | undefined
  /** Whether the human's step-up came with it. */
  readonly isSigned: boolean
}

const actions: Readonly<Record<'secret' | 'redeliver', Action>> = {
  secret: {
    type: 'event_endpoint.secret_made',
    route: 'POST /event-endpoints/{id}/secret',
    reason: 'A secret was made for the event endpoint.',
    bodyOf: bodyOf(EventSecretRequestRead),
    needsStepUp: ({ earlierSecrets }) => earlierSecrets > 0,
    async act(sql, { endpointId, locked }) {
      if (locked.earlierSecrets >= EARLIER_SECRETS_MAX)
        return failures.conflict(
          `${EARLIER_SECRETS_MAX} secrets that were replaced within a day sign still: wait until one of them has ended.`,
        )
      const secret = randomBytes(SECRET_BYTES)
      const until = await replaceSecret(sql, endpointId, secret)
      return { secret: secretText(secret), ...(until === null ? {} : { previousUntil: until }) }
    },
  },
  redeliver: {
    type: 'event_endpoint.redelivered',
    route: 'POST /event-endpoints/{id}/redeliver',
    reason: 'Events are delivered again to the event endpoint, which is enabled.',
    bodyOf: bodyOf(EventRedeliveryRead),
    needsStepUp: ({ cursor }, after) => after !== undefined && isLater(after, cursor),
    async act(sql, { endpointId, locked, after, isSigned }) {
      const seconds = isSigned && !sendsAgain(locked, after) ? 0 : secondsToRedelivery(locked)
      if (seconds > 0) return failures.redeliveryGoesOn(seconds)
      await redeliver(sql, { endpointId, cursor: after ?? null, until: await newestCursor(sql) })
      return { endpointId, result: TRIED }
    },
  },
}

/** The attempt comes after the answer. */
const TRIED =
  'The endpoint is enabled, and delivery begins at once. What came of it is in lastFailure and attempts of GET /event-endpoints/{id}.'

/** Whether events may be sent again. */
function sendsAgain({ cursor }: Locked, after: string | undefined): boolean {
  return after === undefined || (cursor !== null && isLater(cursor, after))
}

/**
 * An endpoint has one redelivery at a time, whichever human asks: put back again and again, it would never deliver new
 * events. A redelivery has ended where the endpoint fails, since nothing moves on until the next attempt.
 * @returns 0 where the next one may begin
 */
function secondsToRedelivery({ cursor, delivers, redeliveredUntil, pauseSeconds }: Locked): number {
  const goesOn = delivers && redeliveredUntil !== null && isLater(redeliveredUntil, cursor)
  return Math.max(pauseSeconds, goesOn ? GOING_ON_SECONDS : 0)
}

/** The act, its step-up and its audit event are one commit. */
export async function manageEndpoint(
  { body, params, caller }: WorkerRequest,
  thread: Pick<ThreadContext, 'pool' | 'key' | 'startLogEntries'>,
) {
  const { pool } = thread
  const name = params['action'] as keyof typeof actions
  const action = actions[name]
  const given = action.bodyOf(body)
  if (given instanceof Failure) return given
  const after = given.after === undefined ? undefined : await cursorOf(given.after, pool)
  if (after instanceof Failure) return after
  const endpointId = params['id']?.toLowerCase()
  if (!isUuid(endpointId)) return failures.eventEndpointNotFound()
  return allOrNothing(pool, async (sql) => {
    const locked = await lockEndpoint(sql, endpointId)
    if (locked === undefined) return failures.eventEndpointNotFound()
    const isGiven = given.stepUpAuthorization !== undefined
    const stepUp =
      isGiven || params['stepUp'] === 'required' || action.needsStepUp(locked, after)
        ? await authorized(sql, { given, action: name, endpointId, caller })
        : undefined
    if (stepUp instanceof Failure) return stepUp
    const answer = await action.act(sql, { endpointId, locked, after, isSigned: stepUp !== undefined })
    if (answer instanceof Failure) return answer
    const { type, route, reason } = action
    const recording = startRecording(thread)
    recording.audit({
      type,
      route,
      by: caller.callerId,
      reason,
      detail: {
        endpointId,
        ...(after === undefined ? {} : { after }),
        ...(stepUp === undefined ? {} : { stepUpAuthorization: stepUp }),
      },
    })
    await sql.run(recording.statements())
    return { body: JSON.stringify(answer) }
  })
}

/** Consumes the nonce of the step-up, under the change that registered the endpoint, whose id the endpoint has. */
async function authorized(
  sql: Sql,
  {
    given,
    action,
    endpointId,
    caller,
  }: { given: Given; action: keyof typeof actions; endpointId: string; caller: ScopedCaller },
): Promise<EndpointStepUp | Failure> {
  const now = new Date()
  const stepUp = checkStepUp(given.stepUpAuthorization, {
    isShaped: isEndpointStepUp,
    mismatch(payload) {
      if (payload.endpointId !== endpointId) return 'it is for another endpoint'
      if (payload.action !== action) return `it is not for the action ${action}`
      return payload.after === given.after ? undefined : 'its after is not that of the body'
    },
    by: caller,
    now,
  })
  if (stepUp instanceof Failure) return stepUp
  const { nonce } = stepUp.payload
  const isFresh = await consumeStepUpNonce(sql, { nonce, changeId: endpointId, at: now.toISOString() })
  return isFresh ? stepUp : failures.stepUpInvalid('its nonce has been used')
}

/** A place in the feed as it was given, or the newest. */
async function cursorOf(after: string, sql: Sql): Promise<string | Failure> {
  const page = await readEvents(sql, { after, limit: 1, scope: { callerId: null } })
  if (page instanceof Failure) return page
  return after === FROM_NOW ? page.next : after
}
