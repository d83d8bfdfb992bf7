// The sweep (decisions §8): finds intents that are still RELEASED after their deadline, notes them as in doubt and tells the audit; and
// takes out those that have been closed since. It changes no intent: an effect that may have happened is never tried again.
// Each sweep looks at every intent that is open, so what one passes over, because somebody is closing it, the next one finds.
import type { SigningKey } from '../../src/core/signing/keys.ts'
import type { AuditEventRow } from '../../src/core/tables/audit-events.ts'
import { findInDoubt, lockInDoubt, type DoubtedIntent } from '../../src/core/tables/execution-intents.ts'
import { forgetClosed, noteInDoubt } from '../../src/core/tables/in-doubt-intents.ts'
import { LEAST_UUID } from '../../src/core/tables/position.ts'
import { inTransaction } from '../../src/core/tables/transaction.ts'
import type { ThreadContext } from '../context.ts'
import { expireOverdue } from '../approval-requests/expire.ts'
import { auditEvent, storeAuditEvents } from '../evidence/audit.ts'
import { Finished, type InFlight } from '../in-flight.ts'

/** One transaction notes at most this many: each of them reads the text of a business transaction, 100 KB at most. */
const BATCH_MAX = 100

type SweepWith = Pick<ThreadContext, 'pool' | 'key' | 'startLogBatch'>

/**
 * Sweeps once for all requests of the batch, and ends approval requests whose time is over.
 * @returns {noticed} in the answer to the first request alone
 */
export async function sweepIntents(batch: readonly InFlight[], tools: SweepWith): Promise<Finished[]> {
  const noticed = await sweep(tools)
  await expireOverdue(tools)
  return batch.map(
    ({ request }, i) => new Finished(request, { body: JSON.stringify({ noticed: i === 0 ? noticed : 0 }) }),
  )
}

async function sweep(tools: SweepWith): Promise<number> {
  const { pool } = tools
  while ((await forgetClosed(pool, BATCH_MAX)) === BATCH_MAX);
  let noticed = 0
  let after = LEAST_UUID
  for (;;) {
    const found = await findInDoubt(pool, { after, limit: BATCH_MAX })
    const last = found.at(-1)
    if (last === undefined) return noticed
    noticed += await notice(found, tools)
    if (found.length < BATCH_MAX) return noticed
    after = last
  }
}

/** Takes sorted ids, and resolves to how many of them this call noted. */
function notice(ids: readonly string[], { pool, key, startLogBatch }: SweepWith): Promise<number> {
  return inTransaction(pool, async (sql) => {
    const locked = await lockInDoubt(sql, ids)
    const noted = await noteInDoubt(sql, locked.map(({ id }) => id).toSorted())
    const events = locked.filter(({ id }) => noted.has(id)).map((intent) => eventOf(intent, key))
    const log = startLogBatch()
    sql.runLast([...storeAuditEvents(events, log), ...log.steps()])
    return noted.size
  })
}

function eventOf({ id, deadline, callerId, transaction }: DoubtedIntent, key: SigningKey): AuditEventRow {
  return auditEvent(
    {
      type: 'intent.in_doubt',
      // Of no request: the service looks by itself.
      route: 'service',
      reason:
        'The execution intent is still RELEASED after its deadline: whether the effect happened is not known.',
      capability: transaction === null ? undefined : actionOf(transaction),
      severity: 'WARNING',
      detail: {
        businessTransactionId: id,
        deadline,
        ...(callerId === null ? {} : { submittedBy: callerId }),
      },
    },
    key,
  )
}

/** Undefined for what was changed in the database until it is no transaction: its intent is in doubt all the same. */
function actionOf(transaction: string): string | undefined {
  try {
    return (JSON.parse(transaction) as { intent: { action: string } }).intent.action
  } catch {
    return undefined
  }
}
