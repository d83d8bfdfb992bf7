// Has the evidence log written, a few times a second and on every instance. The work is a thread's: workers/log/index.ts.
import { setTimeout as delay } from 'node:timers/promises'
import type { LogReport } from '../../core/thread-messages.ts'
import { SERVICE_CLIENT, type Dispatcher } from '../dispatch/dispatcher.ts'

/** After a tick that failed. */
const RETRY_AFTER_MS = 200
const NO_BODY = new Uint8Array(0)

interface Logging {
  /** Sentences for GET /ready. */
  readonly warnings: () => readonly string[]
  /** Starts no further tick. One under way is its transactions' own matter: what is queued stays queued. */
  readonly close: () => void
}

/** @param log called when something is wrong that was not before */
export function startLogging({
  submit,
  log,
}: {
  submit: Dispatcher['submit']
  log: {
    warn: (line: object, message: string) => void
    error: (line: object, message: string) => void
    info: (message: string) => void
  }
}): Logging {
  const closing = new AbortController()
  const { signal } = closing
  let warning: string | undefined

  function warn(sentence: string | undefined, say: (sentence: string) => void): void {
    if (sentence === warning || signal.aborted) return
    if (sentence === undefined) log.info('the evidence log is written again')
    else say(sentence)
    warning = sentence
  }

  /** @returns in how many milliseconds the next one is due */
  async function tick(): Promise<number> {
    const reply = await submit({
      operation: 'sequence-log',
      client: SERVICE_CLIENT,
      callerIndex: -1,
      body: NO_BODY,
    })
    if (reply.status !== 200) {
      const away = reply.status === 503 ? 'The database is away.' : 'The reason is in the log of the service.'
      warn(`The evidence log is not written: ${away}`, () => log.error(reply.log ?? {}, 'evidence log'))
      return RETRY_AFTER_MS
    }
    const { frozen, problem, nextTickMs } = JSON.parse(Buffer.from(reply.body).toString()) as LogReport
    if (frozen !== null)
      warn(`The evidence log is frozen, and signs nothing: ${frozen}`, () =>
        log.error({ reason: frozen }, 'evidence log frozen'),
      )
    else warn(problem ?? undefined, (reason) => log.warn({ reason }, 'evidence log'))
    return nextTickMs
  }

  /** One after the other: never two at once. */
  async function tickOn(): Promise<void> {
    while (!signal.aborted) {
      const nextTickMs = await tick()
      await delay(nextTickMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  void tickOn()
  return { warnings: () => (warning === undefined ? [] : [warning]), close: () => closing.abort() }
}
