// Writes the evidence log, a few times a second and on every instance. A thread does the work: workers/log/index.ts.
import { setTimeout as delay } from 'node:timers/promises'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { tryOwnWork, whyNotDone } from '../dispatch/own-work.ts'
import { within } from '../../core/threads/within.ts'
import { openProblems, repeat } from './repeat.ts'

const WHEN_FROZEN =
  'To go on in a new log, once the reason is known: countersign log reopen (docs/handbook/log.md).'

/** The ticks of a stop: enough to append, to wait for the time between two checkpoints, and to sign. */
const LAST_TICKS_MAX = 4
const LAST_TICKS_MS = 5_000

/** The pause after a tick that failed. */
const RETRY_AFTER_MS = 200

interface Sequencing {
  /** Sentences for GET /ready. */
  readonly warnings: () => readonly string[]
  /** Appends and signs the queued entries, within a few seconds: receipts promise it within a minute, and no instance may run by then. */
  readonly close: () => Promise<void>
}

/** @param log called for each new problem */
export function startSequencing({
  submit,
  log,
}: {
  submit: Dispatcher['submit']
  log: {
    warn: (line: object, message: string) => void
    error: (line: object, message: string) => void
    info: (message: string) => void
  }
}): Sequencing {
  const closing = new AbortController()
  const { signal } = closing
  const problems = openProblems(() => log.info('the evidence log is written again'))

  /** @returns in how many milliseconds the next tick is due */
  async function tick(): Promise<number> {
    const ticked = await tryOwnWork(submit, 'sequence-log', {})
    if (signal.aborted) return RETRY_AFTER_MS
    if (ticked.kind !== 'done') {
      const { gate, log: line } = ticked.answer
      problems.become([`The evidence log is not written: ${whyNotDone(ticked)}`], () =>
        log.error({ gate, ...line }, 'the evidence log is not written'),
      )
      return RETRY_AFTER_MS
    }
    const { frozen, problem, nextTickMs } = ticked.result
    if (frozen !== null)
      problems.become([`The evidence log is frozen, and signs nothing: ${frozen} ${WHEN_FROZEN}`], () =>
        log.error({ reason: `${frozen} ${WHEN_FROZEN}` }, 'evidence log frozen'),
      )
    else problems.become(problem === null ? [] : [problem], (reason) => log.warn({ reason }, 'evidence log'))
    return nextTickMs
  }

  const ticking = repeat(signal, tick)

  /** One tick appends the entries queued at its start, and a later tick signs them. Under the load of other instances there are always more. */
  async function finish(): Promise<void> {
    await ticking
    for (let ticks = 0; ticks < LAST_TICKS_MAX; ticks++) {
      const ticked = await tryOwnWork(submit, 'sequence-log', {})
      if (ticked.kind !== 'done' || !ticked.result.waiting) return
      await delay(ticked.result.nextTickMs)
    }
  }

  return {
    warnings: problems.current,
    async close() {
      closing.abort()
      await within(LAST_TICKS_MS, finish(), undefined)
    },
  }
}
