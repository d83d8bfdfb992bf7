// The body of POST /sandbox/policies/simulate: a policy document, versions that end, a time range, and where an earlier chunk ended (decisions §9).
import { otherMembers, parseBody, requiredField } from '../../src/core/json/body.ts'
import { isObject, type Fields } from '../../src/formats/json/fields.ts'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { compiledOr400 } from '../../src/core/policy/check.ts'
import { isPolicyName, isPolicyVersion } from '../../src/formats/schemas/policy.ts'
import { isTimestamp, storedInstant } from '../../src/formats/schemas/primitives.ts'
import { cursorText, readCursor, type Position } from '../../src/store/tables/position.ts'
import type { InFlight } from '../in-flight.ts'
import type { Simulated } from './redecide.ts'

/** The part of the past that is looked at, fixed by the first chunk: ISO 8601, milliseconds, `until` excluded. */
export interface Range {
  readonly since: string
  readonly until: string
}

export interface Simulation extends InFlight, Simulated {
  /** As requested. */
  readonly since: string | null
  readonly until: string | null
  /** Null in the first chunk. */
  readonly cursor: (Range & { readonly below: Position }) | null
}

/** @returns the simulation, or a 400 that names the field, or the first mistake of the policy document */
export function readSimulation({ request }: InFlight): Simulation | Failure {
  const body = parseBody(request.body)
  if (body instanceof Failure) return body
  const isRetirement = isObject(body) && body['policyId'] !== undefined
  const required = requiredField(body, isRetirement ? 'retires' : 'policy')
  if (required instanceof Failure) return required
  const fields = body as Fields
  const unknown = otherMembers(fields, ['policy', 'policyId', 'retires', 'since', 'until', 'cursor'])
  if (unknown !== undefined) return unknown
  const retires = readVersions(fields['retires'])
  if (retires instanceof Failure) return retires
  const since = readInstant(fields, 'since')
  if (since instanceof Failure) return since
  const until = readInstant(fields, 'until')
  if (until instanceof Failure) return until
  if (since !== null && until !== null && since > until)
    return failures.invalidField('since must not be after until.')
  const cursor = readRange(fields['cursor'])
  if (cursor instanceof Failure) return cursor
  const given = { request, retires, since, until, cursor }
  if (isRetirement) {
    const { policyId: name, policy } = fields
    if (policy !== undefined) return failures.invalidField('policyId must be left out where policy is given.')
    return isPolicyName(name)
      ? { ...given, name, policy, display: undefined }
      : failures.invalidField('policyId must be the name of a policy.')
  }
  const compiled = compiledOr400(required.value, 'policy')
  if (compiled instanceof Failure) return compiled
  const { policy, document } = compiled
  return { ...given, name: policy.name, policy, display: document.display }
}

const VERSIONS_MAX = 100

function readVersions(value: unknown): ReadonlySet<string> | Failure {
  if (value === undefined) return new Set()
  const isList = Array.isArray(value) && value.length > 0 && value.length <= VERSIONS_MAX
  if (isList && value.every(isPolicyVersion)) return new Set(value)
  return failures.invalidField(`retires must be 1 to ${VERSIONS_MAX} versions such as 1.0.0.`)
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
