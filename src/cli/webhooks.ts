// countersign webhooks: lists the recent deliveries, or those that are not processed yet; shows one; and has deliveries
// processed again (decisions §10). Works on the database, beside running services or without any.
import type { Pool } from 'pg'
import type { PgBoss } from 'pg-boss'
import { joinJobQueue } from '../store/queues/job-queue.ts'
import { printable } from '../formats/text/printable.ts'
import type { Given } from './command.ts'
import type { webhooks } from './commands.ts'
import { onDatabase, type Env } from './database.ts'
import type { Page } from '../store/tables/page.ts'
import { cursorText, readCursor, type Position } from '../store/tables/position.ts'
import {
  findWebhookEvent,
  listWaitingWebhooks,
  listWebhookEvents,
  readWebhookEvent,
  type ListedDelivery,
  type WaitingWebhook,
  type WebhookStatus,
} from '../store/tables/webhook-events.ts'
import {
  DEAD_WEBHOOK_QUEUE,
  jobsOf,
  WEBHOOK_BATCH_QUEUE,
  WEBHOOK_QUEUE,
} from '../store/queues/webhook-queue.ts'
import { isEmptied, requeue } from '../core/webhooks/requeue.ts'
import { shownWithBody } from '../core/webhooks/shown.ts'

type Listing = Given<typeof webhooks.list>

/** Prints the recent deliveries, or those that are not processed yet. */
export function listWebhooks(env: Env, { status, ...recent }: Listing): Promise<void> {
  if (status === undefined) return listRecent(env, recent)
  return listWaiting(env, { status: status === 'waiting' ? null : status, limit: recent.limit })
}

/**
 * Prints a line for each delivery, oldest first.
 * @param which.status null: any
 */
async function listWaiting(
  env: Env,
  { status, limit }: { readonly status: WebhookStatus | null; readonly limit: number },
): Promise<void> {
  const waiting = await onDatabase(env, async (pool) =>
    (await hasQueues(pool))
      ? listWaitingWebhooks(pool, {
          queues: [WEBHOOK_QUEUE, WEBHOOK_BATCH_QUEUE],
          deadQueue: DEAD_WEBHOOK_QUEUE,
          status,
          limit,
        })
      : undefined,
  )
  if (waiting === undefined)
    return console.error(
      'Nothing waits: no service on this database has taken deliveries. A provider needs its secret first.',
    )
  const now = Date.now()
  for (const webhook of waiting) console.log(printable(lineOf(webhook, now)))
  console.error(waiting.length === 0 ? 'Nothing waits.' : `${waiting.length} listed.`)
}

function lineOf(
  { status, receivedAt, failures, provider, eventId, reason }: WaitingWebhook,
  now: number,
): string {
  const age = ageText(now - receivedAt.getTime())
  const parts = [status, age, `${failures} failures`, provider, eventId, reason ?? '-']
  return parts.map((part) => part.replaceAll(/\s+/g, ' ')).join('  ')
}

/** Milliseconds as text, in the two largest units that matter. */
function ageText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  const units: [string, number][] = [
    ['d', Math.floor(seconds / 86_400)],
    ['h', Math.floor(seconds / 3600) % 24],
    ['m', Math.floor(seconds / 60) % 60],
    ['s', seconds % 60],
  ]
  const first = units.findIndex(([, count]) => count > 0)
  if (first === -1) return '0s'
  return units
    .slice(first, first + 2)
    .map(([unit, count]) => `${count}${unit}`)
    .join('')
}

/**
 * Prints a line for each delivery, newest first, and how the list goes on.
 * @throws Error for a cursor that no list ended with
 */
