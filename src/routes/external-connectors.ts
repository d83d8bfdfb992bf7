// The external connectors, and changes of them (decisions §7): for humans.
import { readExternalConnectors } from '../tables/external-connectors.ts'
import { listChanges, proposeChange, resolveChange, showChange } from './governance.ts'
import { json, type Handler } from './route.ts'

/** Those in effect. Nothing in a registration is secret: an endpoint that holds a query or credentials is not registered. */
export const externalConnectors: Handler = async (_request, { pool }) =>
  json({ externalConnectors: await readExternalConnectors(pool) })

export const proposeExternalConnector = proposeChange('external-connector')
export const externalConnectorChanges = listChanges('external-connector')
export const externalConnectorChange = showChange('external-connector')
export const approveExternalConnector = resolveChange('external-connector', 'approve')
export const rejectExternalConnector = resolveChange('external-connector', 'reject')
