// Searches for intents in doubt: workers/intents/sweep.ts.
import { COMPUTED, ONE, ownWork } from './operation.ts'

export interface Swept {
  /** Number of intents in doubt that were newly found. */
  readonly noticed: number
}

export const sweepIntents = ownWork<object, Swept>({ lane: 'background', ...COMPUTED, ...ONE })
