// Closes an intent in doubt by hand (decisions §8): its end, the signed transition and the audit event are one commit. Where two humans
// must say the same, so are the first one's statement and its audit event.
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { readIntentText } from '../../src/core/intents/shown.ts'
import { isUuid } from '../../src/formats/schemas/primitives.ts'
import { readIntents, type IntendedTransaction } from '../../src/store/tables/execution-intents.ts'
import { noteFirstWord, type FirstWord } from '../../src/store/tables/in-doubt-intents.ts'
import { lockOpen, type LockedBatches } from '../../src/store/tables/released-batches.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import type { Transaction } from '../../src/store/postgres/transaction.ts'
import { allOrNothing } from '../all-or-nothing.ts'
import { startRecording, type Recording } from '../evidence/recording.ts'
import type { ThreadContext } from '../context.ts'
import type { WorkerRequest } from '../in-flight.ts'
import { signEnd, closeLocked, type End } from './transition.ts'

/** The route by which a human says how an intent ends, by the type of its audit event. */
const ROUTES = {
  'intent.first_word': 'POST /execution-intents/{id}/resolve',
  'intent.resolved': 'POST /execution-intents/{id}/resolve',
  'intent.finalized': 'POST /execution-intents/{id}/finalize',
} as const

/** The statement of the first of two humans: it ends nothing yet. */
interface Waits {
  readonly firstWord: Pick<FirstWord, 'resolution' | 'note' | 'stepUpAuthorization'>
}

/** How it is to end, that it waits for a second human, or why it must not end; decided while the intent is locked. */
type EndOf = (of: IntendedTransaction, sql: Sql) => Promise<End | Waits | Failure>

/**
 * Closes the intent that the path names, or notes the statement of the first of two humans.
 * @returns the intent, as 202 where it waits for a second human; 404 where there is none, 409 where it is not in doubt, or the failure of
 *   `endOf`, which all change nothing
 */
export async function closeIntent(
  request: WorkerRequest,
  thread: ThreadContext,
  { type, endOf }: { type: 'intent.resolved' | 'intent.finalized'; endOf: EndOf },
): Promise<{ body: string; status: number } | Failure> {
  const id = request.params['id']?.toLowerCase()
  if (!isUuid(id)) return failures.intentNotFound()
  return allOrNothing(thread.pool, async (sql) => {
    // A thread that is storing its evidence at this moment comes first, and has then closed it.
    const batches = await lockOpen(sql, [id])
    const of = (await readIntents(sql, [id], batches.open)).get(id)
    if (!of?.intent) return failures.intentNotFound()
    const { state, inDoubt } = of.intent
    if (state !== 'RELEASED') return failures.conflict(`The execution intent is ${state}.`)
    if (!inDoubt)
      return failures.conflict('The execution intent is RELEASED, and its deadline has not passed.')
    const end = await endOf(of, sql)
    if (end instanceof Failure) return end
    const closing: Closing = {
      sql,
      of,
      batches,
      by: request.caller.callerId,
      at: new Date().toISOString(),
      recording: startRecording(thread),
    }
    const done = 'firstWord' in end ? await wait(end, closing) : await close(end, type, closing)
    if (done instanceof Failure) return done
    const body = await readIntentText(sql, id, null)
    if (body === null) throw new Error('the intent is gone')
    const { action: capability } = JSON.parse(body) as { action: string }
    const { by, at, recording } = closing
    recording.audit({ ...done, route: ROUTES[done.type], by, at, capability })
    await sql.run(recording.statements())
    return { body, status: done.type === 'intent.first_word' ? 202 : 200 }
  })
}

/** A locked intent on which a human makes a statement. */
interface Closing {
  readonly sql: Transaction
  readonly of: IntendedTransaction
  /** The batch of the intent. */
  readonly batches: LockedBatches
  /** callerId of the human. */
  readonly by: string
  /** ISO 8601. */
  readonly at: string
  readonly recording: Recording
}

/** The act, for its audit event. */
interface Closed {
  readonly type: keyof typeof ROUTES
  readonly reason: string
  readonly detail: { readonly [name: string]: string }
}

async function wait({ firstWord }: Waits, { sql, of, by, at }: Closing): Promise<Closed | Failure> {
  const { businessTransactionId: id } = of
  if (!(await noteFirstWord(sql, id, { ...firstWord, by, at })))
    return failures.conflict('The execution intent came into doubt at this moment. Try again.')
  const { resolution, note } = firstWord
  return {
    type: 'intent.first_word',
    reason: `A human says that it ended as ${resolution}; a second one must say the same.`,
    detail: { businessTransactionId: id, resolution, note },
  }
}

async function close(
  end: End,
  type: Closed['type'],
  { sql, of, batches, by, at, recording }: Closing,
): Promise<Closed> {
  const { state, resolution } = end
  const { businessTransactionId: id, callerId: owner } = of
  const signed = signEnd({ id, from: 'RELEASED', end, by, at, owner }, recording)
  await closeLocked([signed], batches, sql)
  return {
    type,
    reason: `The execution intent is ${state}${resolution === undefined ? '' : `: ${resolution}`}.`,
    detail: { businessTransactionId: id, transitionId: signed.transitionId },
  }
}
