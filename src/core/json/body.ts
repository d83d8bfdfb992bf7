// Parses a request body as JSON, or returns the 400 for an invalid body (decisions §3 "Not JSON we accept").
import { failures, type Failure } from '../errors/errors.ts'
import { isObject, type Fields } from '../../formats/json/fields.ts'
import { MalformedJson, parseJson } from './json.ts'

export function parseBody(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes)
  } catch (error) {
    if (error instanceof MalformedJson) return failures.malformedJson(error.message)
    throw error
  }
}

/** Whether a required member is missing: null and blank count as missing (decisions §3). */
export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || isBlank(value)
}

export function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === ''
}

/** @returns the member's value, or the 400 of a missing member */
export function requiredField(body: unknown, name: string): { value: unknown } | Failure {
  const value = isObject(body) && Object.hasOwn(body, name) ? body[name] : undefined
  return isMissing(value) ? failures.fieldRequired(name) : { value }
}

/**
 * Refuses unknown members: a misspelt member must not weaken a governed change.
 * @returns the 400, or undefined when the body has only members of these names
 */
export function otherMembers(body: Fields, names: readonly string[]): Failure | undefined {
  const others = Object.keys(body).filter((name) => !names.includes(name))
  if (others.length === 0) return undefined
  return failures.invalidField(
    `The body has an unknown member: ${others[0]}. It may have ${names.join(', ')}.`,
  )
}
