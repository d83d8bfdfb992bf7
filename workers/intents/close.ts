// Closing an intent that is in doubt, by hand (decisions §8): its end, the signed transition and the audit event in one commit.
import { Failure, failures } from '../../src/core/errors.ts'
import { readIntentText } from '../../src/core/intents/shown.ts'
import { artifactEntry } from '../../src/core/log/artifacts.ts'
import { isUuid } from '../../src/core/schemas/primitives.ts'
import { endIntents, lockIntent, type LockedIntent } from '../../src/core/tables/execution-intents.ts'
import { forget } from '../../src/core/tables/in-doubt-intents.ts'
import { insertTransitions } from '../../src/core/tables/intent-transitions.ts'
import type { Sql } from '../../src/core/tables/sql.ts'
import { allOrNothing } from '../all-or-nothing.ts'
import { sha256Hex } from '../../src/core/signing/sha256.ts'
import { auditEvent, storeAuditEvents } from '../evidence/audit.ts'
import type { ThreadContext } from '../context.ts'
import type { WorkerRequest } from '../in-flight.ts'
import { signTransition, type End } from './transition.ts'

/** The route by which a human closes an intent, by the type of its audit event. */
const ROUTES = {
  'intent.resolved': 'POST /execution-intents/{id}/resolve',
  'intent.finalized': 'POST /execution-intents/{id}/finalize',
} as const

/** Why it is to end so, or why it must not; decided while the intent is locked. */
type EndOf = (id: string, locked: LockedIntent, sql: Sql) => Promise<End | Failure>

/**
 * Closes the intent that the path names.
 * @returns the closed intent; 404 where there is none, 409 where it is not in doubt, or the failure of `endOf`, which all change nothing
 */
export async function closeIntent(
  request: WorkerRequest,
  { pool, key, startLogBatch }: ThreadContext,
  { type, endOf }: { type: keyof typeof ROUTES; endOf: EndOf },
): Promise<{ body: string } | Failure> {
  const id = request.params['id']?.toLowerCase()
  if (!isUuid(id)) return failures.intentNotFound()
  return allOrNothing(pool, async (sql) => {
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
    if ((await sql.run(endIntents([closed]))).length !== 1)
      throw new Error('a locked intent was closed by somebody else')
    const log = startLogBatch()
    const position = log.add(() => ({
      ...artifactEntry.intentTransition(transition.body, sha256Hex),
      id: transition.transitionId,
      streams: {},
      ...(locked.callerId === null ? {} : { owner: locked.callerId }),
    }))
    await sql.run(insertTransitions([{ ...transition, ...position }]))
    await forget(sql, [id])
    const body = await readIntentText(sql, id, null)
    // Released by the gateway for a direct caller: no transaction of ours says what it was.
    if (body === null) throw new Error('the intent has no transaction')
    const event = auditEvent(
      {
        type,
        route: ROUTES[type],
        by,
        at,
        reason: `The execution intent is ${end.state}${end.resolution === undefined ? '' : `: ${end.resolution}`}.`,
        capability: (JSON.parse(body) as { action: string }).action,
        detail: { businessTransactionId: id, transitionId: transition.transitionId },
      },
      key,
    )
    await sql.run([...storeAuditEvents([event], log), ...log.steps()])
    return { body }
  })
}
