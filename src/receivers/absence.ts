// Decides when the absence of an effect in the system behind a receiver proves that a release was not executed.
import type { Release } from '../../clients/typescript/src/receiver/index.ts'

/** A system may still be working on a request that was given up, and its lists may show a new object only after a while. */
const SETTLED_AFTER_MS = 10 * 60_000

/** Whether no effect of the release can appear any more: it has expired, so it cannot be sent, and requests in flight have been processed. */
export function isSettled({ expiresAt }: Release): boolean {
  return Date.parse(expiresAt) + SETTLED_AFTER_MS < Date.now()
}
