// Sweeps for intents in doubt on start and every few seconds, on every instance (decisions §8). The work is a thread's:
// workers/intents/sweep.ts.
import type { Answer } from '../answer.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { ownWork, resultOf } from '../dispatch/own-work.ts'
import { openProblems, repeat } from './repeat.ts'

const SWEEP_EVERY_MS = 5_000

/**
 * Sweeps once, in a worker thread.
 * @returns 200 {noticed}
 */
export function sweepOnce(submit: Dispatcher['submit']): Promise<Answer> {
  return submit(ownWork('sweep-intents'))
}

/** How many a sweep found that were not known to be in doubt. */
export function noticedBy(answer: Answer): number {
  return (resultOf(answer) as { noticed: number }).noticed
}

interface Sweeping {
  /** Starts no further sweep. One under way is its transaction's own matter. */
  readonly close: () => void
}

/** @param log called for each sweep that found some, and once when the database cannot be read, until it can again */
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
    const reply = await sweepOnce(submit)
    if (signal.aborted) return SWEEP_EVERY_MS
    const failed = reply.status !== 200
    problems.become(failed ? ['sweep'] : [], () =>
      log.error(reply.log ?? {}, 'executions in doubt are not looked for'),
    )
    const noticed = failed ? 0 : noticedBy(reply)
    if (noticed > 0) log.warn({ noticed }, 'execution intents in doubt')
    return SWEEP_EVERY_MS
  }

  void repeat(signal, sweep)
  return { close: () => closing.abort() }
}
