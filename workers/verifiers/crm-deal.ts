// `{ by: crm-deal, property }`: the present value of the property in the CRM, of the deal that `intent.target` names. It is read
// through the connector, under an execution authorization of its own (decisions §6).
import { Canonical, canonicalize } from '../../src/formats/json/canonical.ts'
import { failures } from '../../src/core/errors/errors.ts'
import type { SignalVerifier } from '../../src/formats/schemas/policy.ts'
import { draftAuthorization, signAuthorization } from '../execute/decide/authorization.ts'
import { checkSigned } from '../execute/gate.ts'
import { callConnector } from '../execute/perform.ts'
import type { ConnectorOutcome } from '../connectors/connector.ts'
import type { StateVerifier } from './verifier.ts'

type CrmDeal = Extract<SignalVerifier, { by: 'crm-deal' }>

const ACTION = 'hubspot:deal-fetch'

export const crmDeal: StateVerifier<CrmDeal> = {
  when: 'before the claim',
  async observe({ accepted, verifier, type, decision, now }, tools) {
    const { connectors, key, findKey, clock, newId, newNonce } = tools
    const connector = connectors.find(ACTION)
    if (connector === undefined) return failures.stateUnavailable(`no connector is registered for ${ACTION}`)
    const { businessTransactionId, intent, policy } = accepted.transaction
    const parameters = { properties: [verifier.property] }
    const parametersText = new Canonical(canonicalize(parameters))
    const read = { action: ACTION, target: intent.target, parameters: parametersText }
    const unsigned = draftAuthorization(accepted, { decision, action: read, now, newId, newNonce })
    const authorization = signAuthorization(unsigned, key)
    const checked = checkSigned(authorization, {
      transaction: { businessTransactionId, intent: read },
      parameters: parametersText,
      findKey,
      now,
    })
    if (checked !== undefined) throw new Error(checked)
    const outcome = await callConnector(connector, {
      businessTransactionId,
      authorizationId: authorization.authorizationId,
      authorizedUntil: authorization.expiresAt,
      action: ACTION,
      target: intent.target,
      parameters,
      parametersText,
      policy: { name: policy.name, version: policy.version, contentHash: decision.policyContentHash },
      approvedBy: [],
    })
    const unread = unreadCause(outcome)
    if (unread !== undefined) return failures.stateUnavailable(`${ACTION}: ${unread}`)
    return {
      value: valueOf(outcome, verifier.property, type),
      evidence: { authorization: authorization.signed, observedAt: clock().toISOString() },
    }
  },
}

/** Why the state is not known. Undefined: the CRM answered about the deal, even if only that there is none. */
function unreadCause(outcome: ConnectorOutcome): string | undefined {
  if (outcome.kind === 'unknown') return outcome.cause
  return outcome.kind === 'failed' && outcome.targetUnknown ? outcome.reason : undefined
}

/** The CRM holds every property as text. Text that is not exactly such a value verifies nothing. */
function valueOf(
  outcome: ConnectorOutcome,
  property: string,
  type: 'boolean' | 'number',
): boolean | number | null {
  if (outcome.kind !== 'completed') return null
  const { properties } = outcome.result as { properties: Readonly<Record<string, unknown>> }
  const text = Object.hasOwn(properties, property) ? properties[property] : undefined
  if (typeof text !== 'string') return null
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : null
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : null
}
