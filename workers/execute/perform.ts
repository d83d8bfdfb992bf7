// Fifth step, the only outside effect: one call of the connector for each released intent, and never a second (decisions §8).
import { setTimeout as delay } from 'node:timers/promises'
import type { ConnectorOutcome } from '../connectors/connector.ts'
import type { Authorized } from './decide.ts'

/** Called, with how that ended. Of an outcome that nobody knows there will be no record: its intent stays RELEASED, in doubt. */
export interface Performed extends Authorized {
  readonly startedAt: string
  readonly completedAt: string
  readonly outcomeOfCall: ConnectorOutcome
}

/** Those whose connector answered at once, and those that come later: a slow connector holds nobody up but itself. */
export interface Underway {
  readonly atOnce: Performed[]
  readonly later: Promise<Performed>[]
}

export function perform(authorized: readonly Authorized[]): Underway {
  const underway: Underway = { atOnce: [], later: [] }
  for (const item of authorized) {
    const result = performOne(item)
    if (result instanceof Promise) underway.later.push(result)
    else underway.atOnce.push(result)
  }
  return underway
}

function performOne(item: Authorized): Performed | Promise<Performed> {
  const startedAt = new Date().toISOString()
  const ended = (outcomeOfCall: ConnectorOutcome): Performed => ({
    ...item,
    startedAt,
    completedAt: new Date().toISOString(),
    outcomeOfCall,
  })
  const abort = new AbortController()
  try {
    const outcome = item.connector.call({
      businessTransactionId: item.transaction.businessTransactionId,
      action: item.transaction.intent.action,
      target: item.transaction.intent.target,
      parameters: item.transaction.intent.parameters,
      parametersText: item.canonical.parameters,
      signal: abort.signal,
    })
    if (!(outcome instanceof Promise)) return ended(outcome)
    return withinTimeout(outcome, item.connector.timeoutMs, abort).then(ended, (error: unknown) =>
      ended(unknown(error)),
    )
  } catch (error) {
    return ended(unknown(error))
  }
}

/** Once it may have been sent, a failure proves nothing about the effect. */
function unknown(error: unknown): ConnectorOutcome {
  return { kind: 'unknown', cause: error instanceof Error ? error.message : String(error) }
}

async function withinTimeout(
  outcome: Promise<ConnectorOutcome>,
  timeoutMs: number,
  abort: AbortController,
): Promise<ConnectorOutcome> {
  const timer = new AbortController()
  const timeout = delay(timeoutMs, { kind: 'unknown', cause: `no answer within ${timeoutMs} ms` } as const, {
    signal: timer.signal,
  })
  try {
    return await Promise.race([outcome, timeout])
  } finally {
    timer.abort()
    timeout.catch(() => undefined)
    abort.abort()
    outcome.catch(() => undefined)
  }
}