async function listRecent(
  env: Env,
  { provider, outcome, cursor, limit }: Omit<Listing, 'status'>,
): Promise<void> {
  const behind = cursor === undefined ? null : readCursor(cursor)?.position
  if (behind === undefined) throw new Error('--cursor is not what a list ended with.')
  const filter = { outcome: outcome ?? null, provider: provider ?? null, since: null, until: null }
  const { count, next } = await onDatabase(env, async (pool) => {
    let [listed, after]: [number, Position | null] = [0, behind]
    do {
      const range = { limit: Math.min(limit - listed, 100), offset: 0, after }
      const page: Page<ListedDelivery> = await listWebhookEvents(pool, range, filter)
      for (const row of page.rows) console.log(printable(recentLine(row)))
      listed += page.rows.length
      after = page.next
    } while (after !== null && listed < limit)
    return { count: listed, next: after }
  })
  console.error(`${count} listed.${next === null ? '' : ` Older ones: --cursor ${cursorText(next)}`}`)
}

function recentLine(delivery: ListedDelivery): string {
  const { outcome, receivedAt, provider, eventId, ruleId, businessTransactionId, detail } = delivery
  const parts = [outcome ?? 'waiting', receivedAt, provider, eventId, ruleId, businessTransactionId, detail]
  return parts.map((part) => (part ?? '-').replaceAll(/\s+/g, ' ')).join('  ')
}

/**
 * Prints a delivery with its headers and its body, as JSON.
 * @throws Error where there is none
 */
export async function showWebhook(env: Env, event: { provider: string; eventId: string }): Promise<void> {
  const found = await onDatabase(env, (pool) => find(pool, event))
  if (found === null) throw noDelivery(event)
  console.log(JSON.stringify(shownWithBody(found), null, 2))
}

async function find(pool: Pool, event: { provider: string; eventId: string }) {
  const eventKey = await findWebhookEvent(pool, event)
  return eventKey === null ? null : readWebhookEvent(pool, eventKey)
}

function noDelivery({ provider, eventId }: { provider: string; eventId: string }): Error {
  return new Error(`No delivery ${eventId} of ${provider}.`)
}

/**
 * Has a dead or processed delivery processed again.
 * @throws Error where there is none, it waits already, or nothing is left of it
 */
export async function retryWebhook(env: Env, event: { provider: string; eventId: string }): Promise<void> {
  await onDatabase(env, async (pool) => {
    const found = await find(pool, event)
    if (found === null) throw noDelivery(event)
    const name = `The delivery ${event.eventId} of ${event.provider}`
    if (isEmptied(found)) throw new Error(`${name} was emptied: nothing is left to process.`)
    const requeued = await withQueue(pool, (boss) => requeue({ pool, jobs: jobsOf(boss) }, found))
    if (!requeued) throw new Error(`${name} waits to be processed already.`)
  })
  console.log(`${event.provider} ${event.eventId} is run again.`)
}

/** Has all deliveries processed again that are dead now: one that dies again meanwhile stays. */
export async function retryAllWebhooks(env: Env): Promise<void> {
  const moved = await onDatabase(env, async (pool) => {
    if (!(await hasQueues(pool))) return 0
    return withQueue(pool, async (boss) => {
      const { rows } = await pool.query<{ now: Date }>('SELECT now()')
      let all = 0
      for (;;) {
        const some = await boss.redrive(DEAD_WEBHOOK_QUEUE, { createdBefore: rows[0]?.now ?? new Date() })
        all += some
        if (some === 0) return all
      }
    })
  })
  console.log(moved === 1 ? '1 dead delivery is run again.' : `${moved} dead deliveries are run again.`)
}

async function withQueue<T>(pool: Pool, work: (boss: PgBoss) => Promise<T>): Promise<T> {
  const boss = await joinJobQueue(pool)
  try {
    return await work(boss)
  } finally {
    await boss.stop({ graceful: false })
  }
}

/** Whether a service with a provider has ever run on this database: the first one makes the queues. */
async function hasQueues(pool: Pool): Promise<boolean> {
  const { rowCount: made } = await pool.query(`SELECT WHERE to_regclass('pgboss.queue') IS NOT NULL`)
  if (made === 0) return false
  const { rowCount } = await pool.query('SELECT FROM pgboss.queue WHERE name = $1', [DEAD_WEBHOOK_QUEUE])
  return rowCount === 1
}
