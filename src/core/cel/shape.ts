// Compares a document with its schema: one sentence for each mistake.
import type { TSchema } from 'typebox'
import { Errors } from 'typebox/value'
import { isObject, stepsOf, type Fields } from '../../formats/json/fields.ts'
import { didYouMean, nearest } from '../../formats/text/nearest.ts'

type SchemaError = ReturnType<typeof Errors>[number]

/** Keys and indexes that lead to a value. */
export type Path = readonly (string | number)[]

interface ShapeMistake {
  readonly path: Path
  /** The problem of the value there, which follows its name: `must be text`. */
  readonly says: string
  /** The wrong key, if it is not the value's own key. */
  readonly key?: string
}

/**
 * Reports each mistake in a value that its schema refuses exactly once: a misspelt key is not reported as missing too, and in a union the
 * value is compared only with the intended variant.
 */
export function shapeMistakes(schema: TSchema, value: unknown): ShapeMistake[] {
  const mistakes: ShapeMistake[] = []
  const unions = new Set<string>()
  for (const error of Errors(schema, value)) {
    const { keyword, schemaPath, instancePath } = error
    // `boolean` repeats additionalProperties at the place of the unknown key.
    if (keyword === 'boolean') continue
    const path = pathOf(instancePath, value)
    const [union] =
      /^.*?\/(?=anyOf(\/|$))/.exec(keyword === 'anyOf' ? `${schemaPath}/anyOf` : schemaPath) ?? []
    if (union === undefined) {
      mistakes.push(
        ...mistakesOf(error, { path, schema: schemaAt(schema, schemaPath), value: valueAt(value, path) }),
      )
      continue
    }
    const below = schemaPath.slice(union.length).split('/').slice(2)
    const at = path.slice(0, path.length - stepsIn(below))
    if (unions.has(at.join('/'))) continue
    unions.add(at.join('/'))
    const variants = (schemaAt(schema, union.slice(0, -1)) as unknown as { anyOf: TSchema[] }).anyOf
    mistakes.push(
      ...ofVariant(variants, valueAt(value, at)).map((one) => ({ ...one, path: [...at, ...one.path] })),
    )
  }
  return mistakes
}

/** The mistake as one sentence, its path named from step `from` on: `signals.amount must be one of boolean, number.` */
export function sentenceOf({ path, says }: ShapeMistake, from = 0, whole = 'the document'): string {
  return `${path.slice(from).join('.') || whole} ${says}.`
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  object: 'an object',
  array: 'a list',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
}

function mistakesOf(
  { params, message, keyword }: SchemaError,
  { path, schema, value }: { path: Path; schema: TSchema; value: unknown },
): ShapeMistake[] {
  const { description, properties, patternProperties } = schema as {
    description?: string
    properties?: object
    patternProperties?: object
  }
  const names = Object.keys(properties ?? {})
  const present = isObject(value) ? value : {}
  if ('additionalProperties' in params)
    return params.additionalProperties.map((key) => ({
      path,
      key,
      says:
        patternProperties === undefined
          ? `has an unknown key: ${key}${didYouMean(
              key,
              names.filter((name) => !Object.hasOwn(present, name)),
            )}`
          : `has a name that does not match ${Object.keys(patternProperties).join(' or ')}: ${key}`,
    }))
  if ('requiredProperties' in params) {
    const unknown = Object.keys(present).filter((key) => !names.includes(key))
    const missing = params.requiredProperties.filter(
      (name) => !unknown.some((key) => nearest(key, [name]) !== undefined),
    )
    return missing.length === 0 ? [] : [{ path, says: `must have ${missing.join(', ')}` }]
  }
  if ('allowedValues' in params) {
    const allowed = params.allowedValues.map(String)
    return [{ path, says: `must be one of ${allowed.join(', ')}${didYouMean(String(value), allowed)}` }]
  }
  if (keyword === 'type') {
    const wanted = TYPES[String((params as { type: unknown }).type)] ?? 'something else'
    return [{ path, says: `must be ${description ?? wanted}${unquoted(wanted, value)}` }]
  }
  if (keyword === 'pattern' && description !== undefined) return [{ path, says: `must be ${description}` }]
  return [{ path, says: message }]
}

/** YAML reads `1.0` as a number and `true` as a boolean. */
function unquoted(wanted: string, value: unknown): string {
  if (wanted !== 'text' || (typeof value !== 'number' && typeof value !== 'boolean')) return ''
  return `, and is read as a ${typeof value}: put it in quotes`
}

/** The mistakes of the variant that a value's one constant member names. */
function ofVariant(variants: readonly TSchema[], value: unknown): ShapeMistake[] {
  const members = variants.map(
    (variant) => (variant as { properties?: Record<string, { const?: unknown }> }).properties ?? {},
  )
  const tag =
    Object.keys(members[0] ?? {}).find((name) => members.every((one) => one[name]?.const !== undefined)) ?? ''
  const tags = members.map((one) => String(one[tag]?.const))
  if (!isObject(value)) return [{ path: [], says: `must be an object with ${tag}: ${tags.join(' or ')}` }]
  const variant = variants[tags.indexOf(String(value[tag]))]
  if (variant !== undefined) return shapeMistakes(variant, value)
  if (value[tag] === undefined) return [{ path: [], says: `must have ${tag}: ${tags.join(' or ')}` }]
  const meant = typeof value[tag] === 'string' ? didYouMean(value[tag], tags) : ''
  return [{ path: [tag], says: `must be one of ${tags.join(', ')}${meant}` }]
}

/** Number of steps into the value that a path of a schema takes. */
function stepsIn([keyword, name, ...rest]: readonly string[]): number {
  if (keyword === undefined) return 0
  if (keyword === 'items') return 1 + stepsIn([...(name === undefined ? [] : [name]), ...rest])
  return (keyword === 'properties' || keyword === 'patternProperties' ? 1 : 0) + stepsIn(rest)
}

/** Parses a JSON pointer; its indexes are numbers where the value has a list. */
function pathOf(pointer: string, value: unknown): Path {
  let at = value
  return stepsOf(pointer).map((step) => {
    const key = Array.isArray(at) ? Number(step) : step
    at = valueAt(at, [key])
    return key
  })
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((at: unknown, key) => {
    if (Array.isArray(at)) return at[Number(key)] as unknown
    return isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }, value)
}

function schemaAt(schema: TSchema, pointer: string): TSchema {
  return pointer
    .split('/')
    .slice(1)
    .reduce<Fields>((at, key) => (at[key] ?? {}) as Fields, schema as unknown as Fields)
}
