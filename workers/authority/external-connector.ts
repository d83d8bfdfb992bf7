// Changes of external connectors (decisions §7, §8): one human proposes an endpoint for a capability, another approves it.
import type { Static } from 'typebox'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { reachOf, unreachableEndpoint, type Lookup } from '../../src/core/outbound/address.ts'
import {
  ExternalConnectorProposal,
  TIMEOUT_DEFAULT_MS,
} from '../../src/formats/schemas/external-connector.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import { enact, inEffect } from '../../src/store/tables/authority.ts'
import { externalConnectorOf } from '../../src/store/tables/external-connectors.ts'
import { readPolicyVersions } from '../../src/store/tables/policy-versions.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import type { ChangeKind } from './change-kind.ts'

interface Register {
  readonly action: 'register'
  readonly capability: string
  readonly endpointUrl: string
  readonly policy: string
  readonly allowedParameters: readonly string[]
  readonly timeoutMs: number
  /** Left out where it is false, as in proposals from before this member existed. */
  readonly readBack?: true
}

interface Revoke {
  readonly action: 'revoke'
  readonly capability: string
}

const proposalOf = bodyOf(ExternalConnectorProposal)

/** Configured or not: no external connector may be registered for a capability of the service itself. */
const BUILT_IN = /^(sandbox:echo|hubspot:.*)$/

/** @param rule.lookup resolves host names in place of the system */
export function externalConnectorChanges(rule: {
  production: boolean
  lookup?: Lookup
}): ChangeKind<Register | Revoke> {
  return {
    read(body) {
      const proposal = proposalOf(body)
      if (proposal instanceof Failure) return proposal
      const { capability, reason } = proposal
      if (BUILT_IN.test(capability))
        return failures.invalidField('capability must not be one that this service carries out itself.')
      return { target: capability, proposed: proposedBy(proposal), reason }
    },
    async check(change) {
      if (change.action === 'revoke') return undefined
      const problem = await unreachableEndpoint(change.endpointUrl, rule)
      return problem === undefined ? undefined : failures.invalidField(`endpointUrl ${problem}.`)
    },
    contradiction,
    async examine({ proposed }, sql) {
      return { proposed, warnings: proposed.action === 'revoke' ? [] : await warningsOf(proposed, sql) }
    },
    async apply(change, sql) {
      const applied = await enact(sql, 'external-connector', change)
      return applied ? undefined : failures.conflict(`${change.target} has been changed meanwhile.`)
    },
  }
}

function proposedBy(proposal: Static<typeof ExternalConnectorProposal>): Register | Revoke {
  const { action, capability } = proposal
  if (action === 'revoke') return { action, capability }
  const { reason: _, timeoutMs = TIMEOUT_DEFAULT_MS, readBack = false, ...registration } = proposal
  return { ...registration, timeoutMs, ...(readBack ? { readBack } : {}) }
}

async function contradiction(change: Register | Revoke, sql: Sql): Promise<Failure | undefined> {
  const { action, capability } = change
  const [registered] = await inEffect(sql, 'external-connector', capability)
  if (action === 'revoke' && registered === undefined)
    return failures.conflict(`No external connector is registered for ${capability}.`)
  if (action === 'register' && registered !== undefined)
    return failures.conflict(
      `An external connector is registered for ${capability} already: ${externalConnectorOf(registered).endpointUrl}`,
    )
  return undefined
}

/** Warns of problems that make a registration useless now, and that another change may mend later. */
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
