// The main thread counts the batches that the dispatcher sees: a thread that dies takes no counter with it.
import { stageNames, type BatchReport, type PolicyOutcome } from '../../core/threads/thread-messages.ts'
import type { Operation } from '../../core/operations/index.ts'
import type { Instruments } from './instruments.ts'
import { stagesOfBatch, type Stage } from './times.ts'

/** The observer of the dispatcher, called once per batch. Durations are milliseconds. */
export interface BatchWatch {
  /** `waitedMs` is the wait of the batch's first request, which waited longest. */
  readonly sent: (operation: Operation, batch: { requests: number; waitedMs: number }) => void
  readonly done: (operation: Operation, ms: number) => void
  readonly reported: (report: BatchReport) => void
  /** A deferred execution came back `ms` after its batch had left it behind. */
  readonly deferred: (ms: number) => void
}

const OUTCOMES = ['approved', 'rejected', 'denied'] as const satisfies PolicyOutcome[]

export function watchBatches({
  queueSeconds,
  batchRequests,
  batchSeconds,
  stageSeconds,
  decisions,
}: Instruments): BatchWatch {
  // The series exist from the start, so that the first event is seen as an increase.
  for (const stage of [...stageNames, 'deferred'] as const) stageSeconds.zero({ stage })
  const observe = (stage: Stage['name'], ms: number) => stageSeconds.observe({ stage }, ms / 1_000)
  return {
    sent(operation, { requests, waitedMs }) {
      batchRequests.observe({ operation }, requests)
      queueSeconds.observe({ operation }, waitedMs / 1_000)
    },
    done: (operation, ms) => batchSeconds.observe({ operation }, ms / 1_000),
    reported(report) {
      for (const { name, ms } of stagesOfBatch(report)) observe(name, ms)
      for (const { policy, ...counts } of report.outcomes ?? [])
        for (const outcome of OUTCOMES)
          // No series for an outcome that never happened: a policy that only approves has one series.
          if (counts[outcome] > 0) decisions.inc({ policy, outcome }, counts[outcome])
    },
    deferred: (ms) => observe('deferred', ms),
  }
}
