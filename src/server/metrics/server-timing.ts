// Server-Timing (W3C): where the time of an execution went, for a client that sends `Prefer: server-timing` (RFC 7240).
import { stagesOf, type RequestTimes } from './times.ts'

/** @param prefer the request's Prefer header */
export function wantsTiming(prefer: string | undefined): boolean {
  return prefer !== undefined && /(?:^|,)[ \t]*server-timing[ \t]*(?:[,;=]|$)/i.test(prefer)
}

/** The header, empty for a request that no batch of executions held. Stages are those of the whole batch: the time that a request waited, not its cost. */
export function timingHeaders(
  times: RequestTimes | undefined,
  { startedMs, ms }: { startedMs: number; ms: number },
): Readonly<Record<string, string>> {
  if (times === undefined) return {}
  const stages = stagesOf(times)
  if (stages.length === 0) return {}
  const entries = [
    // From the head on: a body that is slow to come is part of it.
    ['queue', times.sentMs - startedMs] as const,
    ...stages.map((stage) => [stage.name, stage.ms] as const),
    ['total', ms] as const,
  ]
  return { 'Server-Timing': entries.map(([name, took]) => `${name};dur=${took.toFixed(3)}`).join(', ') }
}
