// Tells the audit of approval requests whose time is over, or whose policy version was retired. The sweep does it, because no HTTP request does. They
// stop counting without any sweep.
import { expireApprovalRequests, type ExpiredRequest } from '../../src/store/tables/approval-requests.ts'
import { inTransaction } from '../../src/store/postgres/transaction.ts'
import type { ThreadContext } from '../context.ts'
import { startRecording, type Done } from '../evidence/recording.ts'

/** The number of requests that one transaction closes. */
const BATCH_MAX = 100

/** Marks all requests whose time is over, and tells the audit of each once. */
export async function expireOverdue(
  thread: Pick<ThreadContext, 'pool' | 'key' | 'startLogEntries'>,
): Promise<void> {
  for (let count = BATCH_MAX; count === BATCH_MAX;)
    count = await inTransaction(thread.pool, async (sql) => {
      const expired = await expireApprovalRequests(sql, BATCH_MAX)
      const recording = startRecording(thread)
      expired.map(endOf).forEach(recording.audit)
      sql.runLast(recording.statements())
      return expired.length
    })
}

/** Undefined where the text was changed in the database and is no request any more: the request has expired all the same. */
function capabilityOf(body: string): string | undefined {
  try {
    return (JSON.parse(body) as { capability: string }).capability
  } catch {
    return undefined
  }
}

function endOf({ requestId, requestedBy, expiresAt, endedByChange, body }: ExpiredRequest): Done {
  const of = { requestId, expiresAt, submittedBy: requestedBy }
  const end =
    endedByChange === null
      ? ({
          type: 'approval_request.expired',
          reason: 'The approval request was not used in its time.',
          detail: of,
        } as const)
      : ({
          type: 'approval_request.ended',
          reason: 'The policy version that the approval request is bound to was retired.',
          detail: { ...of, changeId: endedByChange },
        } as const)
  return { ...end, route: 'service', capability: capabilityOf(body) }
}
