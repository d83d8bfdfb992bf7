// Writes the evidence log, a tick at a time: workers/log/index.ts.
import { COMPUTED, ONE, ownWork } from './operation.ts'

export interface LogReport {
  /** The reason why nothing is appended or signed any more; null: the log is not frozen. */
  readonly frozen: string | null
  /** Another sentence for the operator. */
  readonly problem: string | null
  /** Whether anything was queued, or not yet under a checkpoint, when the tick began. */
  readonly waiting: boolean
  /** Milliseconds until the next tick is due. */
  readonly nextTickMs: number
}

export const sequenceLog = ownWork<object, LogReport>({ lane: 'background', ...COMPUTED, ...ONE })
