// How long a batch spent in each stage of the pipeline: one look at the clock per stage and batch, whether anyone asks or not.
import { stageNames, type StageName, type StageTimes } from '../src/core/threads/thread-messages.ts'

const NOT_COME_TO = -1

export interface Stopwatch {
  /** Ends a stage, which began where the one before ended. */
  readonly lap: (stage: StageName) => void
  readonly times: StageTimes
}

export function openStopwatch(): Stopwatch {
  const startedMs = performance.now()
  let lastMs = startedMs
  const ms = stageNames.map(() => NOT_COME_TO)
  return {
    lap(stage) {
      const nowMs = performance.now()
      ms[stageNames.indexOf(stage)] = nowMs - lastMs
      lastMs = nowMs
    },
    // Since the epoch: each thread's own clock starts with the thread.
    times: { startedAt: performance.timeOrigin + startedMs, ms },
  }
}
