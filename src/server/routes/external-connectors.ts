// The external connectors (decisions §7): for humans.
import { Failure } from '../../core/errors.ts'
import { readExternalConnectors } from '../../core/tables/external-connectors.ts'
import { readEntries } from './paging.ts'
import type { Handler } from './route.ts'

/** Those in effect. Nothing in a registration is secret: an endpoint that holds a query or credentials is not registered. */
export const externalConnectors: Handler = async ({ query }, { pool }) => {
  const entries = (await readExternalConnectors(pool)).map((row) => ({
    key: row.capability,
    text: JSON.stringify(row),
  }))
  const page = readEntries('/external-connectors', query, entries)
  if (page instanceof Failure) return page
  const { texts, ...headers } = page
  return { status: 200, ...headers, body: `{"externalConnectors":[${texts.join(',')}]}` }
}
