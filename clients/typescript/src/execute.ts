// One execution, even if the connection breaks: an execute is never sent again before the record was looked for (interface §7 "Idempotency",
// decisions §3).
import { v5 } from 'uuid'
import {
  AnswerError,
  ClosedWithoutRecordError,
  ExecutionFailedError,
  IdUsedForAnotherIntentError,
  InDoubtError,
} from './errors.ts'
import { isUnanswered, nothingWasDone, pause, sendOnce, type Call, type Pacing } from './retry.ts'
import type { components } from './schema.ts'

type Schemas = components['schemas']
type SubmittedTransaction = Schemas['SubmittedTransaction']
type TrustRecord = Schemas['ExecutionTrustRecord']

/** The calls of one transaction; the reads wait and repeat by themselves, and fail with 404 where there is nothing. */
export interface ExecutionCalls {
  readonly execute: Call<TrustRecord>
  readonly trustRecord: () => Promise<TrustRecord>
  readonly refusal: () => Promise<Schemas['RefusalRecord']>
  readonly transaction: () => Promise<Schemas['BusinessTransaction']>
  readonly intent: () => Promise<Schemas['ExecutionIntent']>
}

/**
 * Sends until the service has answered, and reads the record where an answer was lost.
 * @throws AnswerError, also where the lost answer is known to have been a refusal, with 409 where the id was used before
 * @throws IdUsedForAnotherIntentError where the record that is read is of another intent
 * @throws InDoubtError; ConnectionLostError where nothing arrived in any attempt; the signal's reason
 */
export async function executeOnce(
  transaction: SubmittedTransaction,
  { callsOf, pacing }: Sending,
): Promise<TrustRecord> {
  const calls = callsOf(transaction)
  let unanswered = false
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendOnce(calls.execute)
    } catch (error) {
      pacing.signal?.throwIfAborted()
      // After an attempt without an answer, a 409 may come from that attempt.
      const ownDuplicate = unanswered && isDuplicate(error)
      if (isUnanswered(error) && !nothingWasDone(error)) unanswered = true
      else if (mayHaveFailed(error)) {
        // The answer alone does not tell a failed execution from a refusal, and a failure's record is its evidence.
        const record = await orNull(calls.trustRecord()).catch(() => null)
        if (record !== null) return ofIntent(record, transaction)
        throw error
      } else if (!ownDuplicate && !nothingWasDone(error)) throw error
      if (unanswered) {
        const record = await recordOf(transaction, calls, pacing, error)
        if (record !== null) return record
        // A used id without a readable record belongs to another caller.
        if (ownDuplicate) throw error
      }
      await pause(error, attempt, pacing)
    }
  }
}

/** A rejection by the rules, or an execution that failed for certain (decisions §3 "Outcomes"). */
function mayHaveFailed(error: unknown): boolean {
  return error instanceof AnswerError && error.status === 500 && !error.needsApproval
}

/**
 * Returns the record of a completed execution, whether it was just executed or is read again.
 * @throws ExecutionFailedError
 */
export function completed(record: TrustRecord): TrustRecord {
  if (record.executions[0]?.status === 'FAILED') throw new ExecutionFailedError(record)
  return record
}

/** How the transactions of one client are sent and read. */
export interface Sending {
  readonly callsOf: (transaction: SubmittedTransaction) => ExecutionCalls
  readonly pacing: Pacing
}

/** Executes, or reads the record of the execution that this work already had: a 409 means "already submitted; read it". */
export async function executeOrRead(
  transaction: SubmittedTransaction,
  sending: Sending,
): Promise<TrustRecord> {
  try {
    return await executeOnce(transaction, sending)
  } catch (error) {
    if (!isDuplicate(error)) throw error
    const { record, why } = await standingOf(transaction, { ...sending, why: error })
    if (record === null) throw why
    return record
  }
}

/** The progress of a piece of work under its id and under the ids derived from it. */
export interface Standing {
  /** The record of an execution that completed or failed. Null where none of the ids was executed. */
  readonly record: TrustRecord | null
  /** The work under the first id that the service does not know. */
  readonly next: SubmittedTransaction
  /** Why there is no record: the last refusal, or else the error that led to the lookup. */
  readonly why: unknown
}

/**
 * Looks for the record of a piece of work, and sends nothing. Refused work may have been approved since, and executed under the derived id.
 * @param given.why the cause of the InDoubtError where the outcome of an id cannot be known
 */
