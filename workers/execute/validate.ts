// First step of the road: raw bytes to a transaction that is whole, consistent and in the caller's scope (decisions §3).
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Value } from 'typebox/value'
import { Canonical, canonicalize, type Json } from '../../src/canonical.ts'
import { Failure, failures } from '../../src/errors.ts'
import { isObject, parseBody, type Fields } from '../../src/body.ts'
import { BusinessTransactionInput, NESTED_OBJECTS } from '../../src/schemas/business-transaction.ts'
import { isUuid } from '../../src/schemas/primitives.ts'
import type { Request, Travelling } from './road.ts'

/** A transaction that will be stored as RECEIVED, with the canonical text of itself and of the parts that are signed again. */
export interface Accepted extends Travelling {
  readonly transaction: BusinessTransactionInput
  /** ISO 8601; `createdAt` of the stored transaction. */
  readonly createdAt: string
  readonly canonical: {
    readonly transaction: Canonical
    readonly intent: Canonical
    readonly parameters: Canonical
    readonly policy: Canonical
    readonly signals: Canonical
  }
}

const validTransaction = Compile(BusinessTransactionInput)

/** Checks one request in the order of decisions §3. Pure. */
export function validate({ request }: Travelling, now: string): Accepted | Failure {
  const body = parseBody(request.body)
  if (body instanceof Failure) return body
  if (!isObject(body) || !isUuid(body['businessTransactionId']))
    return failures.invalidBusinessTransactionId()

  const missing = NESTED_OBJECTS.find((name) => !isObject(body[name]))
  if (missing !== undefined) return failures.internal(`missing nested object: ${missing}`)

  const rebuilt = rebuild(body)
  const problem = inconsistency(rebuilt) ?? missingName(rebuilt) ?? wrongField(rebuilt)
  if (problem !== undefined) return failures.invalidTransaction(problem)

  const transaction = lowerCaseIds(rebuilt as unknown as BusinessTransactionInput, request.caller.callerId)
  return scopeFailure(request, transaction) ?? accept(request, transaction, now)
}

/** Field by field, so that an unknown one cannot ride along into what is signed (interface §2.1 rule 1). */
function rebuild(body: Fields): Fields {
  const rebuilt: Fields = { businessTransactionId: body['businessTransactionId'] }
  for (const name of NESTED_OBJECTS)
    rebuilt[name] = pick(body[name] as Fields, BusinessTransactionInput.properties[name])
  const intent = rebuilt['intent'] as Fields
  if (intent['parameters'] === undefined) intent['parameters'] = {}
  rebuilt['signals'] = Object.hasOwn(body, 'signals') ? body['signals'] : {}
  return rebuilt
}

/** The known fields of one nested object. An optional one that is blank counts as missing. */
function pick(source: Fields, schema: Type.TObject): Fields {
  const picked: Fields = {}
  for (const name of Object.keys(schema.properties)) {
    const value = Object.hasOwn(source, name) ? source[name] : undefined
    const absent = value === undefined || (isBlank(value) && !schema.required?.includes(name))
    if (!absent) picked[name] = value
  }
  return picked
}

function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === ''
}

/** The chain of ids, compared in lower case (interface §2.1 rule 3). */
function inconsistency(body: Fields): string | undefined {
  const id = (path: string) => lower(at(body, path))
  if (id('metadata.businessTransactionId') !== id('businessTransactionId'))
    return 'metadata.businessTransactionId must match businessTransactionId.'
  if (id('authorization.authorityId') !== id('authority.authorityId'))
    return 'authorization.authorityId must match authority.authorityId.'
  if (id('intent.authorizationId') !== id('authorization.authorizationId'))
    return 'intent.authorizationId must match authorization.authorizationId.'
  return undefined
}

function missingName(body: Fields): string | undefined {
  const path = ['policy.name', 'policy.version', 'intent.action', 'intent.target'].find((candidate) => {
    const value = at(body, candidate)
    return value === undefined || value === null || isBlank(value)
  })
  return path === undefined ? undefined : `${path} is required.`
}

