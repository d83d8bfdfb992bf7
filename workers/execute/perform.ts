// Fifth step, the only outside effect: one call of the connector for each released intent, and never a second (decisions §8).
import { errorText } from '../../src/core/error-text.ts'
import { within } from '../../src/core/within.ts'
import type { Connector, ConnectorOutcome, Order } from '../connectors/connector.ts'
import type { Authorized } from './decide.ts'

/** Called, with how that ended. Of an outcome that nobody knows there will be no record: its intent stays RELEASED, in doubt. */
export interface Performed extends Authorized {
  readonly startedAt: string
  readonly completedAt: string
  readonly outcomeOfCall: ConnectorOutcome
}

/** Those whose connector answered at once, and those that come later: a slow connector holds nobody up but itself. */
interface Underway {
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

/** One of them: those that were admitted by themselves. */
export function performOne(item: Authorized): Performed | Promise<Performed> {
  const { transaction, canonical, connector, decision, authorization, approvedBy } = item
  const startedAt = new Date().toISOString()
  const ended = (outcomeOfCall: ConnectorOutcome): Performed => ({
    ...item,
    startedAt,
    completedAt: new Date().toISOString(),
    outcomeOfCall,
  })
  const { name, version } = transaction.policy
  const outcome = callConnector(connector, {
    businessTransactionId: transaction.businessTransactionId,
    authorizationId: authorization.authorizationId,
    action: transaction.intent.action,
    target: transaction.intent.target,
    parameters: transaction.intent.parameters,
    parametersText: canonical.parameters,
    policy: { name, version, contentHash: decision.policyContentHash },
    approvedBy,
  })
  return outcome instanceof Promise ? outcome.then(ended) : ended(outcome)
}

/** One call, within the connector's time. Never throws and never rejects. */
export function callConnector(
  connector: Connector,
  order: Omit<Order, 'signal'>,
): ConnectorOutcome | Promise<ConnectorOutcome> {
  const abort = new AbortController()
  try {
    const outcome = connector.call({ ...order, signal: abort.signal })
    if (!(outcome instanceof Promise)) return outcome
    return withinTimeout(outcome, connector.timeoutMs, abort).catch(unknown)
  } catch (error) {
    return unknown(error)
  }
}

/** Once it may have been sent, a failure proves nothing about the effect. */
function unknown(error: unknown): ConnectorOutcome {
  return { kind: 'unknown', cause: errorText(error) }
}

async function withinTimeout(
  outcome: Promise<ConnectorOutcome>,
  timeoutMs: number,
  abort: AbortController,
): Promise<ConnectorOutcome> {
  const late = { kind: 'unknown', cause: `no answer within ${timeoutMs} ms` } as const
  try {
    return await within(timeoutMs, outcome, late)
  } finally {
    abort.abort()
  }
}
