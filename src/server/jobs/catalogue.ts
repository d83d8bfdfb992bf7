// Fills the catalogue, on every instance; the database lets one of them work. A thread does the work: src/core/catalogue/follow.ts. Neither
// GET /ready nor an execution depends on the catalogue: while it lags, its replies say so.
import { restMs } from '../../core/catalogue/follow.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { tryOwnWork, whyNotDone } from '../dispatch/own-work.ts'
import { openProblems, repeat } from './repeat.ts'

const LOOK_EVERY_MS = 500

interface Filling {
  /** Begins no further piece of work. */
  readonly close: () => void
}

/**
 * @param days CATALOGUE_DAYS
 * @param log called once for each reason why the catalogue cannot be filled, until it can
 */
export function startFillingCatalogue({
  days,
  submit,
  log,
}: {
  readonly days: number
  readonly submit: Dispatcher['submit']
  readonly log: { readonly warn: (line: object, message: string) => void }
}): Filling {
  const closing = new AbortController()
  const { signal } = closing
  const problems = openProblems()

  async function fill(): Promise<number> {
    const startedMs = performance.now()
    const filled = await tryOwnWork(submit, 'fill-catalogue', { days })
    if (signal.aborted) return LOOK_EVERY_MS
    if (filled.kind !== 'done') {
      problems.become([whyNotDone(filled)], (reason) =>
        log.warn({ reason, ...filled.answer.log }, 'the catalogue is not filled'),
      )
      return LOOK_EVERY_MS
    }
    problems.become([])
    const { more, busy } = filled.result
    return Math.max(restMs({ busy }, performance.now() - startedMs), more ? 0 : LOOK_EVERY_MS)
  }

  void repeat(signal, fill)
  return { close: () => closing.abort() }
}
