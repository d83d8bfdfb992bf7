// The connectors, which carry authorized actions out. Built in, one row each; or registered by governance (decisions §8).
import type { SigningKey } from '../../src/core/signing/keys.ts'
import type { Connector } from './connector.ts'
import { endpointProblem } from '../../src/core/outbound/address.ts'
import { externalConnector, type Registration } from './external.ts'
import { hubspotConnectors, type HubSpot } from './hubspot.ts'
import { sandboxEcho } from './sandbox-echo.ts'

interface ConnectorsWith {
  /** Undefined: not configured, and its actions have no connector. */
  readonly hubspot: HubSpot | undefined
  /** Signs the releases of external connectors. */
  readonly key: SigningKey
  readonly production: boolean
  readonly clock: () => Date
}

export interface Connectors {
  /**
   * The connector of an action, by its exact name. A built-in one comes first: no registration takes an action over. An external connector
   * is found only under the policy that it was registered for.
   */
  find(action: string, policyName?: string): Connector | undefined
  /** The registration of an external connector by the change that made it; undefined where it is not in effect, or breaks the address rule. */
  registered(changeId: string): Registration | undefined
}

export interface OpenConnectors extends Connectors {
  /** Whether an action has a connector, under whatever policy. */
  has(action: string): boolean
  /** The registrations that are in force from now on, in place of all earlier ones. */
  replaceExternal(registrations: readonly Registration[]): void
}

/** The list to add a connector to. */
function builtIn({ hubspot }: ConnectorsWith): readonly Connector[] {
  return [sandboxEcho, ...(hubspot === undefined ? [] : hubspotConnectors(hubspot))]
}

export function openConnectors(configured: ConnectorsWith): OpenConnectors {
  const { key, production, clock } = configured
  const byAction = new Map(
    builtIn(configured).flatMap((connector) => connector.actions.map((action) => [action, connector])),
  )
  let external: readonly { registration: Registration; connector: Connector }[] = []
  return {
    find: (action, policyName) =>
      byAction.get(action) ??
      external.find(
        ({ registration }) => registration.capability === action && registration.policy === policyName,
      )?.connector,
    registered(changeId) {
      const found = external.find(({ registration }) => registration.changeId === changeId)?.registration
      return found && endpointProblem(found.endpointUrl, { production }) === undefined ? found : undefined
    },
    has: (action) =>
      byAction.has(action) || external.some(({ registration }) => registration.capability === action),
    replaceExternal(registrations) {
      external = registrations.map((registration) => ({
        registration,
        connector: externalConnector(registration, { key, production, clock }),
      }))
    },
  }
}
