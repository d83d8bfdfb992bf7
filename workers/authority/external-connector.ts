// Changes of external connectors (decisions §7, §8): one human proposes an endpoint for a capability, another approves it.
import { otherMembers, requiredField, type Fields } from '../../src/body.ts'
import type { Json } from '../../src/canonical.ts'
import { Failure, failures } from '../../src/errors.ts'
import { reachOf, unreachableEndpoint, type Lookup } from '../../src/outbound/address.ts'
import { isCapability, isPolicyName } from '../../src/schemas/policy.ts'
import {
  readRegistered,
  registerExternalConnector,
  revokeExternalConnector,
} from '../../src/tables/external-connectors.ts'
import { readPolicyVersions } from '../../src/tables/policy-versions.ts'
import type { Sql } from '../../src/tables/sql.ts'
import type { ChangeKind } from './change-kind.ts'

interface Register {
  readonly action: 'register'
  readonly capability: string
  readonly endpointUrl: string
  readonly policy: string
  readonly allowedParameters: readonly string[]
  readonly timeoutMs: number
}

interface Revoke {
  readonly action: 'revoke'
  readonly capability: string
}

const MEMBERS = ['action', 'capability', 'endpointUrl', 'policy', 'allowedParameters', 'timeoutMs', 'reason']
/** Configured or not: what this service does itself, nobody else may be registered for. */
const BUILT_IN = /^(sandbox:echo|hubspot:.*)$/
const PARAMETERS_MAX = 64
const PARAMETER = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/
const TIMEOUT_MS = { min: 100, max: 30_000, default: 10_000 }

/** in  lookup  where host names are looked up, if not by the system */
export function externalConnectorChanges(rule: { production: boolean; lookup?: Lookup }): ChangeKind {
  return {
    read(body) {
      const proposed = readProposed(body)
      if (proposed instanceof Failure) return proposed
      return { target: proposed.capability, proposed: { ...proposed } }
    },
    async check(proposed) {
      const change = asProposed(proposed)
      if (change.action === 'revoke') return undefined
      const problem = await unreachableEndpoint(change.endpointUrl, rule)
      return problem === undefined ? undefined : failures.invalidField(`endpointUrl ${problem}.`)
    },
    async examine({ proposed }, sql) {
      const change = asProposed(proposed)
      const standing = await contradiction(change, sql)
      if (standing !== undefined) return standing
      return { proposed, warnings: change.action === 'revoke' ? [] : await warningsOf(change, sql) }
    },
    async apply({ proposed, changeId, resolvedAt: at }, sql) {
      const change = asProposed(proposed)
      const standing = await contradiction(change, sql)
      if (standing !== undefined) return standing
      const applied =
        change.action === 'revoke'
          ? await revokeExternalConnector(sql, { capability: change.capability, changeId, at })
          : await registerExternalConnector(sql, { ...change, changeId, registeredAt: at })
      // The statement's own word: another change may have been applied since the question before it.
      return applied ? undefined : failures.conflict(`${change.capability} has been changed meanwhile.`)
    },
  }
}

function readProposed(body: Fields): Register | Revoke | Failure {
  const unknown = otherMembers(body, MEMBERS)
  if (unknown !== undefined) return unknown
  const action = requiredField(body, 'action')
  if (action instanceof Failure) return action
  if (action.value !== 'register' && action.value !== 'revoke')
    return failures.invalidField('action must be register or revoke.')
  const required = requiredField(body, 'capability')
  if (required instanceof Failure) return required
  const capability = required.value
  if (!isCapability(capability)) return failures.invalidField('capability must be a namespace:verb.')
  if (BUILT_IN.test(capability))
    return failures.invalidField('capability must not be one that this service carries out itself.')
  // What else is given is not part of the change: whatever is registered for the capability is revoked.
  if (action.value === 'revoke') return { action: 'revoke', capability }

  const given = readRegistration(body)
  return given instanceof Failure ? given : { action: 'register', capability, ...given }
}

function readRegistration(body: Fields): Omit<Register, 'action' | 'capability'> | Failure {
  const missing = ['endpointUrl', 'policy', 'allowedParameters']
    .map((name) => requiredField(body, name))
    .find((field) => field instanceof Failure)
  if (missing !== undefined) return missing
  const { endpointUrl, policy, allowedParameters, timeoutMs = TIMEOUT_MS.default } = body
  if (typeof endpointUrl !== 'string') return failures.invalidField('endpointUrl must be a string.')
  // It is shown to whoever may list connectors, and signed: a secret in it would be one no longer.
  if (endpointUrl.includes('?'))
    return failures.invalidField('endpointUrl must not have a query: no secret belongs there.')
  if (!isPolicyName(policy)) return failures.invalidField('policy must be the name of a policy.')
  if (!areParameters(allowedParameters))
    return failures.invalidField(
      `allowedParameters must be an array of at most ${PARAMETERS_MAX} different parameter names.`,
    )
  if (!isTimeout(timeoutMs))
    return failures.invalidField(
      `timeoutMs must be a whole number from ${TIMEOUT_MS.min} to ${TIMEOUT_MS.max}.`,
    )
  return { endpointUrl, policy, allowedParameters, timeoutMs }
}

function areParameters(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length <= PARAMETERS_MAX &&
    new Set(value).size === value.length &&
    value.every((name) => typeof name === 'string' && PARAMETER.test(name))
  )
}

function isTimeout(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= TIMEOUT_MS.min && Number(value) <= TIMEOUT_MS.max
}

/** What `read` made, as it comes back from the stored change: signed, and checked by whoever reads it. */
function asProposed(proposed: Json): Register | Revoke {
  return proposed as unknown as Register | Revoke
}

async function contradiction(change: Register | Revoke, sql: Sql): Promise<Failure | undefined> {
  const { action, capability } = change
  const registered = await readRegistered(sql, capability)
  if (action === 'revoke' && registered === null)
    return failures.conflict(`No external connector is registered for ${capability}.`)
  if (action === 'register' && registered !== null)
    return failures.conflict(
      `An external connector is registered for ${capability} already: ${registered.endpointUrl}`,
    )
  return undefined
}

/** What makes a registration useless today, and may be mended by another change tomorrow. */
async function warningsOf({ capability, policy, endpointUrl }: Register, sql: Sql): Promise<string[]> {
  const versions = (await readPolicyVersions(sql)).filter(({ name }) => name === policy)
  const warnings: string[] = []
  if (versions.length === 0) warnings.push(`There is no policy ${policy}.`)
  else if (!versions.some(({ content }) => capabilitiesOf(content).includes(capability)))
    warnings.push(`No version of policy ${policy} lists ${capability}.`)
  if (reachOf(endpointUrl) === 'any')
    warnings.push('The endpoint is on the machine of the service itself, and is refused in production.')
  return warnings
}

function capabilitiesOf(content: string): readonly unknown[] {
  const { capabilities } = JSON.parse(content) as { capabilities?: unknown }
  return Array.isArray(capabilities) ? capabilities : []
}
