// The connectors: what carries an authorized action out. One row per connector, found by exact action name (decisions §8).
import type { Connector } from './connector.ts'
import { sandboxEcho } from './sandbox-echo.ts'

/** The list to add a connector to. */
const connectors: readonly Connector[] = [sandboxEcho]

export interface Connectors {
  find(action: string): Connector | undefined
}

export function openConnectors(): Connectors {
  const byAction = new Map(
    connectors.flatMap((connector) => connector.actions.map((action) => [action, connector])),
  )
  return { find: (action) => byAction.get(action) }
}
