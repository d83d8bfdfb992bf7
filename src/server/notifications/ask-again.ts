// Reminds approvers of requests that are still open, and tells a further group where the policy escalates them. Whom a request asks needs no
// such work: that follows from its times.
import type { Pool } from 'pg'
import type { PgBoss } from 'pg-boss'
import { addNotifications, type NotificationWay } from '../../store/queues/notification-queue.ts'
import { takeRequestsToAskAgain } from '../../store/tables/approval-requests.ts'
import { inTransaction } from '../../store/postgres/transaction.ts'

/** The number of requests that one transaction takes. */
const BATCH_MAX = 100

/** Takes all requests whose reminder or escalation is due, and adds a message for the requests of each caller, in the same commit. */
export async function askAgain({
  pool,
  boss,
  ways,
}: {
  readonly pool: Pool
  readonly boss: PgBoss
  readonly ways: readonly NotificationWay[]
}): Promise<void> {
  for (let count = BATCH_MAX; count === BATCH_MAX;)
    count = await inTransaction(pool, async (sql) => {
      const taken = await takeRequestsToAskAgain(sql, BATCH_MAX)
      const told = taken.flatMap(({ why, ...request }) => why.map((one) => ({ ...request, why: one })))
      const startAfter = new Date().toISOString()
      for (const requests of Map.groupBy(told, ({ requestedBy, why }) => `${why} ${requestedBy}`).values()) {
        const { why, requestId } = requests[0]!
        const requestIds = requests.map((one) => one.requestId)
        await addNotifications(boss, sql, { requestId, again: { why, requestIds }, startAfter }, ways)
      }
      return taken.length
    })
}
