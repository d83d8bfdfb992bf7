// The body of POST /sandbox/policies/simulate: a policy document, a time range, and where an earlier chunk ended (decisions §9).
import { isObject, otherMembers, parseBody, requiredField, type Fields } from '../../src/body.ts'
import { Failure, failures } from '../../src/errors.ts'
import { compilePolicy, type CompiledPolicy } from '../../src/policy/check.ts'
import { PolicyError } from '../../src/policy/error.ts'
import { instantOf } from '../../src/routes/paging.ts'
import { isTimestamp, isUuid } from '../../src/schemas/primitives.ts'
import type { Position } from '../../src/tables/past-decisions.ts'
import type { Travelling } from '../execute/road.ts'

/** The part of the past that is looked at, fixed by the first chunk: ISO 8601, milliseconds, `until` excluded. */
export interface Range {
  readonly since: string
  readonly until: string
}

export interface Simulation extends Travelling {
  readonly policy: CompiledPolicy
  /** As asked for. */
  readonly since: string | null
  readonly until: string | null
  /** Null in the first chunk. */
  readonly cursor: (Range & { readonly below: Position }) | null
}

/** fails as a 400 that names the field; for the document with the first of its mistakes */
export function readSimulation({ request }: Travelling): Simulation | Failure {
  const body = parseBody(request.body)
  if (body instanceof Failure) return body
  const document = requiredField(body, 'policy')
  if (document instanceof Failure) return document
  const fields = body as Fields
  const unknown = otherMembers(fields, ['policy', 'since', 'until', 'cursor'])
  if (unknown !== undefined) return unknown
  const since = readInstant(fields, 'since')
  if (since instanceof Failure) return since
  const until = readInstant(fields, 'until')
  if (until instanceof Failure) return until
  const cursor = readCursor(fields['cursor'])
  if (cursor instanceof Failure) return cursor
  const policy = compile(document.value)
  return policy instanceof Failure ? policy : { request, policy, since, until, cursor }
}

function readInstant(body: Fields, name: 'since' | 'until'): string | null | Failure {
  const value = body[name] ?? null
  if (value === null) return null
  if (typeof value !== 'string' || !isTimestamp(value))
    return failures.invalidField(`${name} must be an RFC 3339 timestamp.`)
  return instantOf(value)
}

const MISTAKES_SHOWN_MAX = 20

function compile(document: unknown): CompiledPolicy | Failure {
  try {
    if (!isObject(document)) return failures.invalidField('policy must be a policy document, an object.')
    return compilePolicy(document, 'policy').policy
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error
    return failures.invalidField(error.message.split('\n').slice(0, MISTAKES_SHOWN_MAX).join(' '))
  }
}

/** Opaque to callers, and all that is known between two chunks: nothing is stored. */
export function cursorOf({ since, until }: Range, below: Position): string {
  return Buffer.from([since, until, below.createdAt, below.id].join(' ')).toString('base64url')
}

function readCursor(value: unknown): Simulation['cursor'] | Failure {
  if (value === undefined || value === null) return null
  const text = typeof value === 'string' ? Buffer.from(value, 'base64url').toString() : ''
  const [since = '', until = '', createdAt = '', id = '', ...more] = text.split(' ')
  if (![since, until, createdAt].every(isInstant) || !isUuid(id) || more.length > 0)
    return failures.invalidField('cursor must be the `next` of an earlier answer.')
  return { since, until, below: { createdAt, id } }
}

/** As PostgreSQL takes it too, which knows neither 30 February nor the year 0. */
function isInstant(text: string): boolean {
  return /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) && isTimestamp(text)
}
