// The sweep (decisions §8): finds intents that are still RELEASED after their deadline, notes them as in doubt and tells the audit; and
// takes out those that have been closed since. It changes no intent: an effect that may have happened is never tried again.
//
// The horizon is the deadline up to which nothing is left to be found, so that a sweep reads what is new and not what ever ran. An
// intent that somebody is closing at this moment is passed over, and the horizon stays before it.
import type { Pool } from 'pg'
import type { SigningKey } from '../../src/signing/keys.ts'
import { insertAuditEvents, type AuditEventRow } from '../../src/tables/audit-events.ts'
import { findPastDeadline, lockInDoubt, type DoubtedIntent } from '../../src/tables/execution-intents.ts'
import {
  advanceHorizon,
  forgetClosed,
  noteInDoubt,
  readSweepRange,
  type SweepRange,
} from '../../src/tables/in-doubt-intents.ts'
import { inTransaction } from '../../src/tables/transaction.ts'
import { auditEvent } from '../evidence/audit.ts'
import { Answered, type Travelling } from '../execute/road.ts'

/** Of one transaction: each of them reads the text of a business transaction, 100 KB at most. */
const BATCH_MAX = 100

interface SweepWith {
  readonly pool: Pool
  readonly key: SigningKey
}

/**
 * Sweeps once for all who ask for it now.
 * in   bodies of the main thread's own making: how far before the horizon to look, in milliseconds
 * out  {noticed}, told to the first of them alone
 */
export async function sweepIntents(batch: readonly Travelling[], tools: SweepWith): Promise<Answered[]> {
  const lookBackMs = Math.max(...batch.map(({ request }) => Number(Buffer.from(request.body).toString())))
  const noticed = await sweep(lookBackMs, tools)
  return batch.map(
    ({ request }, i) => new Answered(request, { body: JSON.stringify({ noticed: i === 0 ? noticed : 0 }) }),
  )
}

async function sweep(lookBackMs: number, tools: SweepWith): Promise<number> {
  const { pool } = tools
  while ((await forgetClosed(pool, BATCH_MAX)) === BATCH_MAX);
  let noticed = 0
  for (;;) {
    const range = await readSweepRange(pool, lookBackMs)
    const found = await notice(range, tools)
    noticed += found.noticed
    if (!found.more) return noticed
  }
}

/** out  more  all that was found is noticed, and there is more to look at: as many as one transaction takes, or the days up to now */
async function notice(
  range: SweepRange,
  { pool, key }: SweepWith,
): Promise<{ noticed: number; more: boolean }> {
  const past = await findPastDeadline(pool, { ...range, limit: BATCH_MAX })
  const last = past.at(-1)
  if (last === undefined) {
    await advanceHorizon(pool, range.until)
    return { noticed: 0, more: !range.isLast }
  }
  return inTransaction(pool, async (sql) => {
    const locked = await lockInDoubt(
      sql,
      past.map(({ id }) => id),
    )
    const noted = await noteInDoubt(sql, locked.map(({ id }) => id).toSorted())
    const events = locked.filter(({ id }) => noted.has(id)).map((intent) => eventOf(intent, key))
    sql.runLast(insertAuditEvents(events))
    // Oldest first: before the first one that is left, or where this look ended, nothing is.
    const left = past.find(({ id }) => !noted.has(id))
    const full = past.length === BATCH_MAX
    const reached = full ? last.deadline : range.until
    await advanceHorizon(sql, left?.deadline ?? reached)
    return { noticed: noted.size, more: (full || !range.isLast) && left === undefined }
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
        deadline: deadline.toISOString(),
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
