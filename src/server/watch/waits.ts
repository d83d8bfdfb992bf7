// Requests that wait until something happens. One look at the database serves all of them: a request that waits holds no connection and no
// thread, only its place.
import { setTimeout as delay } from 'node:timers/promises'
import { bounds } from '../http/gates/index.ts'

interface Waiting<What> {
  readonly what: What
  /** @param happened whether the awaited change may have happened */
  readonly wake: (happened: boolean) => void
}

interface Waits<What> {
  readonly isIdle: () => boolean
  /** Whether one more request of the client may wait. */
  readonly admits: (client: string) => boolean
  /**
   * Resolves when a look wakes it, when the time is over, and when the service stops.
   * @param request.client as in `RouteRequest`
   * @returns whether the awaited change may have happened; false at once where no more requests may wait
   */
  readonly wait: (what: What, request: { readonly client: string; readonly ms: number }) => Promise<boolean>
}

/**
 * @param options.everyMs between two looks, while a request waits
 * @param options.most how many requests may wait, of all clients
 * @param options.stopping true from the first stop signal on: then no request waits
 * @param options.look wakes the requests whose change has happened
 */
export function openWaits<What>({
  everyMs,
  most,
  stopping,
  look,
}: {
  readonly everyMs: number
  readonly most: number
  readonly stopping: () => boolean
  readonly look: (waiting: ReadonlySet<Waiting<What>>) => Promise<void>
}): Waits<What> {
  const waiting = new Set<Waiting<What>>()
  const ofClient = new Map<string, number>()
  let looking = false

  async function lookOn(): Promise<void> {
    looking = true
    while (waiting.size > 0) {
      await delay(everyMs)
      if (stopping()) wakeAll(false)
      // The woken requests read next, and report the fault of the database.
      else await look(waiting).catch(() => wakeAll(true))
    }
    looking = false
  }

  function wakeAll(happened: boolean): void {
    for (const { wake } of waiting) wake(happened)
  }

  function admits(client: string): boolean {
    const own = ofClient.get(client) ?? 0
    return !stopping() && waiting.size < most && own < most / bounds.clientShare
  }

  return {
    isIdle: () => waiting.size === 0 && !looking,
    admits,
    wait(what, { client, ms }) {
      if (!admits(client)) return Promise.resolve(false)
      ofClient.set(client, (ofClient.get(client) ?? 0) + 1)
      return new Promise((resolve) => {
        const one: Waiting<What> = {
          what,
          wake(happened) {
            clearTimeout(timer)
            if (!waiting.delete(one)) return
            const rest = ofClient.get(client)! - 1
            if (rest === 0) ofClient.delete(client)
            else ofClient.set(client, rest)
            resolve(happened)
          },
        }
        const timer = setTimeout(() => one.wake(false), ms)
        waiting.add(one)
        if (!looking) void lookOn()
      })
    },
  }
}
