// Sweeps for intents in doubt on start and every few seconds, on every instance (decisions §8). A thread does the work:
// workers/intents/sweep.ts.
import type { Swept } from '../../core/operations/sweep-intents.ts'
import { within } from '../../core/threads/within.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { tryOwnWork, whyNotDone, type OwnWork } from '../dispatch/own-work.ts'
import { openProblems, repeat } from './repeat.ts'

const SWEEP_EVERY_MS = 5_000
const CLOSE_MS = 5_000

/** Sweeps once, in a worker thread. */
export function sweepOnce(submit: Dispatcher['submit']): Promise<OwnWork<Swept>> {
  return tryOwnWork(submit, 'sweep-intents', {})
}

interface Sweeping {
  /** Starts no further sweep, and waits a few seconds at most for a sweep under way: the evidence that it commits needs its place in the log. */
  readonly close: () => Promise<void>
}

/** @param log called for each sweep that found intents in doubt, and once for each reason why no sweep is possible, until one is */
export function startSweeping({
  submit,
  log,
}: {
  submit: Dispatcher['submit']
  log: { warn: (line: object, message: string) => void; error: (line: object, message: string) => void }
}): Sweeping {
  const closing = new AbortController()
  const { signal } = closing
  const problems = openProblems()

  async function sweep(): Promise<number> {
    const swept = await sweepOnce(submit)
    if (signal.aborted) return SWEEP_EVERY_MS
    if (swept.kind !== 'done') {
      const { gate, log: line } = swept.answer
      problems.become([whyNotDone(swept)], (reason) =>
        log.error({ reason, gate, ...line }, 'executions in doubt are not looked for'),
      )
      return SWEEP_EVERY_MS
    }
    problems.become([])
    const { noticed } = swept.result
    if (noticed > 0) log.warn({ noticed }, 'execution intents in doubt')
    return SWEEP_EVERY_MS
  }

  const sweeping = repeat(signal, sweep)
  return {
    async close() {
      closing.abort()
      await within(CLOSE_MS, sweeping, undefined)
    },
  }
}
