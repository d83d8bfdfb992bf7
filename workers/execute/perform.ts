// Fifth stage, the only outside effect: one call of the connector for each released intent, and never a second (decisions §8).
import { setImmediate as nextTurn } from 'node:timers/promises'
import { errorText } from '../../src/formats/text/error-text.ts'
import { within } from '../../src/core/threads/within.ts'
import type { Fresh } from '../fresh.ts'
import type { Connector, ConnectorOutcome, Order } from '../connectors/connector.ts'
import type { Released } from './claim.ts'

/**
 * The connector has had its one call. `completed` and `failed` are certain, and `failed` includes a call that was never sent, such as one
 * to a server that refused the connection. After `unknown` there is no record: the intent stays RELEASED, in doubt.
 */
export interface Performed extends Released {
  readonly startedAt: string
  readonly completedAt: string
  readonly outcomeOfCall: ConnectorOutcome
}

/**
 * Calls the connectors of a batch.
 * @returns `atOnce` those that answered before the event loop turned, because their connector waits for nothing outside; `deferred` the
 *   others, so that each of them delays only its own execution
 */
export async function perform(
  released: readonly Released[],
  tools: Pick<Fresh, 'clock'>,
): Promise<{ atOnce: Performed[]; deferred: Promise<Performed>[] }> {
  const calls = released.map((item) => performOne(item, tools))
  const turn = nextTurn(null)
  const settled = await Promise.all(calls.map((call) => Promise.race([call, turn])))
  return {
    atOnce: settled.filter((performed) => performed !== null),
    deferred: calls.filter((_, i) => settled[i] === null),
  }
}

/** Calls the connector of one execution. Never rejects. */
export async function performOne(item: Released, { clock }: Pick<Fresh, 'clock'>): Promise<Performed> {
  const { transaction, canonical, connector, decision, authorization, approvedBy } = item
  const startedAt = clock().toISOString()
  const { name, version } = transaction.policy
  const outcomeOfCall = await callConnector(connector, {
    businessTransactionId: transaction.businessTransactionId,
    authorizationId: authorization.authorizationId,
    authorizedUntil: authorization.expiresAt,
    action: transaction.intent.action,
    target: transaction.intent.target,
    parameters: transaction.intent.parameters,
    parametersText: canonical.parameters,
    policy: { name, version, contentHash: decision.policyContentHash },
    approvedBy,
  })
  return { ...item, startedAt, completedAt: clock().toISOString(), outcomeOfCall }
}

/** One call, within the connector's time. Never rejects: once it may have been sent, a failure proves nothing about the effect. */
export async function callConnector(
  connector: Connector,
  order: Omit<Order, 'signal'>,
): Promise<ConnectorOutcome> {
  const { timeoutMs } = connector
  const unanswered = { kind: 'unknown', cause: `no answer within ${timeoutMs} ms` } as const
  const abort = new AbortController()
  try {
    const outcome = await within(timeoutMs, connector.call({ ...order, signal: abort.signal }), unanswered)
    if (outcome === unanswered) abort.abort()
    return outcome
  } catch (error) {
    return { kind: 'unknown', cause: errorText(error) }
  }
}
