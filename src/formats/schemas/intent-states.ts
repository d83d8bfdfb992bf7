// The states of an execution intent, and their transitions (decisions §8 "Execution intents"): the whole state machine.
// It imports nothing, so that the verifier can compare a signed transition with it in a browser.
//
//   PREPARED ──► RELEASED ──► FINALIZED   carried out; the trust record proves it
//       │            ├──────► ERRORED     failed for certain; the record proves it if there is one
//       │            └──────► RESOLVED    a human, a provider or the connector stated how it ended: EXECUTED or NOT_EXECUTED
//       └───────────────────► ERRORED     given up before any release
//
// RELEASED is committed before a connector is called, and only an end follows it: an effect that may have happened is not
// tried again. An intent that is still RELEASED after its deadline is *in doubt*. This is not a state of its own:
// each reader determines it by the database's clock (`deadlineHasPassed` of src/store/tables/released-batches.ts).

export const intentStates = ['PREPARED', 'RELEASED', 'FINALIZED', 'ERRORED', 'RESOLVED'] as const
export type IntentState = (typeof intentStates)[number]

/** An end: no state follows it. */
export type IntentEnd = 'FINALIZED' | 'ERRORED' | 'RESOLVED'

export const resolutions = ['EXECUTED', 'NOT_EXECUTED'] as const
export type Resolution = (typeof resolutions)[number]

const FOLLOWING: Readonly<Record<IntentState, readonly IntentState[]>> = {
  PREPARED: ['RELEASED', 'ERRORED'],
  RELEASED: ['FINALIZED', 'ERRORED', 'RESOLVED'],
  FINALIZED: [],
  ERRORED: [],
  RESOLVED: [],
}

/** Whether an intent can go from one state to another. Accepts any text: a text that is not a state has no transition. */
export function mayFollow(from: unknown, to: unknown): boolean {
  const state = intentStates.find((known) => known === from)
  return state !== undefined && FOLLOWING[state].some((next) => next === to)
}
