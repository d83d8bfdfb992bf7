// First stage of the pipeline: raw bytes to a transaction that is whole, consistent and in the caller's scope (decisions §3).
import { Type } from 'typebox'
import { isBlank, parseBody } from '../../../src/core/json/body.ts'
import { isObject, type Fields } from '../../../src/formats/json/fields.ts'
import { Canonical, canonicalize, type Json } from '../../../src/formats/json/canonical.ts'
import { Failure } from '../../../src/core/errors/errors.ts'
import {
  Authority,
  Authorization,
  Intent,
  Metadata,
  NESTED_OBJECTS,
  PolicyReference,
  type BusinessTransactionInput,
} from '../../../src/formats/schemas/business-transaction.ts'
import { isUuid } from '../../../src/formats/schemas/primitives.ts'
import { problemsOf } from './problems.ts'
import type { WorkerRequest, InFlight } from '../../in-flight.ts'

/** A transaction that will be stored as RECEIVED, with the canonical text of itself and of the parts that are signed again. */
export interface Accepted extends InFlight {
  readonly transaction: BusinessTransactionInput
  /** ISO 8601; `createdAt` of the stored transaction. */
  readonly createdAt: string
  readonly canonical: {
    /** The transaction as it will be stored, with `createdAt` and `status`. */
    readonly stored: Canonical
    readonly intent: Canonical
    readonly parameters: Canonical
    readonly policy: Canonical
    readonly signals: Canonical
  }
}

/** Checks one request in the order of decisions §3. Pure, except that it names the transaction in the request, for the log. */
export function validate({ request }: InFlight, now: string): Accepted | Failure {
  const body = parseBody(request.body)
  if (body instanceof Failure) return body
  const rebuilt = rebuild(body)
  const [first] = problemsOf(body, rebuilt, request.caller)
  const { businessTransactionId: id } = rebuilt
  if (first === undefined || isUuid(id)) request.businessTransactionId = id as string
  if (first !== undefined) return first.failure
  return accept(
    request,
    attributed(rebuilt as unknown as BusinessTransactionInput, request.caller.callerId),
    now,
  )
}

/** Ids are compared, stored and signed in lower case (decisions §3). */
const IDS: ReadonlySet<string> = new Set([
  'businessTransactionId',
  'correlationId',
  'authorityId',
  'authorizationId',
  'intentId',
])

/**
 * Rebuilds a body field by field, so that an unknown field is never signed (interface §2.1 rule 1), with ids in lower case.
 * @param body of any shape: where a nested object is missing, the rebuilt one is empty
 */
export function rebuild(body: unknown): Fields {
  const given = isObject(body) ? body : {}
  const rebuilt: Fields = { businessTransactionId: lower(given['businessTransactionId']) }
  for (const name of NESTED_OBJECTS) {
    const source = given[name]
    rebuilt[name] = isObject(source) ? pick(source, FIELDS[name]) : {}
  }
  const intent = rebuilt['intent'] as Fields
  if (intent['parameters'] === undefined) intent['parameters'] = {}
  rebuilt['signals'] = Object.hasOwn(given, 'signals') ? given['signals'] : {}
  return rebuilt
}

interface Field {
  readonly name: string
  readonly required: boolean
  readonly isId: boolean
}

/** The fields of each nested object, in canonical order: a picked object needs no sorting when it is canonicalized. */
const FIELDS = {
  metadata: fieldsOf(Metadata),
  authority: fieldsOf(Authority),
  authorization: fieldsOf(Authorization),
  intent: fieldsOf(Intent),
  policy: fieldsOf(PolicyReference),
} satisfies Record<(typeof NESTED_OBJECTS)[number], readonly Field[]>

function fieldsOf({ properties }: Type.TObject): readonly Field[] {
  return Object.entries(properties)
    .map(([name, schema]) => ({ name, required: !Type.IsOptional(schema), isId: IDS.has(name) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** The known fields of one nested object. An optional one that is blank counts as missing. */
function pick(source: Fields, fields: readonly Field[]): Fields {
  const picked: Fields = {}
  for (const { name, required, isId } of fields) {
    const value = Object.hasOwn(source, name) ? source[name] : undefined
    const absent = value === undefined || (!required && isBlank(value))
    if (!absent) picked[name] = isId ? lower(value) : value
  }
  return picked
}

function lower(value: unknown): unknown {
  return typeof value === 'string' ? value.toLowerCase() : value
}

/** `submittedBy` is the authenticated caller, whatever the body claims. */
export function attributed(
  transaction: BusinessTransactionInput,
  callerId: string,
): BusinessTransactionInput {
  return { ...transaction, metadata: { ...transaction.metadata, submittedBy: callerId } }
}

/** Each part is canonicalized once here and spliced wherever it is hashed, signed, stored or sent again. */
function accept(request: WorkerRequest, transaction: BusinessTransactionInput, createdAt: string): Accepted {
  const parameters = part(transaction.intent.parameters)
  const intent = part({ ...transaction.intent, parameters })
  const policy = part(transaction.policy)
  const signals = part(transaction.signals)
  const { businessTransactionId, metadata, authority, authorization } = transaction
  const stored = part({
    authority,
    authorization,
    businessTransactionId,
    createdAt,
    intent,
    metadata,
    policy,
    signals,
    status: 'RECEIVED',
  })
  return {
    request,
    transaction,
    createdAt,
    canonical: { stored, intent, parameters, policy, signals },
  }
}

function part(value: unknown): Canonical {
  return new Canonical(canonicalize(value as Json))
}
