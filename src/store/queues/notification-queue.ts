// The pg-boss queues of notifications: each configured way tells approvers of a request (docs/handbook/approving.md "Be told"). A job is
// inserted in the commit that opens the request. Each way has a queue of its own, so that a way that hangs holds up no other.
import type { PgBoss, Queue } from 'pg-boss'
import { insertJobs } from './job-queue.ts'
import type { Sql } from '../postgres/sql.ts'

/** Why approvers are told once more of a request. */
export type AskedAgain = 'reminder' | 'escalation'

/** Data of a job. The content is read when it is sent: a request that was closed meanwhile needs no message. */
export interface NotificationJob {
  /** The request that the message was made for; the message also tells of the requests that joined it. */
  readonly requestId: string
  /** Left out: the requests are new. */
  readonly again?: { readonly why: AskedAgain; readonly requestIds: readonly string[] }
}

/** The part of a configured way of notification that a worker thread knows. */
export interface NotificationWay {
  readonly name: string
}

export function notificationQueueName({ name }: NotificationWay): string {
  return `notifications-${name}`
}

/** Twenty attempts in some two hours. */
export function notificationQueue(way: NotificationWay): Queue {
  return {
    name: notificationQueueName(way),
    retryLimit: 19,
    retryDelay: 2,
    retryBackoff: true,
    retryDelayMax: 600,
    // Longer than an attempt. After a kill -9 the job is taken up when this time is over, and the message may come twice.
    expireInSeconds: 60,
    // A request lives a day at most.
    retentionSeconds: 2 * 24 * 3600,
    deleteAfterSeconds: 24 * 3600,
  }
}

/**
 * Adds the jobs of a message, as part of the transaction that opens its first request, or that takes the requests to ask again for.
 * @param message.startAfter ISO 8601, by the database's clock
 * @throws where a queue is missing
 */
export async function addNotifications(
  boss: PgBoss,
  transaction: Sql,
  { startAfter, ...data }: NotificationJob & { readonly startAfter: string },
  ways: readonly NotificationWay[],
): Promise<void> {
  // For every way, even one for other capabilities: a request that joins the message later may have one of them.
  for (const way of ways)
    await insertJobs(boss, transaction, notificationQueueName(way), [{ data, startAfter }])
}
