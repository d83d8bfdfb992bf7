// The time of one request in the worker threads, by the reports of its batches.
import {
  stageNames,
  type BatchReport,
  type StageName,
  type StageTimes,
} from '../../core/threads/thread-messages.ts'

export interface RequestTimes {
  /** When the request's batch was handed to a thread, milliseconds of the main thread's `performance.now()`. */
  readonly sentMs: number
  /** The report of its batch, and of the batch that finished it, where it had to wait longer than its own. */
  readonly reports: readonly BatchReport[]
}

export interface Stage {
  /** `deferred` is the wait of an execution between its two batches: for its connector, or for verified state. */
  readonly name: StageName | 'deferred'
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly ms: number
}

/** @returns the stages of one execution, in order */
export function stagesOf({ reports }: RequestTimes): Stage[] {
  return reports.flatMap((report, i) => {
    const before = reports[i - 1]
    const stages = stagesOfBatch(report)
    if (before === undefined) return stages
    const startedAt = endOf(before)
    return [{ name: 'deferred' as const, startedAt, ms: report.startedAt - startedAt }, ...stages]
  })
}

/** The stages that the batch reached, in order. */
export function stagesOfBatch({ startedAt, ms }: StageTimes): Stage[] {
  let next = startedAt
  return stageNames.flatMap((name, i) => {
    const took = ms[i] ?? -1
    if (took < 0) return []
    const stage = { name, startedAt: next, ms: took }
    next += took
    return [stage]
  })
}

/** The end of the last stage, milliseconds since the epoch. */
export function endOf({ startedAt, ms }: StageTimes): number {
  return ms.reduce((end, took) => end + Math.max(0, took), startedAt)
}
