// When it counts that a system behind a receiver has nothing of a release.
import type { Release } from '../../clients/typescript/src/receiver/index.ts'

/** A system may still work on a request that was given up, and its lists show what was made a moment ago only after a while. */
const SETTLED_AFTER_MS = 10 * 60_000

/** Whether nothing of the release can appear any more: it has expired, so that nobody can send it, and what was on its way has been worked on. */
export function isSettled({ expiresAt }: Release): boolean {
  return Date.parse(expiresAt) + SETTLED_AFTER_MS < Date.now()
}
