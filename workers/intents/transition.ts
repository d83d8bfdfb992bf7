// The signed transition of an execution intent: the proof of an end that no record and no authorization proves (decisions §8).
import { randomUUID } from 'node:crypto'
import type { ResolutionStepUp } from '../../src/formats/schemas/governance.ts'
import { intentTransition } from '../../src/formats/artifacts/intent-transition.ts'
import {
  mayFollow,
  type IntentEnd,
  type IntentState,
  type Resolution,
} from '../../src/formats/schemas/intent-states.ts'
import type { Statement } from '../../src/store/postgres/statement-batch.ts'
import type { Transaction } from '../../src/store/postgres/transaction.ts'
import { forget } from '../../src/store/tables/in-doubt-intents.ts'
import { insertTransitions, type IntentTransitionRow } from '../../src/store/tables/intent-transitions.ts'
import type { LockedBatches } from '../../src/store/tables/released-batches.ts'
import type { Recording } from '../evidence/recording.ts'

/** How an intent ends. */
export interface End {
  readonly state: IntentEnd
  /** Given for RESOLVED, with the human's note, or the connector's answer. */
  readonly resolution?: Resolution
  readonly note?: string
  /** The confirmation by which a provider closes it. */
  readonly confirmationId?: string
  /** The human who said the same before, where it takes two. */
  readonly agreedWith?: string
  /** The step-up by which the human signed it; of the first human, where it takes two. */
  readonly stepUpAuthorization?: ResolutionStepUp
  readonly agreedStepUpAuthorization?: ResolutionStepUp
  /** The hash of the stored record that proves it. */
  readonly trustRecordHash?: string
}

interface Ending {
  /** The id of the transaction. */
  readonly id: string
  readonly from: IntentState
  readonly end: End
  /** callerId of the human, `webhook:<provider>` or `connector:<capability>` */
  readonly by: string
  /** ISO 8601. */
  readonly at: string
  /** The callerId that submitted the transaction. */
  readonly owner: string
}

/** An end that is signed and in the log of its commit, and not stored yet. */
export interface SignedEnd extends IntentTransitionRow {
  readonly end: End
}

/** Signs how an intent ends. */
export function signEnd({ id, from, end, by, at, owner }: Ending, recording: Recording): SignedEnd {
  const { state, ...members } = end
  // Nothing is signed that a verifier would refuse.
  if (!mayFollow(from, state)) throw new Error(`an intent cannot go from ${from} to ${state}`)
  const transition = {
    transitionId: randomUUID(),
    businessTransactionId: id,
    from,
    to: state,
    ...members,
    by,
    at,
  }
  return { ...recording.record(intentTransition, transition, { at, owner }), end }
}

/**
 * Closes open intents: takes them out of their batches, and stores the transitions that prove it.
 * @param batches that the transaction has locked
 * @param before statements to send before them
 * @throws Error where one of them is not open
 */
export async function closeLocked(
  ends: readonly SignedEnd[],
  { open, takeOut }: LockedBatches,
  sql: Transaction,
  before: readonly Statement[] = [],
): Promise<void> {
  const ids = ends.map(({ businessTransactionId }) => businessTransactionId)
  if (!ids.every((id) => open.has(id))) throw new Error('an intent that is to be closed is not open')
  await sql.run([...before, ...takeOut(ids), ...insertTransitions(ends)])
  if (ids.length > 0) await forget(sql, ids)
}
