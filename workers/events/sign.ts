// The next events of an endpoint are read from the feed behind its cursor, and signed.
import { Failure } from '../../src/core/errors/errors.ts'
import { cursorText, readCursor } from '../../src/core/events/cursor.ts'
import type { FeedEvent } from '../../src/core/events/event.ts'
import { readEvents } from '../../src/core/events/read.ts'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { readTransaction } from '../../src/store/tables/business-transactions.ts'
import { sha256 } from '../../src/store/sha256.ts'
import { readLeased, scopeOf, type LeasedEndpoint } from '../../src/store/tables/event-deliveries.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import type { LeasedFeed, SignedEvents, UnreadableFeed } from '../../src/core/operations/sign-events.ts'
import type { ThreadContext } from '../context.ts'
import { signDelivery } from './standard-webhooks.ts'

/** The most events of one call: they are delivered one after the other, and signed for a minute. */
const EVENTS_MAX = 50

type SignWith = Pick<ThreadContext, 'pool' | 'key'>

/** Reads and signs for one endpoint. @returns null where the lease is lost */
export async function signEvents(
  lease: LeasedFeed,
  tools: SignWith,
): Promise<SignedEvents | UnreadableFeed | null> {
  const endpoint = await readLeased(tools.pool, lease)
  return endpoint && signFor(endpoint, tools)
}

async function signFor(
  { cursor, types, withParameters, callerIds, secrets }: LeasedEndpoint,
  { pool, key }: SignWith,
): Promise<SignedEvents | UnreadableFeed> {
  const page = await readEvents(pool, {
    after: cursor ?? undefined,
    limit: EVENTS_MAX,
    scope: scopeOf({ types, callerIds }),
  })
  if (page instanceof Failure) return { problem: `cannot be served: ${page.message}` }
  const { mark } = readCursor(page.next)!
  const atMs = Date.now()
  const wanted = page.events.filter((event) => callerIds === null || callerIds.includes(event.callerId ?? ''))
  const events = await Promise.all(
    wanted.map(async (event) => {
      const body = canonicalize({ ...event, ...(withParameters ? await parametersOf(event, pool) : {}) })
      const { log, index } = event.entry
      const { eventId, type, businessTransactionId = null } = event
      const bytes = Buffer.from(body)
      return {
        body,
        about: {
          eventId,
          type,
          businessTransactionId,
          before: cursorText({ mark, log, index }),
          bodySha256: Buffer.from(sha256(bytes)).toString('hex'),
          bodyBytes: bytes.length,
        },
        headers: {
          'content-type': 'application/json',
          ...signDelivery({ id: event.eventId, atMs, body }, { secrets, key }),
        },
        cursor: cursorText({ mark, log, index: index + 1 }),
      }
    }),
  )
  return { events, from: cursor, next: page.next, more: !page.atEnd }
}

/** The parameters as they were submitted; nothing for an event of no execution. */
async function parametersOf(
  { type, businessTransactionId }: FeedEvent,
  sql: Sql,
): Promise<{ readonly parameters?: Json }> {
  if (businessTransactionId === undefined || !type.startsWith('execution.')) return {}
  const body = await readTransaction(sql, businessTransactionId, null)
  if (body === null) return {}
  const { intent } = JSON.parse(body) as { intent: { parameters: Json } }
  return { parameters: intent.parameters }
}
