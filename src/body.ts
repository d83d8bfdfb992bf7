// A request body as JSON, or the 400 of one that is not (decisions §3 "Not JSON we accept").
import { failures, type Failure } from './errors.ts'
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
