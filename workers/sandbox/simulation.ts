// The body of POST /sandbox/policies/simulate: a policy document, a time range, and where an earlier chunk ended (decisions §9).
import { otherMembers, parseBody, requiredField, type Fields } from '../../src/core/json/body.ts'
import { Failure, failures } from '../../src/core/errors.ts'
import type { CompiledPolicy } from '../../src/core/policy/check.ts'
import { compiledOr400 } from '../../src/core/policy/posted.ts'
import { isTimestamp, storedInstant } from '../../src/core/schemas/primitives.ts'
import { cursorText, readCursor, type Position } from '../../src/core/tables/position.ts'
import type { InFlight } from '../in-flight.ts'

/** The part of the past that is looked at, fixed by the first chunk: ISO 8601, milliseconds, `until` excluded. */
export interface Range {
  readonly since: string
  readonly until: string
}

export interface Simulation extends InFlight {
  readonly policy: CompiledPolicy
  /** As asked for. */
  readonly since: string | null
  readonly until: string | null
  /** Null in the first chunk. */
  readonly cursor: (Range & { readonly below: Position }) | null
}

/** @returns the simulation, or a 400 that names the field, or the first mistake of the policy document */
export function readSimulation({ request }: InFlight): Simulation | Failure {
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
  const cursor = readRange(fields['cursor'])
  if (cursor instanceof Failure) return cursor
  const compiled = compiledOr400(document.value, 'policy')
  if (compiled instanceof Failure) return compiled
  return { request, policy: compiled.policy, since, until, cursor }
}

function readInstant(body: Fields, name: 'since' | 'until'): string | null | Failure {
  const value = body[name] ?? null
  if (value === null) return null
  if (typeof value !== 'string' || !isTimestamp(value))
    return failures.invalidField(`${name} must be an RFC 3339 timestamp.`)
  return storedInstant(value)
}

/** Opaque to callers, and all that is known between two chunks: nothing is stored. */
export function cursorOf({ since, until }: Range, below: Position): string {
  return cursorText(below, [since, until])
}

function readRange(cursor: unknown): Simulation['cursor'] | Failure {
  if (cursor === undefined || cursor === null) return null
  const read = typeof cursor === 'string' ? readCursor(cursor, 2) : undefined
  if (read === undefined) return failures.invalidField('cursor must be the `next` of an earlier answer.')
  const [since = '', until = ''] = read.times
  return { since, until, below: read.position }
}
