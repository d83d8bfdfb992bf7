// The requests between their head and their reply, over either server: a stop waits for the last of them.
import { setTimeout as delay } from 'node:timers/promises'

/** A kept connection may have sent its next request just before it could learn that we stop: it gets this long to come in. */
const quietMs = 100

export interface Underway {
  /** out  to be called when the reply is with the socket, or its client gone; a second call does nothing */
  readonly begin: () => () => void
  /** Resolves when there has been no request for a moment. */
  readonly drained: () => Promise<void>
}

export function countUnderway(): Underway {
  const requests = new Set<symbol>()
  let quietSince = 0
  return {
    begin() {
      const request = Symbol('request')
      requests.add(request)
      return () => {
        requests.delete(request)
        quietSince = performance.now()
      }
    },
    async drained() {
      quietSince = performance.now()
      while (requests.size > 0 || performance.now() - quietSince < quietMs) await delay(10)
    },
  }
}
