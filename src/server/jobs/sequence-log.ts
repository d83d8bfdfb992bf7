// Has the evidence log written, a few times a second and on every instance. The work is a thread's: workers/log/index.ts.
import type { LogReport } from '../../core/thread-messages.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { ownWork, resultOf } from '../dispatch/own-work.ts'
import { openProblems, repeat } from './repeat.ts'

const WHEN_FROZEN =
  'To go on in a new log, once the reason is known: countersign log reopen (docs/handbook/log.md).'

/** After a tick that failed. */
const RETRY_AFTER_MS = 200

interface Sequencing {
  /** Sentences for GET /ready. */
  readonly warnings: () => readonly string[]
  /** Starts no further tick. One under way is its transactions' own matter: what is queued stays queued. */
  readonly close: () => void
}

/** @param log called when something is wrong that was not before */
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

  /** @returns in how many milliseconds the next one is due */
  async function tick(): Promise<number> {
    const reply = await submit(ownWork('sequence-log'))
    if (signal.aborted) return RETRY_AFTER_MS
    if (reply.status !== 200) {
      const away = reply.status === 503 ? 'The database is away.' : 'The reason is in the log of the service.'
      problems.become([`The evidence log is not written: ${away}`], () =>
        log.error(reply.log ?? {}, 'the evidence log is not written'),
      )
      return RETRY_AFTER_MS
    }
    const { frozen, problem, nextTickMs } = resultOf(reply) as LogReport
    if (frozen !== null)
      problems.become([`The evidence log is frozen, and signs nothing: ${frozen} ${WHEN_FROZEN}`], () =>
        log.error({ reason: `${frozen} ${WHEN_FROZEN}` }, 'evidence log frozen'),
      )
    else problems.become(problem === null ? [] : [problem], (reason) => log.warn({ reason }, 'evidence log'))
    return nextTickMs
  }

  void repeat(signal, tick)
  return { warnings: problems.current, close: () => closing.abort() }
}
