// A newer document may lack nothing of an older one (interface §9.4): within v1 nothing that a client may rely on disappears.

/**
 * Compares two parsed documents.
 * @returns one sentence for each path, method, status, parameter, header, property, enum value, error example and schema that is gone; none
 *   when the newer document only adds
 */
export function missingFrom(newer: unknown, older: unknown): string[] {
  const present = new Set(promises(newer))
  return promises(older).filter((promise) => !present.has(promise))
}

type Members = Readonly<Record<string, unknown>>

/** Everything that a document promises, a line each. */
function promises(document: unknown): string[] {
  const { paths, components } = members(document)
  const { schemas } = members(components)
  return [
    ...entries(paths).flatMap(([path, item]) => [
      `path ${path}`,
      ...entries(item).flatMap(([method, operation]) =>
        operationPromises(`${method.toUpperCase()} ${path}`, members(operation), members(components)),
      ),
    ]),
    ...entries(schemas).flatMap(([name, schema]) => [`schema ${name}`, ...schemaPromises(name, schema)]),
  ]
}

/** @param shared components that an operation may refer to: what it promises is the same wherever it stands */
function operationPromises(at: string, operation: Members, shared: Members): string[] {
  const parameters = list(operation['parameters']).map((stated) => referred(members(stated), shared))
  return [
    `method ${at}`,
    ...parameters.flatMap((parameter) => {
      const { in: place, name: own } = parameter
      // A reference to a component that is not there promises nothing.
      if (typeof own !== 'string') return []
      const name = `${at} parameter ${String(place)} ${own}`
      return [name, ...schemaPromises(name, parameter['schema'])]
    }),
    ...contentPromises(`${at} body`, operation['requestBody']),
    ...entries(operation['responses']).flatMap(([status, stated]) => {
      const response = referred(members(stated), shared)
      return [
        `${at} status ${status}`,
        ...Object.keys(members(response['headers'])).map((name) => `${at} ${status} header ${name}`),
        ...contentPromises(`${at} ${status}`, response),
      ]
    }),
  ]
}

function referred(stated: Members, shared: Members): Members {
  const { $ref } = stated
  if (typeof $ref !== 'string') return stated
  const [kind = '', name = ''] = $ref.slice('#/components/'.length).split('/')
  return members(members(shared[kind])[name])
}

function contentPromises(at: string, holder: unknown): string[] {
  return entries(members(holder)['content']).flatMap(([type, media]) => [
    `${at} ${type}`,
    ...Object.keys(members(members(media)['examples'])).map((row) => `${at} example ${row}`),
    ...schemaPromises(`${at} ${type}`, members(media)['schema']),
  ])
}

/** Properties, whether they are sure to be there, types, enum values and references, however deep. */
function schemaPromises(at: string, schema: unknown): string[] {
  const { $ref, type, enum: values, properties, required, items, anyOf, patternProperties } = members(schema)
  return [
    ...(typeof $ref === 'string' ? [`${at} is ${$ref}`] : []),
    ...(typeof type === 'string' ? [`${at} is a ${type}`] : []),
    ...list(values).map((value) => `${at} value ${JSON.stringify(value)}`),
    ...list(required).map((name) => `${at} requires ${String(name)}`),
    ...entries(properties).flatMap(([name, property]) => [
      `${at} property ${name}`,
      ...schemaPromises(`${at}.${name}`, property),
    ]),
    ...schemaPromisesIf(`${at}[]`, items),
    ...list(anyOf).flatMap((variant) => schemaPromises(at, variant)),
    ...Object.values(members(patternProperties)).flatMap((value) => schemaPromises(`${at}.*`, value)),
  ]
}

function schemaPromisesIf(at: string, schema: unknown): string[] {
  return schema === undefined ? [] : schemaPromises(at, schema)
}

function members(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}
}

function entries(value: unknown): [string, unknown][] {
  return Object.entries(members(value))
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
