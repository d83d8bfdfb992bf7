// Closing an intent that is in doubt, by hand (decisions §8): its end, the signed transition and the audit event in one commit.
import { randomUUID } from 'node:crypto'
import { Failure, failures } from '../../src/errors.ts'
import { readIntentText } from '../../src/intents/shown.ts'
import { isUuid } from '../../src/schemas/primitives.ts'
import { insertAuditEvents } from '../../src/tables/audit-events.ts'
import { endIntent, lockIntent, type LockedIntent } from '../../src/tables/execution-intents.ts'
import { forget } from '../../src/tables/in-doubt-intents.ts'
import { insertTransition } from '../../src/tables/intent-transitions.ts'
import { failureOf, inTransaction, type Sql } from '../../src/tables/sql.ts'
import { auditEventRow } from '../evidence/audit.ts'
import type { Thread } from '../execute/index.ts'
import {
  arriveWithText,
  forwardAsync,
  type Answered,
  type Request,
  type Travelling,
} from '../execute/road.ts'
import { signTransition, type End } from './transition.ts'

export interface ClosingRoute {
  readonly type: 'intent.resolved' | 'intent.finalized'
  readonly route: string
}

/** Why it is to end so, or why it must not; decided while the intent is locked. */
export type EndOf = (id: string, locked: LockedIntent, sql: Sql) => Promise<End | Failure>

/** One after the other: what humans do is rare, and must not take the connections from executions. */
export async function closeInTurn<Item extends Travelling>(
  items: readonly (Item | Answered)[],
  step: (item: Item) => Promise<(Travelling & { text: string }) | Failure>,
): Promise<Answered[]> {
  const answered: Answered[] = []
  for (const item of items) answered.push(...arriveWithText(await forwardAsync([item], step, failureOf)))
  return answered
}

/**
 * Closes the intent that the path names.
 * out  the intent as it stands then
 * fails 404 where there is none, 409 where it is not in doubt, and as `endOf` does; then nothing has changed
 */
export async function closeIntent(
  request: Request,
  { pool, key }: Thread,
  { route, endOf }: { route: ClosingRoute; endOf: EndOf },
): Promise<(Travelling & { text: string }) | Failure> {
  const id = request.params['id']?.toLowerCase()
  if (!isUuid(id)) return failures.intentNotFound()
  return inTransaction(pool, async (sql) => {
    // Whoever is storing its evidence at this moment comes first, and has then closed it.
    const locked = await lockIntent(sql, id)
    if (locked === null) return failures.intentNotFound()
    if (locked.state !== 'RELEASED') return failures.conflict(`The execution intent is ${locked.state}.`)
    if (!locked.inDoubt)
      return failures.conflict('The execution intent is RELEASED, and its deadline has not passed.')
    const end = await endOf(id, locked, sql)
    if (end instanceof Failure) return end
    const by = request.caller.callerId
    const at = new Date().toISOString()
    const transition = signTransition({ id, from: locked.state, end, by, at }, key)
    const closed = { id, state: end.state, resolution: end.resolution ?? null, closedAt: at }
    if (!(await endIntent(sql, closed))) throw new Error('a locked intent was closed by somebody else')
    await insertTransition(sql, transition)
    await forget(sql, id)
    const text = await readIntentText(sql, id, null)
    // Released by the gateway for a direct caller: no transaction of ours says what it was.
    if (text === null) throw new Error('the intent has no transaction')
    await insertAuditEvents(sql, [
      auditEventRow(
        {
          eventId: randomUUID(),
          ...route,
          occurredAt: at,
          callerId: by,
          reason: `The execution intent is ${end.state}${end.resolution === undefined ? '' : `: ${end.resolution}`}.`,
          capability: (JSON.parse(text) as { action: string }).action,
          severity: 'INFO',
          detail: { businessTransactionId: id, transitionId: transition.transitionId },
        },
        key,
      ),
    ])
    return { request, text }
  })
}
