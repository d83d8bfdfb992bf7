// The problems of a body by every rule of decisions §3, in its order. The first problem answers POST /execute; POST /sandbox/evaluate
// lists them all.
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Value } from 'typebox/value'
import { isMissing } from '../../../src/core/json/body.ts'
import { isObject, type Fields } from '../../../src/formats/json/fields.ts'
import { failures, type Failure } from '../../../src/core/errors/errors.ts'
import { holdsUnsafeInteger } from '../../../src/core/json/json.ts'
import {
  BusinessTransactionInput,
  NESTED_OBJECTS,
} from '../../../src/formats/schemas/business-transaction.ts'
import { isUuid } from '../../../src/formats/schemas/primitives.ts'
import type { ScopedCaller } from '../../in-flight.ts'

interface Problem {
  /** Where, as `intent.parameters.lines[2].amount`. */
  readonly path: string
  /** A sentence that names the field. */
  readonly message: string
  /** The answer to a request whose first problem this is. */
  readonly failure: Failure
}

const validTransaction = Compile(BusinessTransactionInput)

/**
 * Yields lazily: a refusal costs no more than its first problem, and a good body one compiled check.
 * @param body as it was parsed, of any shape
 * @param rebuilt the same body from `rebuild` in validate.ts
 */
export function* problemsOf(
  body: unknown,
  rebuilt: Fields,
  caller: ScopedCaller,
): Generator<Problem, undefined> {
  if (!isUuid(rebuilt['businessTransactionId'])) yield invalidId(rebuilt['businessTransactionId'])
  for (const name of NESTED_OBJECTS) {
    const value = isObject(body) ? body[name] : undefined
    if (!isObject(value)) yield missingObject(name, value)
  }
  yield* brokenChain(rebuilt)
  yield* missingNames(rebuilt)
  if (!validTransaction.Check(rebuilt)) yield* wrongFields(rebuilt)
  yield* unsafeNumbers(rebuilt)
  yield* outsideScope(rebuilt, caller)
}

function problem(path: string, failure: Failure): Problem {
  return { path, message: failure.message, failure }
}

function invalid(path: string, message: string): Problem {
  return problem(path, failures.invalidTransaction(message))
}

/** The caller of POST /execute gets the sentence of the contract; the sandbox says which UUIDs are accepted, since version 7 is one too. */
function invalidId(value: unknown): Problem {
  const [, version] =
    /^[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.exec(text(value)) ?? []
  const found = version === undefined ? '' : ` This one is of version ${Number.parseInt(version, 16)}.`
  return {
    path: 'businessTransactionId',
    message: `businessTransactionId must be a UUID of version 1 to 5.${found}`,
    failure: failures.invalidBusinessTransactionId({ transaction: true }),
  }
}

/** The contract answers it with a bare 500; the log line and the sandbox name the missing member. */
function missingObject(name: string, value: unknown): Problem {
  const message =
    value === undefined || value === null ? `${name} is required.` : `${name} must be an object.`
  return { path: name, message, failure: failures.missingObject(name) }
}

/** The chain of ids (interface §2.1 rule 3); rebuilt, they are in lower case. */
function* brokenChain(body: Fields): Generator<Problem> {
  if (at(body, 'metadata.businessTransactionId') !== body['businessTransactionId'])
    yield invalid(
      'metadata.businessTransactionId',
      'metadata.businessTransactionId must match businessTransactionId.',
    )
  if (at(body, 'authorization.authorityId') !== at(body, 'authority.authorityId'))
    yield invalid('authorization.authorityId', 'authorization.authorityId must match authority.authorityId.')
  if (at(body, 'intent.authorizationId') !== at(body, 'authorization.authorizationId'))
    yield invalid(
      'intent.authorizationId',
      'intent.authorizationId must match authorization.authorizationId.',
    )
}

const NAMES = ['policy.name', 'policy.version', 'intent.action', 'intent.target']

function* missingNames(body: Fields): Generator<Problem> {
  for (const path of NAMES) if (isMissing(at(body, path))) yield invalid(path, `${path} is required.`)
}

/** Yields each field of the wrong type or format, in the schema's order, of a body that fails the compiled check. */
function* wrongFields(body: Fields): Generator<Problem> {
  let found = false
  for (const [path, schema] of fields) {
    const value = at(body, path)
    // Only whether it is an object: its members, maybe thousands, are checked once, below.
    if (path === 'signals' ? isObject(value) : fits(schema, value)) continue
    found = true
    const reported = path === 'businessTransactionId' || (NAMES.includes(path) && isMissing(value))
    if (!reported) yield invalid(path, `${path} must be ${schema.description}.`)
  }
  const { signals } = body
  for (const [name, value] of isObject(signals) ? Object.entries(signals) : []) {
    if (typeof value === 'boolean' || typeof value === 'number') continue
    found = true
    yield invalid(`signals.${name}`, `signals.${name} must be a boolean or a number.`)
  }
  // The compiled check has the last word: a body that it refuses is refused, even where nothing above says why.
  if (!found) yield invalid('signals', 'signals.* must be a boolean or a number.')
}

type Described = Type.TSchema & { description?: string }

/** Every leaf of the schema with its path; `signals` only as the object that it is, its members are looked at one by one. */
const fields = Object.entries(BusinessTransactionInput.properties).flatMap(([name, schema]) => {
  if (name === 'signals')
    return [[name, Type.Record(Type.String(), Type.Unknown(), { description: 'an object' })]]
  if (!('properties' in schema)) return [[name, schema]]
  return Object.entries(schema.properties).map(([field, leaf]) => [`${name}.${field}`, leaf])
}) as [path: string, schema: Described][]

function fits(schema: Type.TSchema, value: unknown): boolean {
  return (value === undefined && Type.IsOptional(schema)) || Value.Check(schema, value)
}

/** A number beyond 2^53 may have been another number before it was parsed. */
function* unsafeNumbers(body: Fields): Generator<Problem> {
  const parameters = at(body, 'intent.parameters')
  for (const [path, value] of [
    ['intent.parameters', parameters] as const,
    ['signals', body['signals']] as const,
  ]) {
    // This check makes no paths, because most bodies have none to report.
    if (!isObject(value) || !holdsUnsafeInteger(value)) continue
    for (const place of unsafeIntegers(value, path)) yield invalid(place, `${place} must be a safe integer.`)
  }
}

function* unsafeIntegers(value: unknown, path: string): Generator<string> {
  if (typeof value === 'number' && holdsUnsafeInteger(value)) yield path
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value))
    yield* unsafeIntegers(member, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`)
}

function* outsideScope(body: Fields, { scope }: ScopedCaller): Generator<Problem> {
  if (scope === 'unchecked') return
  const principalId = at(body, 'authority.principalId')
  const capability = at(body, 'intent.action')
  const known = { principalId: text(principalId), capability: text(capability) }
  if (!isMissing(principalId) && !scope.principalIds.has(known.principalId))
    yield problem('authority.principalId', failures.principalOutsideScope(known))
  if (!isMissing(capability) && scope.capabilities !== 'all' && !scope.capabilities.has(known.capability))
    yield problem('intent.action', failures.capabilityOutsideScope(known))
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** `path` names a member, or a member of a nested object. */
function at(body: Fields, path: string): unknown {
  const dot = path.indexOf('.')
  if (dot === -1) return body[path]
  const nested = body[path.slice(0, dot)]
  return isObject(nested) ? nested[path.slice(dot + 1)] : undefined
}
