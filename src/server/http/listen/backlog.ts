// The connections that the kernel has accepted and we have not: their clients may have sent their request, and closing the
// listening socket resets them.
import { setImmediate as turn } from 'node:timers/promises'

/** A flood of new connections must not hold up a stop: after this time the connections that still wait are reset. */
const patienceMs = 100

/**
 * Resolves when a whole turn of the event loop has accepted nothing.
 * @param accepted how many connections have been accepted. Node accepts one per turn; uWebSockets.js accepts all, so there it may be constant
 */
export async function backlogTaken(accepted: () => number): Promise<void> {
  const endsAt = performance.now() + patienceMs
  let before
  do {
    before = accepted()
    await turn() // the rest of this turn
    await turn()
  } while (accepted() !== before && performance.now() < endsAt)
}