/** The first field of the wrong type or format, in the schema's order. The compiled check alone runs for a good body. */
function wrongField(body: Fields): string | undefined {
  if (!validTransaction.Check(body)) {
    const field = fields().find(([path, schema]) => !fits(schema, at(body, path)))
    if (field !== undefined) return `${field[0]} must be ${field[1].description}.`
    const signal = Object.entries(body['signals'] as Fields).find(
      ([, value]) => !['boolean', 'number'].includes(typeof value),
    )
    return `signals.${signal?.[0] ?? '*'} must be a boolean or a number.`
  }
  const { intent, signals } = body as { intent: Fields; signals: Fields }
  const path = unsafeInteger({ intent: { parameters: intent['parameters'] }, signals })
  return path === undefined ? undefined : `${path.slice(1)} must be a safe integer.`
}

/** Every leaf of the schema with its path; `signals` only as the object that it is, its members are looked at one by one. */
function fields(): [path: string, schema: Type.TSchema & { description?: string }][] {
  return Object.entries(BusinessTransactionInput.properties).flatMap(([name, schema]) => {
    if (name === 'signals')
      return [[name, Type.Record(Type.String(), Type.Unknown(), { description: 'an object' })]]
    if (!('properties' in schema)) return [[name, schema]]
    return Object.entries(schema.properties).map(([field, leaf]) => [`${name}.${field}`, leaf])
  }) as [string, Type.TSchema][]
}

function fits(schema: Type.TSchema, value: unknown): boolean {
  return (value === undefined && Type.IsOptional(schema)) || Value.Check(schema, value)
}

/**
 * Where below a value a number beyond 2^53 stands, from the inside out: no path is made for the numbers that are fine. It may have
 * been another number before it was parsed.
 */
function unsafeInteger(value: unknown): string | undefined {
  if (typeof value === 'number')
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? '' : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, member] of Object.entries(value)) {
    const found = unsafeInteger(member)
    if (found !== undefined) return (Array.isArray(value) ? `[${key}]` : `.${key}`) + found
  }
  return undefined
}

/** Ids are stored and signed in lower case; `submittedBy` is who authenticated, whatever the body claims. */
function lowerCaseIds(body: BusinessTransactionInput, callerId: string): BusinessTransactionInput {
  const { metadata, authority, authorization, intent } = body
  return {
    ...body,
    businessTransactionId: body.businessTransactionId.toLowerCase(),
    metadata: {
      ...metadata,
      businessTransactionId: metadata.businessTransactionId.toLowerCase(),
      ...(metadata.correlationId === undefined
        ? {}
        : { correlationId: metadata.correlationId.toLowerCase() }),
      submittedBy: callerId,
    },
    authority: { ...authority, authorityId: authority.authorityId.toLowerCase() },
    authorization: {
      ...authorization,
      authorizationId: authorization.authorizationId.toLowerCase(),
      authorityId: authorization.authorityId.toLowerCase(),
    },
    intent: {
      ...intent,
      intentId: intent.intentId.toLowerCase(),
      authorizationId: intent.authorizationId.toLowerCase(),
    },
  }
}

function scopeFailure({ caller }: Request, transaction: BusinessTransactionInput): Failure | undefined {
  if (caller.scope === 'unchecked') return undefined
  const { principalId } = transaction.authority
  const capability = transaction.intent.action
  if (!caller.scope.principalIds.has(principalId))
    return failures.principalOutsideScope({ principalId, capability })
  if (caller.scope.capabilities !== 'all' && !caller.scope.capabilities.has(capability))
    return failures.capabilityOutsideScope({ principalId, capability })
  return undefined
}

/** Each part is canonicalized once here and spliced wherever it is hashed, signed, stored or sent again. */
function accept(request: Request, transaction: BusinessTransactionInput, createdAt: string): Accepted {
  const parameters = part(transaction.intent.parameters)
  const intent = part({ ...transaction.intent, parameters })
  const policy = part(transaction.policy)
  const signals = part(transaction.signals)
  const stored = part({ ...transaction, intent, policy, signals, status: 'RECEIVED', createdAt })
  return {
    request,
    transaction,
    createdAt,
    canonical: { transaction: stored, intent, parameters, policy, signals },
  }
}

function part(value: unknown): Canonical {
  return new Canonical(canonicalize(value as Json))
}

function at(body: Fields, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), body)
}

function lower(value: unknown): unknown {
  return typeof value === 'string' ? value.toLowerCase() : value
}
