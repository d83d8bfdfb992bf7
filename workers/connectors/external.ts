// An external HTTP connector: registered by governance, handed a signed release, believed only about this transaction (decisions §8).
import type { Json } from '../../src/formats/json/canonical.ts'
import { isObject, type Fields } from '../../src/formats/json/fields.ts'
import { endpointProblem, reachOf, type Lookup } from '../../src/core/outbound/address.ts'
import { call } from '../../src/core/outbound/call.ts'
import { isTimestamp } from '../../src/formats/schemas/primitives.ts'
import type { SigningKey } from '../../src/core/signing/keys.ts'
import type { ExternalConnectorRow } from '../../src/store/tables/external-connectors.ts'
import { outcomeOf } from './answer.ts'
import type { Connector, ConnectorOutcome, Order } from './connector.ts'
import { signRelease, type AskedAbout } from './release.ts'

/** As governance approved it. */
export type Registration = ExternalConnectorRow

export const connectorIdOf = ({ capability }: Pick<Registration, 'capability'>) => `external:${capability}`

interface ExternalWith {
  readonly key: SigningKey
  readonly production: boolean
  readonly clock: () => Date
  /** Where names are looked up, if not by the system. */
  readonly lookup?: Lookup
}

export function externalConnector(
  registration: Registration,
  { key, production, clock, lookup }: ExternalWith,
): Connector {
  const { capability, endpointUrl, allowedParameters, timeoutMs, changeId } = registration
  const { href, origin } = new URL(endpointUrl)
  const connectorId = connectorIdOf(registration)
  return {
    connectorId,
    connectorVersion: changeId,
    endpoint: href,
    actions: [capability],
    timeoutMs,
    async call(order) {
      // Checked again after the approval: the rule, or the setting for production, may have changed since.
      const problem = endpointProblem(endpointUrl, { production })
      if (problem !== undefined) return { kind: 'failed', reason: 'the endpoint breaks the address rule' }
      const foreign = Object.keys(order.parameters).find((name) => !allowedParameters.includes(name))
      if (foreign !== undefined)
        return {
          kind: 'failed',
          reason: `the connector is not registered for parameter ${JSON.stringify(foreign.slice(0, 64))}`,
        }
      const at = clock()
      // If the thread was stopped for minutes since the commit, it may be known by now that no release was taken.
      if (!(at.getTime() < Date.parse(order.authorizedUntil)))
        return { kind: 'failed', reason: 'the authorization expired before it was released' }
      const exchange = await call(
        {
          method: 'POST',
          url: endpointUrl,
          headers: { 'content-type': 'application/json', accept: 'application/json' },
          body: signRelease(order, { connectorId, audience: origin, timeoutMs, key, now: at }),
          reach: reachOf(endpointUrl),
          timeoutMs,
          signal: order.signal,
        },
        lookup === undefined ? {} : { lookup },
      )
      return outcomeOf(exchange, {
        read: (body) => outcomeIn(body, order),
        refusal: ({ status }) => `the connector refused with ${status}`,
      })
    },
  }
}

function outcomeIn(body: Fields, { businessTransactionId, action }: Order): ConnectorOutcome | undefined {
  const answer = readAnswer(body, { businessTransactionId, capability: action })
  if (answer === undefined) return undefined
  const { success, result } = answer
  return success
    ? { kind: 'completed', result }
    : { kind: 'failed', reason: shortReason(result) ?? 'the connector refused' }
}

/** The statement of a connector on a release: the answer to it, or to the question about its outcome. */
interface Answer {
  readonly success: boolean
  readonly result: Json
  readonly executedAt: string
}

type Named = Pick<AskedAbout, 'businessTransactionId' | 'capability'>

/** Undefined for a body that is not `{businessTransactionId, capability, success, result, executedAt}` of this transaction. */
export function readAnswer(body: Fields, asked: Named): Answer | undefined {
  const { success, result, executedAt } = body
  if (!namesSame(body, asked)) return undefined
  if (typeof success !== 'boolean' || result === undefined) return undefined
  if (typeof executedAt !== 'string' || !isTimestamp(executedAt)) return undefined
  return { success, result: result as Json, executedAt }
}

/** Whether a body is about this transaction and capability. */
export function namesSame(body: Fields, { businessTransactionId, capability }: Named): boolean {
  return body['businessTransactionId'] === businessTransactionId && body['capability'] === capability
}

/** The receiver's own words, if they are one short line; the sentence that they end gets its full stop from us. */
export function shortReason(result: unknown): string | undefined {
  const reason = isObject(result) ? result['reason'] : undefined
  return typeof reason === 'string' && /^[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u.test(reason)
    ? reason.replace(/\.$/, '')
    : undefined
}
