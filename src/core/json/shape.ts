// Compares a body with its schema and reports the first problem, as a sentence that names the field. The schema's
// descriptions complete the sentence: "<path> must be <description>."
import { Type, type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Check, Errors } from 'typebox/value'
import { isMissing, parseBody } from './body.ts'
import { isObject, memberAt, stepsOf } from '../../formats/json/fields.ts'
import { Failure, failures } from '../errors/errors.ts'

/** The value, known to be of the schema's type; or the problem. */
type Shaped<T> = { readonly value: T } | { readonly problem: string }

/**
 * Compiled for the first value: compiling all shapes would take 20 ms of a thread's start, and most threads use only a few.
 */
export function shapeOf<Schema extends TSchema>(schema: Schema): (value: unknown) => Shaped<Static<Schema>> {
  let compiled: ReturnType<typeof Compile<Schema>> | undefined
  return (value) =>
    (compiled ??= Compile(schema)).Check(value)
      ? { value }
      : { problem: problemOf(meant(schema, value), value) }
}

/** Parses a request body of the schema's type; a 400 if it has another shape. */
export function bodyOf<Schema extends TSchema>(
  schema: Schema,
): (bytes: Uint8Array) => Static<Schema> | Failure {
  const shape = shapeOf(schema)
  return (bytes) => {
    const body = parseBody(bytes)
    if (body instanceof Failure) return body
    const shaped = shape(body)
    return 'problem' in shaped ? failures.invalidField(shaped.problem) : shaped.value
  }
}

/** Selects the schema that the caller means, in a union whose members differ by `action`. */
function meant(schema: TSchema, value: unknown): TSchema {
  if (!('anyOf' in schema)) return schema
  const variants = schema.anyOf as { properties: { action: { enum: string[] } } }[]
  const { action } = isObject(value) ? value : {}
  const known = variants.flatMap(({ properties }) => properties.action.enum)
  return (
    variants.find(({ properties }) => Check(properties.action, action)) ??
    Type.Object({ action: Type.Enum(known) })
  )
}

function problemOf(schema: TSchema, value: unknown): string {
  // `boolean` repeats additionalProperties at the place of the unknown member.
  const error = Errors(schema, value).find(({ keyword }) => keyword !== 'boolean')
  return error === undefined ? 'the body is not valid.' : sentence(schema, error, value)
}

type SchemaError = ReturnType<typeof Errors>[number]

function sentence(schema: TSchema, error: SchemaError, value: unknown): string {
  const segments = stepsOf(error.instancePath)
  if (isRequired(schema, segments) && isMissing(memberAt(value, segments)))
    return `${segments.join('.')} is required.`
  const place = placeOf(schema, segments)
  const member = (name: string | undefined) => [...segments, name].join('.')
  // A member that one variant of a union lacks or has in excess may be right for another: the union as a whole is named.
  if (!('anyOf' in place.schema)) {
    if (error.keyword === 'required') return `${member(error.params.requiredProperties[0])} is required.`
    if (error.keyword === 'additionalProperties')
      return `${member(error.params.additionalProperties[0])} is not a member that is known here.`
  }
  // The description states a refinement, for an object too.
  const { description } = place.schema as { description?: string }
  const what = error.keyword === '~refine' && description !== undefined ? description : whatOf(place.schema)
  return `${place.path.join('.') || 'the body'} must be ${what}.`
}

function whatOf(schema: TSchema): string {
  // A description of an object with members explains its purpose, not its shape.
  if ('properties' in schema) return 'an object'
  if ('description' in schema) return String(schema.description)
  if ('patternProperties' in schema) return 'an object'
  if ('items' in schema) return 'an array'
  if ('enum' in schema) return `one of ${(schema.enum as unknown[]).join(', ')}`
  return 'valid'
}

interface Inside {
  readonly properties?: Record<string, TSchema>
  readonly items?: TSchema
  /** A map has one pattern for all keys. */
  readonly patternProperties?: Record<string, TSchema>
}

/** The deepest schema that describes a place: parts of a union have no single description, so the union is named. */
function placeOf(schema: TSchema, segments: readonly string[]): { schema: TSchema; path: readonly string[] } {
  let at: TSchema = schema
  for (const [i, segment] of segments.entries()) {
    if ('anyOf' in at) return { schema: at, path: segments.slice(0, i) }
    const { properties, items, patternProperties } = at as Inside
    const next = properties?.[segment] ?? items ?? Object.values(patternProperties ?? {})[0]
    if (next === undefined) return { schema: at, path: segments.slice(0, i) }
    at = next
  }
  return { schema: at, path: segments }
}

function isRequired(schema: TSchema, segments: readonly string[]): boolean {
  const above = segments.slice(0, -1)
  const holder = placeOf(schema, above)
  const { required } = holder.schema as { required?: readonly string[] }
  return holder.path.length === above.length && required?.includes(segments.at(-1) ?? '') === true
}
