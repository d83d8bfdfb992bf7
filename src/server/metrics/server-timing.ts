// Server-Timing (W3C): where the time of an execution went, for a client that sends `Prefer: server-timing` (RFC 7240).
import { stagesOf, type RequestTimes } from './times.ts'

/** @param prefer the request's Prefer header */
export function wantsTiming(prefer: string | undefined): boolean {
  return prefer !== undefined && /(?:^|,)[ \t]*server-timing[ \t]*(?:[,;=]|$)/i.test(prefer)
}

/** The header; empty for a request that was in no batch of executions. Stages are those of the whole batch: a request's wait, not its cost. */
export function timingHeaders(
  times: RequestTimes | undefined,
  { startedMs, ms }: { startedMs: number; ms: number },
): Readonly<Record<string, string>> {
  if (times === undefined) return {}
  const stages = stagesOf(times)
  if (stages.length === 0) return {}
  const entries = [
    // Counted from the head on: the wait for a slow body is part of it.
    ['queue', times.sentMs - startedMs] as const,
    ...stages.map((stage) => [stage.name, stage.ms] as const),
    ['total', ms] as const,
  ]
  return { 'Server-Timing': entries.map(([name, took]) => `${name};dur=${took.toFixed(3)}`).join(', ') }
}
