// Retry-After of a server that we call (RFC 9110 §10.2.3): the server asks for a pause.
import type { HttpOutcome } from './call.ts'

/** The maximum, also for longer times: one answer must not stop a delivery for days. */
const SECONDS_MAX = 3_600
const ASKING: ReadonlySet<number> = new Set([429, 503])
/** IMF-fixdate, the only form of an HTTP-date that is sent today. `Date.parse` alone would accept much more. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** @returns the whole seconds that a 429 or 503 asks us to wait, an hour at most; 0: it asks for no wait, or in an unreadable form */
export function secondsToWait(outcome: HttpOutcome, nowMs: number): number {
  if (outcome.kind !== 'answered' || !ASKING.has(outcome.status)) return 0
  const asked = outcome.headers['retry-after']?.trim() ?? ''
  const seconds = HTTP_DATE.test(asked)
    ? Math.ceil((Date.parse(asked) - nowMs) / 1000)
    : /^\d+$/.test(asked)
      ? Number(asked)
      : 0
  // A date that does not exist, such as the 30th of February, is NaN.
  return seconds > 0 ? Math.min(seconds, SECONDS_MAX) : 0
}