export async function standingOf(
  transaction: SubmittedTransaction,
  { callsOf, pacing, ...given }: Sending & { readonly why: unknown },
): Promise<Standing> {
  let why = given.why
  for (let next = transaction; ; next = following(next)) {
    try {
      return { record: await recordOf(next, callsOf(next), pacing, why), next, why }
    } catch (error) {
      // The refusal of this id.
      if (!(error instanceof AnswerError)) throw error
      why = error
    }
  }
}

/** The same content under the id that every client derives: `deterministicId(businessTransactionId, 'approved')`. */
export function following(transaction: SubmittedTransaction): SubmittedTransaction {
  const businessTransactionId = v5('approved', transaction.businessTransactionId)
  const metadata = { ...transaction.metadata, businessTransactionId }
  return { ...transaction, businessTransactionId, metadata }
}

/**
 * Reads the record of a transaction that may have been submitted before, and sends nothing. A stored transaction without a record may still
 * be running, so this looks as often as `maxAttempts` allows.
 * @param cause why it is looked for: the cause of the InDoubtError where the outcome cannot be known
 * @returns null where the service does not know its id
 * @throws AnswerError where the transaction was refused, as the lost answer said; ClosedWithoutRecordError; InDoubtError where it stays
 *   without a record, or cannot be read; IdUsedForAnotherIntentError
 */
async function recordOf(
  transaction: SubmittedTransaction,
  calls: ExecutionCalls,
  pacing: Pacing,
  cause: unknown,
): Promise<TrustRecord | null> {
  const id = transaction.businessTransactionId
  for (let look = 1; ; look++) {
    const outcome = await readOnce(calls).catch((error: unknown) => {
      pacing.signal?.throwIfAborted()
      throw new InDoubtError(id, error)
    })
    if (outcome.record !== null) return ofIntent(outcome.record, transaction)
    if (outcome.refusal !== null) throw refused(outcome.refusal)
    if (outcome.transaction === null) return null
    if (outcome.intent !== null && isClosedWithoutRecord(outcome.intent)) {
      if (intentText(outcome.transaction) !== intentText(transaction))
        throw new IdUsedForAnotherIntentError(id, null)
      throw new ClosedWithoutRecordError(outcome.intent, cause)
    }
    await pause(new InDoubtError(id, cause), look, pacing)
  }
}

function ofIntent(record: TrustRecord, transaction: SubmittedTransaction): TrustRecord {
  if (intentText(record.transaction) === intentText(transaction)) return record
  throw new IdUsedForAnotherIntentError(record.businessTransactionId, record)
}

/** Whether a statement closed the intent. If evidence closed it, the record was stored after the lookup, and the next lookup finds it. */
function isClosedWithoutRecord({ state, resolution, transitions }: Schemas['ExecutionIntent']): boolean {
  if (state === 'RESOLVED') return resolution !== undefined
  const last = transitions.at(-1)?.transition
  return state === 'ERRORED' && last?.to === 'ERRORED' && last.trustRecordHash === undefined
}

/**
 * Reads in the order of certainty, and stops at the first result. A stored transaction without an intent proves nothing: after a restored
 * backup the ids of executed transactions are stored like that (the handbook's "Keeping").
 */
async function readOnce({ trustRecord, refusal, transaction, intent }: ExecutionCalls) {
  const record = await orNull(trustRecord())
  const refusalRecord = record === null ? await orNull(refusal()) : null
  const stored = record === null && refusalRecord === null ? await orNull(transaction()) : null
  return {
    record,
    refusal: refusalRecord,
    transaction: stored,
    intent: stored === null ? null : await orNull(intent()),
  }
}

function orNull<T>(found: Promise<T>): Promise<T | null> {
  return found.catch((error: unknown) => {
    if (error instanceof AnswerError && error.status === 404) return null
    throw error
  })
}

/** Signals that do not match are a 403, a rejection by the rules is a 500 (decisions §3 "Outcomes"). */
function refused({ decision, mismatches, approvable }: Schemas['RefusalRecord']): AnswerError {
  const answered =
    mismatches.length === 0 ? { status: 500, code: 'RUNTIME_ERROR' } : { status: 403, code: 'POLICY_DENIED' }
  return new AnswerError(`Execution rejected: ${decision.reason}`, {
    ...answered,
    needsApproval: approvable === true,
  })
}

export function isDuplicate(error: unknown): boolean {
  return error instanceof AnswerError && error.status === 409
}

/** Writes the content that the id stands for; everything else may differ between two submissions of the same work. */
function intentText({ intent }: { intent: SubmittedTransaction['intent'] }): string {
  return JSON.stringify([intent.action, intent.target, intent.parameters ?? {}], (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? sortedByKey(value) : value,
  )
}

function sortedByKey(value: object): object {
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
