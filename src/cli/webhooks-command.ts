// countersign webhooks: the deliveries that are not processed yet, and the dead ones run again (decisions §10). Works on the database,
// beside running services or without any.
import { DatabaseError, type Pool } from 'pg'
import { printable } from '../core/printable.ts'
import {
  findWebhookEvent,
  listWaitingWebhooks,
  type WaitingWebhook,
  type WebhookStatus,
} from '../core/tables/webhook-events.ts'
import { openPool } from '../core/tables/sql.ts'
import { DEAD_WEBHOOK_QUEUE, joinWebhookQueue, WEBHOOK_QUEUE } from '../core/webhooks/queue.ts'

/** Prints a line each, oldest first. */
export async function listWebhooks({
  databaseUrl,
  status = null,
  limit,
}: {
  databaseUrl: string
  status?: WebhookStatus | null
  limit: number
}): Promise<void> {
  const waiting = await onDatabase(databaseUrl, (pool) =>
    listWaitingWebhooks(pool, {
      queue: WEBHOOK_QUEUE,
      deadQueue: DEAD_WEBHOOK_QUEUE,
      status,
      limit,
    }),
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

/** @throws Error where no dead delivery has that id */
export async function retryWebhook(
  databaseUrl: string,
  event: { provider: string; eventId: string },
): Promise<void> {
  const moved = await onDatabase(databaseUrl, async (pool) => {
    const id = await findWebhookEvent(pool, event)
    return id === null ? 0 : redrive(pool, (boss) => boss.redrive(DEAD_WEBHOOK_QUEUE, { data: { id } }))
  })
  if (moved === 0) throw new Error(`No dead delivery ${event.eventId} of ${event.provider}.`)
  console.log(`${event.provider} ${event.eventId} is run again.`)
}

/** Those that are dead now: one that dies again meanwhile stays. */
export async function retryAllWebhooks(databaseUrl: string): Promise<void> {
  const moved = await onDatabase(databaseUrl, (pool) =>
    redrive(pool, async (boss) => {
      const { rows } = await pool.query<{ now: Date }>('SELECT now()')
      let all = 0
      for (;;) {
        const some = await boss.redrive(DEAD_WEBHOOK_QUEUE, { createdBefore: rows[0]?.now ?? new Date() })
        all += some
        if (some === 0) return all
      }
    }),
  )
  console.log(moved === 1 ? '1 dead delivery is run again.' : `${moved} dead deliveries are run again.`)
}

async function redrive(
  pool: Pool,
  work: (boss: Awaited<ReturnType<typeof joinWebhookQueue>>) => Promise<number>,
): Promise<number> {
  const boss = await joinWebhookQueue(pool)
  try {
    return await work(boss)
  } finally {
    await boss.stop({ graceful: false })
  }
}

/** Throws a sentence where no service with a provider ever ran on this database. */
async function onDatabase<T>(databaseUrl: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool(databaseUrl, 1)
  try {
    return await work(pool)
  } catch (error) {
    const missing = error instanceof DatabaseError && ['42P01', '3F000'].includes(error.code ?? '')
    if (!missing && !(error instanceof Error && error.message === 'pg-boss is not installed')) throw error
    throw new Error('No service on this database has taken deliveries: a provider needs its secret first.', {
      cause: error,
    })
  } finally {
    await pool.end()
  }
}
