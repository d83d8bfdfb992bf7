// The parameters of a route, as the OpenAPI document has them.
import type { Route } from '../route.ts'
import { schemaOf } from './components.ts'
import { isCached } from './responses.ts'

export function parametersOf({ params = {}, query = {}, answers }: Route) {
  const inPath = Object.entries(params).map(([name, { schema, description, example }]) => ({
    name,
    in: 'path',
    required: true,
    description,
    schema: schemaOf(schema),
    example,
  }))
  const inQuery = Object.entries(query).map(([name, { schema, description, required, example }]) => ({
    name,
    in: 'query',
    ...(required && { required }),
    description,
    schema: schemaOf(schema),
    ...(example === undefined ? {} : { example }),
  }))
  const conditional = Object.values(answers).some(isCached)
  return [...inPath, ...inQuery, ...(conditional ? [IF_NONE_MATCH] : [])]
}

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  description: 'An ETag of this resource: if it has not changed, the answer is 304 without a body.',
  schema: { type: 'string' },
}
