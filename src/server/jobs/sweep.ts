// Sweeps for intents in doubt on start and every few seconds, on every instance (decisions §8). The work is a thread's:
// workers/intents/sweep.ts.
import { setTimeout as delay } from 'node:timers/promises'
import type { Answer } from '../answer.ts'
import { SERVICE_CLIENT, type Dispatcher } from '../dispatch/dispatcher.ts'

const SWEEP_EVERY_MS = 5_000
const NO_BODY = new Uint8Array(0)

/**
 * Sweeps once, in a worker thread.
 * @returns 200 {noticed}
 */
export function sweepOnce(submit: Dispatcher['submit']): Promise<Answer> {
  return submit({ operation: 'sweep-intents', client: SERVICE_CLIENT, callerIndex: -1, body: NO_BODY })
}

/** How many a sweep found that were not known to be in doubt. */
export function noticedBy({ body }: Answer): number {
  return (JSON.parse(Buffer.from(body).toString()) as { noticed: number }).noticed
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
  let failing = false

  async function sweep(): Promise<void> {
    const reply = await sweepOnce(submit)
    if (reply.status !== 200) {
      if (!failing && !signal.aborted) log.error(reply.log ?? {}, 'sweep of execution intents')
      failing = true
      return
    }
    failing = false
    const noticed = noticedBy(reply)
    if (noticed > 0) log.warn({ noticed }, 'execution intents in doubt')
  }

  /** One after the other: never two at once. */
  async function sweepOn(): Promise<void> {
    while (!signal.aborted) {
      await sweep()
      await delay(SWEEP_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  void sweepOn()
  return { close: () => closing.abort() }
}
