// The evidence log is written, a tick at a time: workers/log/index.ts.
import { COMPUTED, ONE, ownWork } from './operation.ts'

export interface LogReport {
  /** Why nothing is appended or signed any more; null: it is. */
  readonly frozen: string | null
  /** Another sentence for the operator. */
  readonly problem: string | null
  /** Whether anything was queued, or under no checkpoint yet, when the tick began. */
  readonly waiting: boolean
  /** In how many milliseconds the next tick is due. */
  readonly nextTickMs: number
}

export const sequenceLog = ownWork<object, LogReport>({ lane: 'background', ...COMPUTED, ...ONE })
