// What the service knows of a call: under its id, and under the ids that follow from it where a human was asked.
import {
  AnswerError,
  deterministicId,
  type Countersign,
  type Schemas,
} from '../../clients/typescript/src/index.ts'

type TrustRecord = Schemas['ExecutionTrustRecord']

export type Outcome =
  | { readonly kind: 'recorded'; readonly record: TrustRecord }
  /** Its tool was called, or may still be: the id is that of the transaction that has not ended. */
  | { readonly kind: 'open'; readonly businessTransactionId: string }
  /** It ended without a record, and `by` says how. */
  | { readonly kind: 'closed'; readonly isExecuted: boolean; readonly by: string }
  /** Every id was refused. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown' }

/**
 * Reads how far a call has come, and sends nothing.
 * @param given.id the businessTransactionId that the call began with
 * @param given.action of the gateway: what has another one is not its call
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

/** How a transaction stands that has neither record nor refusal. */
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
    // A record that is not there yet is there at the next look.
    if (intent.state !== 'RESOLVED') return open
    return { kind: 'closed', isExecuted: intent.resolution === 'EXECUTED', by }
  }
  const stored = await unlessMissing(client.transaction(id))
  // It may be released at any moment, or was executed before a backup was restored that has no more of it.
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
