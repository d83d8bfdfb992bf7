// The signed transition of an execution intent: the proof of an end that no record and no authorization proves (decisions §8).
import { randomUUID } from 'node:crypto'
import { canonicalize } from '../../src/core/json/canonical.ts'
import {
  mayFollow,
  type IntentEnd,
  type IntentState,
  type Resolution,
} from '../../src/core/intents/states.ts'
import { artifactEntry } from '../../src/core/log/artifacts.ts'
import type { SigningKey } from '../../src/core/signing/keys.ts'
import { sha256Hex } from '../../src/core/signing/sha256.ts'
import { signEd25519 } from '../../src/core/signing/signature.ts'
import type { IntentTransitionRow } from '../../src/core/tables/intent-transitions.ts'
import type { QueuedEntry } from '../../src/core/tables/log-queue.ts'

/** How an intent ends. */
export interface End {
  readonly state: IntentEnd
  /** Given for RESOLVED, with the human's note, or what the connector said. */
  readonly resolution?: Resolution
  readonly note?: string
  /** Of the confirmation by which a provider closes it. */
  readonly confirmationId?: string
  /** The human who said the same before, where it takes two. */
  readonly agreedWith?: string
  /** The hash of the stored record that proves it. */
  readonly trustRecordHash?: string
}

/**
 * @param change.by callerId of the human, `webhook:<provider>` or `connector:<capability>`
 * @param change.at ISO 8601
 */
export function signTransition(
  { id, from, end, by, at }: { id: string; from: IntentState; end: End; by: string; at: string },
  key: SigningKey,
): IntentTransitionRow {
  const { state, ...members } = end
  // Nothing is signed that a verifier would refuse.
  if (!mayFollow(from, state)) throw new Error(`an intent cannot go from ${from} to ${state}`)
  const transitionId = randomUUID()
  const body = canonicalize({ transitionId, businessTransactionId: id, from, to: state, ...members, by, at })
  const signature = { ...signEd25519('intent-transition', body, key), signedAt: at }
  return { transitionId, businessTransactionId: id, at, body, seal: canonicalize(signature) }
}

/** @param owner callerId of whoever submitted the transaction; null where the gateway was called directly */
export function transitionEntry(
  { transitionId, body }: IntentTransitionRow,
  owner: string | null,
): QueuedEntry {
  const entry = { ...artifactEntry.intentTransition(body, sha256Hex), id: transitionId, streams: {} }
  return owner === null ? entry : { ...entry, owner }
}
