// The external connectors (decisions §7): for humans.
import { readExternalConnectors } from '../tables/external-connectors.ts'
import { json, type Handler } from './route.ts'

/** Those in effect. Nothing in a registration is secret: an endpoint that holds a query or credentials is not registered. */
export const externalConnectors: Handler = async (_request, { pool }) =>
  json({ externalConnectors: await readExternalConnectors(pool) })
