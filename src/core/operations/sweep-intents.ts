// Intents in doubt are looked for: workers/intents/sweep.ts.
import { COMPUTED, ONE, ownWork } from './operation.ts'

export interface Swept {
  /** How many intents it found that were not known to be in doubt. */
  readonly noticed: number
}

export const sweepIntents = ownWork<object, Swept>({ lane: 'background', ...COMPUTED, ...ONE })
