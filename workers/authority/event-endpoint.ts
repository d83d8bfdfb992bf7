// Changes of event endpoints (docs/handbook/events.md): one human proposes an endpoint to which events are pushed, another
// approves it.
import type { Static } from 'typebox'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { newestCursor } from '../../src/core/events/read.ts'
import type { EventType } from '../../src/formats/schemas/event-types.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import { reachOf, unreachableEndpoint } from '../../src/core/outbound/address.ts'
import { EventEndpointProposal } from '../../src/formats/schemas/event-endpoint.ts'
import { begin, end, inEffect } from '../../src/store/tables/authority.ts'
import { endDeliveries, openDeliveries } from '../../src/store/tables/event-deliveries.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import type { ChangeKind } from './change-kind.ts'

interface Register {
  readonly action: 'register'
  readonly url: string
  readonly types: readonly EventType[]
  readonly withParameters: boolean
  readonly callerIds?: readonly string[]
}

interface Revoke {
  readonly action: 'revoke'
  readonly url: string
}

/** Each endpoint is served separately, so that none waits for another: this bounds their number. */
const ENDPOINTS_MAX = 100

const proposalOf = bodyOf(EventEndpointProposal)

/**
 * @param rule.callerIds the callers with a key in effect
 * @param rule.logged whether the evidence log is on, from which the feed is made
 */
export function eventEndpointChanges(rule: {
  production: boolean
  callerIds: () => readonly string[]
  logged: boolean
}): ChangeKind<Register | Revoke> {
  return {
    read(body) {
      const proposal = proposalOf(body)
      if (proposal instanceof Failure) return proposal
      return { target: proposal.url, proposed: proposedBy(proposal), reason: proposal.reason }
    },
    async check(change) {
      if (change.action === 'revoke') return undefined
      const problem = await unreachableEndpoint(change.url, rule)
      return problem === undefined ? undefined : failures.invalidField(`url ${problem}.`)
    },
    contradiction,
    examine({ proposed }) {
      const warnings = proposed.action === 'revoke' ? [] : warningsOf(proposed, rule)
      return Promise.resolve({ proposed, warnings })
    },
    async apply(change, sql) {
      const meanwhile = failures.conflict(`${change.target} has been changed meanwhile.`)
      if (change.proposed.action === 'revoke') {
        const ended = await end(sql, 'event-endpoint', { ...change, targets: [change.target] })
        await endDeliveries(
          sql,
          ended.map(({ key }) => key),
        )
        return ended.length === 1 ? undefined : meanwhile
      }
      if (!(await begin(sql, 'event-endpoint', change))) return meanwhile
      await openDeliveries(sql, change.changeId, await newestCursor(sql))
      return undefined
    },
  }
}

function proposedBy(proposal: Static<typeof EventEndpointProposal>): Register | Revoke {
  const { action, url } = proposal
  if (action === 'revoke') return { action, url }
  const { reason: _, withParameters = false, ...registration } = proposal
  return { ...registration, withParameters }
}

async function contradiction({ action, url }: Register | Revoke, sql: Sql): Promise<Failure | undefined> {
  const endpoints = await inEffect(sql, 'event-endpoint')
  const registered = endpoints.some(({ target }) => target === url)
  if (action === 'revoke' && !registered)
    return failures.conflict(`No event endpoint is registered at ${url}.`)
  if (action === 'register' && registered)
    return failures.conflict(`An event endpoint is registered at ${url} already.`)
  if (action === 'register' && endpoints.length >= ENDPOINTS_MAX)
    return failures.conflict(`${ENDPOINTS_MAX} event endpoints are registered, which is as many as may be.`)
  return undefined
}

function warningsOf(
  { url, withParameters, callerIds = [] }: Register,
  known: { readonly callerIds: () => readonly string[]; readonly logged: boolean },
): string[] {
  const warnings = callerIds
    .filter((callerId) => !known.callerIds().includes(callerId))
    .map((callerId) => `No caller ${callerId} has a key.`)
  if (withParameters) warnings.push('The parameters of executions are sent to the endpoint.')
  if (!known.logged) warnings.push('Nothing is sent: the evidence log is off (LOG=off).')
  if (reachOf(url) === 'any')
    warnings.push('The endpoint is on the machine of the service itself, and is refused in production.')
  return warnings
}
