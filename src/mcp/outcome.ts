// Reads the outcome of a call from the service, under its id, and under the ids derived from it where a human was asked.
import {
  AnswerError,
  deterministicId,
  type Countersign,
  type Schemas,
} from '../../clients/typescript/src/index.ts'

type TrustRecord = Schemas['ExecutionTrustRecord']

export type Outcome =
  | { readonly kind: 'recorded'; readonly record: TrustRecord }
  /** The tool was called, or may still be called. The id is that of the transaction that has not ended. */
  | { readonly kind: 'open'; readonly businessTransactionId: string }
  /** The call ended without a record. `by` names who reported its end. */
  | { readonly kind: 'closed'; readonly isExecuted: boolean; readonly by: string }
  /** Every id was refused. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown' }

/**
 * Reads the progress of a call, and submits nothing.
 * @param given.id the businessTransactionId that the call began with
 * @param given.action of the gateway: a transaction with another action is not its call
 * @throws CountersignError where the service cannot be read
 */
export async function outcomeOf(
  client: Countersign,
  { id, action }: { readonly id: string; readonly action: string },
): Promise<Outcome> {
  let outcome: Outcome = { kind: 'unknown' }
  for (let next = id; ; next = deterministicId(next, 'approved')) {
    const record = await unlessMissing(client.trustRecord(next))
    if (record !== undefined)
      return record.transaction.intent.action === action ? { kind: 'recorded', record } : outcome
    const refusal = await unlessMissing(client.refusal(next))
    if (refusal === undefined) return (await unrecorded(client, { id: next, action })) ?? outcome
    if (refusal.evaluatedIntent.action !== action) return outcome
    outcome = { kind: 'refused', reason: refusal.decision.reason }
  }
}

/** The outcome of a transaction that has neither record nor refusal. */
async function unrecorded(
  client: Countersign,
  { id, action }: { readonly id: string; readonly action: string },
): Promise<Outcome | undefined> {
  const open: Outcome = { kind: 'open', businessTransactionId: id }
  const intent = await unlessMissing(client.executionIntent(id))
  if (intent !== undefined) {
    if (intent.action !== action) return undefined
    const by = intent.transitions.at(-1)?.transition.by ?? 'the service'
    if (intent.state === 'ERRORED') return { kind: 'closed', isExecuted: false, by }
    // A record that is not stored yet is found at the next read.
    if (intent.state !== 'RESOLVED') return open
    return { kind: 'closed', isExecuted: intent.resolution === 'EXECUTED', by }
  }
  const stored = await unlessMissing(client.transaction(id))
  // The transaction may be released at any moment. Or it was executed, and a restored backup has lost the rest of it.
  return stored?.intent.action === action ? open : undefined
}

async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    if (error instanceof AnswerError && error.status === 404) return undefined
    throw error
  }
}
