// One execution, whatever happens to the connection: an execute is never sent again before the record was looked for (interface §7
// "Idempotency", decisions §3).
import { CountersignError, IdUsedForAnotherIntentError, InDoubtError } from './errors.ts'
import { isUnanswered, nothingWasDone, pause, sendOnce, type Call, type Pacing } from './retry.ts'
import type { components } from './schema.ts'

type Schemas = components['schemas']
type SubmittedTransaction = Schemas['SubmittedTransaction']
type TrustRecord = Schemas['ExecutionTrustRecord']

/** The calls of one transaction; the three reads wait and repeat by themselves, and fail with 404 where there is nothing. */
export interface ExecutionCalls {
  readonly execute: Call<TrustRecord>
  readonly trustRecord: () => Promise<TrustRecord>
  readonly refusal: () => Promise<Schemas['RefusalRecord']>
  readonly transaction: () => Promise<Schemas['BusinessTransaction']>
}

/**
 * Sends until the service has answered, and reads the record where an answer was lost.
 * @throws CountersignError, also where the lost answer is known to have been a refusal, with 409 where the id was used before
 * @throws InDoubtError; the network's own error where nothing arrived in any attempt; the signal's reason
 */
export async function executeOnce(id: string, calls: ExecutionCalls, pacing: Pacing): Promise<TrustRecord> {
  let unanswered = false
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendOnce(calls.execute)
    } catch (error) {
      pacing.signal?.throwIfAborted()
      // After an attempt without an answer, a 409 is that attempt's.
      const ownDuplicate = unanswered && isDuplicate(error)
      if (isUnanswered(error) && !nothingWasDone(error)) unanswered = true
      else if (!ownDuplicate && !nothingWasDone(error)) throw error
      if (unanswered) {
        const record = await readOutcome(id, calls, pacing, error)
        if (record !== null) return record
        // An id that is taken and not to be read is another caller's.
        if (ownDuplicate) throw error
      }
      await pause(error, attempt, pacing)
    }
  }
}

/** Executes, or reads the record of the execution that this id already had: a 409 means "already submitted; read it". */
export async function executeOrRead(
  transaction: SubmittedTransaction,
  calls: ExecutionCalls,
  pacing: Pacing,
): Promise<TrustRecord> {
  try {
    return await executeOnce(transaction.businessTransactionId, calls, pacing)
  } catch (error) {
    if (!isDuplicate(error)) throw error
    const record = await recordOf(transaction, calls, pacing, error)
    if (record === null) throw error
    return record
  }
}

/**
 * Reads the record of a transaction that may have been submitted before, and sends nothing.
 * @param cause why it is looked for: of the InDoubtError where the outcome cannot be known
 * @returns null where the service does not know its id
 * @throws IdUsedForAnotherIntentError; CountersignError where the transaction was refused
 */
export async function recordOf(
  transaction: SubmittedTransaction,
  calls: ExecutionCalls,
  pacing: Pacing,
  cause: unknown,
): Promise<TrustRecord | null> {
  const record = await readOutcome(transaction.businessTransactionId, calls, pacing, cause)
  if (record !== null && intentText(record.transaction) !== intentText(transaction))
    throw new IdUsedForAnotherIntentError(record)
  return record
}

/**
 * Reads the record. A stored transaction without a record may still be running, so this looks as often as anything is attempted.
 * Returns null where the service does not know the id. Throws CountersignError where the transaction was refused, which is what the lost
 * answer said, and InDoubtError where it stays without a record, or cannot be read.
 */
async function readOutcome(
  id: string,
  calls: ExecutionCalls,
  pacing: Pacing,
  cause: unknown,
): Promise<TrustRecord | null> {
  for (let look = 1; ; look++) {
    const outcome = await readOnce(calls).catch((error: unknown) => {
      pacing.signal?.throwIfAborted()
      throw new InDoubtError(id, error)
    })
    if (outcome.record !== null) return outcome.record
    if (outcome.refusal !== null) throw refused(outcome.refusal)
    if (outcome.transaction === null) return null
    await pause(new InDoubtError(id, cause), look, pacing)
  }
}

/** In the order of their certainty: what is found first ends the question. */
async function readOnce({ trustRecord, refusal, transaction }: ExecutionCalls) {
  const record = await orNull(trustRecord())
  const refusalRecord = record === null ? await orNull(refusal()) : null
  const stored = record === null && refusalRecord === null ? await orNull(transaction()) : null
  return { record, refusal: refusalRecord, transaction: stored }
}

function orNull<T>(found: Promise<T>): Promise<T | null> {
  return found.catch((error: unknown) => {
    if (error instanceof CountersignError && error.status === 404) return null
    throw error
  })
}

/** Signals that do not match are a 403, a rejection by the rules is a 500 (decisions §3 "Outcomes"). */
function refused({ decision, mismatches }: Schemas['RefusalRecord']): CountersignError {
  const message = `Execution rejected: ${decision.reason}`
  if (mismatches.length === 0) return new CountersignError(message, { status: 500, code: 'RUNTIME_ERROR' })
  const needsApproval = mismatches.every(({ source }) => source === 'approval')
  return new CountersignError(message, { status: 403, code: 'POLICY_DENIED', needsApproval })
}

function isDuplicate(error: unknown): boolean {
  return error instanceof CountersignError && error.status === 409
}

/** What the id stands for; everything else may differ between two submissions of the same work. */
function intentText({ intent }: { intent: SubmittedTransaction['intent'] }): string {
  return JSON.stringify([intent.action, intent.target, intent.parameters ?? {}], (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? sortedByKey(value) : value,
  )
}

function sortedByKey(value: object): object {
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
