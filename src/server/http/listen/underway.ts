// The requests between their head and their reply, over either server: a stop waits for the last of them.
import { setTimeout as delay } from 'node:timers/promises'

/** A kept connection may have sent its next request just before it could learn that we stop: that request has this long to come in. */
const quietMs = 100

interface Underway {
  /** Returns a function to call when the reply is with the socket, or its client is gone; a second call does nothing. */
  readonly begin: () => () => void
  /** Resolves when there has been no request for a moment. */
  readonly drained: () => Promise<void>
}

export function countUnderway(): Underway {
  let requests = 0
  let quietSince = 0
  const isQuiet = () => requests === 0 && performance.now() - quietSince >= quietMs
  return {
    begin() {
      let isUnderway = true
      requests++
      return () => {
        if (isUnderway) requests--
        isUnderway = false
        quietSince = performance.now()
      }
    },
    async drained() {
      quietSince = performance.now()
      while (!isQuiet()) await delay(10)
    },
  }
}
