// Tells approvers once more of requests that are still open, and a further group where the policy escalates them. The sweep does it, because no
// request does. Whom a request asks needs no sweep: its times say that.
import type { PgBoss } from 'pg-boss'
import { addNotifications, type NotificationWay } from '../../src/store/queues/notification-queue.ts'
import { takeRequestsToAskAgain } from '../../src/store/tables/approval-requests.ts'
import { inTransaction } from '../../src/store/postgres/transaction.ts'
import type { ThreadContext } from '../context.ts'

/** The number of requests that one transaction takes. */
const BATCH_MAX = 100

/** Takes all requests whose reminder or escalation is due, and adds a message for those of each caller, in one commit with the taking. */
export async function askAgain({
  pool,
  notificationWays: ways,
  joinQueue,
}: Pick<ThreadContext, 'pool'> & {
  readonly notificationWays: readonly NotificationWay[]
  readonly joinQueue: () => Promise<PgBoss>
}): Promise<void> {
  if (ways.length === 0) return
  for (let count = BATCH_MAX; count === BATCH_MAX;)
    count = await inTransaction(pool, async (sql) => {
      const taken = await takeRequestsToAskAgain(sql, BATCH_MAX)
      const told = taken.flatMap(({ why, ...request }) => why.map((one) => ({ ...request, why: one })))
      const messages = [...Map.groupBy(told, ({ requestedBy, why }) => `${why} ${requestedBy}`).values()]
      if (messages.length === 0) return 0
      const boss = await joinQueue()
      const startAfter = new Date().toISOString()
      for (const requests of messages) {
        const { why, requestId } = requests[0]!
        const requestIds = requests.map((one) => one.requestId)
        await addNotifications(boss, sql, { requestId, again: { why, requestIds }, startAfter }, ways)
      }
      return taken.length
    })
}
