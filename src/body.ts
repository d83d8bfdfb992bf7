// A request body as JSON, or the 400 of one that is not (decisions §3 "Not JSON we accept").
import { Failure, failures } from './errors.ts'
import { MalformedJson, parseJson } from './json.ts'

export type Fields = Record<string, unknown>

export function parseBody(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes)
  } catch (error) {
    if (error instanceof MalformedJson) return failures.malformedJson(error.message)
    throw error
  }
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member that has to be there: neither missing nor null nor blank (decisions §3). */
export function requiredField(body: unknown, name: string): { value: unknown } | Failure {
  const value = isObject(body) && Object.hasOwn(body, name) ? body[name] : undefined
  const missing = value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
  return missing ? failures.fieldRequired(name) : { value }
}

/** A text that has to be there. out  the 400 that names it where it is missing, no text or longer than `lengthMax` */
export function requiredText(body: Fields, name: string, lengthMax: number): string | Failure {
  const field = requiredField(body, name)
  if (field instanceof Failure) return field
  const { value } = field
  const fits = typeof value === 'string' && value.length <= lengthMax
  return fits ? value : failures.invalidField(`${name} must be a text of 1 to ${lengthMax} characters.`)
}

/** A misspelt member must not weaken what is governed. out  the 400 of a body that has others than these */
export function otherMembers(body: Fields, names: readonly string[]): Failure | undefined {
  const others = Object.keys(body).filter((name) => !names.includes(name))
  if (others.length === 0) return undefined
  return failures.invalidField(
    `The body has an unknown member: ${others[0]}. It may have ${names.join(', ')}.`,
  )
}
