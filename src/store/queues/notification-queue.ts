// The pg-boss queues of notifications: approvers are told of a request by each configured way (docs/handbook/approving.md "Be told"). A job is
// inserted in the commit that opens the request. Each way has a queue of its own, so that one that hangs holds up no other.
import type { PgBoss, Queue } from 'pg-boss'
import { insertJobs } from './job-queue.ts'
import type { Sql } from '../postgres/sql.ts'

/** Why approvers are told once more of a request. */
export type AskedAgain = 'reminder' | 'escalation'

/** Data of a job. The content is read when it is sent: a request that was closed meanwhile needs no message. */
export interface NotificationJob {
  /** The request that the message was made for; it tells of those that joined it, too. */
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
    // Longer than an attempt. After a kill -9 the job is taken up when this is over, and the message may come twice.
    expireInSeconds: 60,
    // A request lives a day at most.
    retentionSeconds: 2 * 24 * 3600,
    deleteAfterSeconds: 24 * 3600,
  }
}

/**
 * Adds the jobs of a message, as part of the transaction that opens its first request or takes those that are asked for again.
 * @param message.startAfter ISO 8601, by the database's clock
 * @throws where a queue is missing
 */
export async function addNotifications(
  boss: PgBoss,
  transaction: Sql,
  { startAfter, ...data }: NotificationJob & { readonly startAfter: string },
  ways: readonly NotificationWay[],
): Promise<void> {
  // For each way, also for one that tells of other capabilities: what joins the message may have one of them.
  for (const way of ways)
    await insertJobs(boss, transaction, notificationQueueName(way), [{ data, startAfter }])
}
