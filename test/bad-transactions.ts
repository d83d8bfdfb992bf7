// Every field of interface §2.1 left out, blank and of every wrong type, each with the one answer that decisions §3 gives it.
import { aTransaction } from './transactions.ts'

/** A field must be this, in the words of the reply. */
const UUID = 'a UUID, version 1 to 5'
const TIMESTAMP = 'an RFC 3339 timestamp'
const STRING = 'a string'
const NON_EMPTY = 'a non-empty string'
const OBJECT = 'an object'

/** Optional fields may be left out, and those that are text may be blank, which counts as left out. */
const OPTIONAL = 'optional'

export const fields: Readonly<Record<string, readonly [must: string, optional?: typeof OPTIONAL]>> = {
  businessTransactionId: [UUID],
  'metadata.businessTransactionId': [UUID],
  'metadata.correlationId': [UUID, OPTIONAL],
  'metadata.sourceSystem': [STRING, OPTIONAL],
  'metadata.submittedBy': [STRING, OPTIONAL],
  'metadata.submittedAt': [TIMESTAMP, OPTIONAL],
  'authority.authorityId': [UUID],
  'authority.authorityType': ['one of USER, ROLE, SERVICE, ORGANIZATION'],
  'authority.principalId': [NON_EMPTY],
  'authority.displayName': [STRING, OPTIONAL],
  'authority.issuedAt': [TIMESTAMP],
  'authorization.authorizationId': [UUID],
  'authorization.authorityId': [UUID],
  'authorization.purpose': [STRING, OPTIONAL],
  'authorization.issuedAt': [TIMESTAMP],
  'intent.intentId': [UUID],
  'intent.authorizationId': [UUID],
  'intent.action': [NON_EMPTY],
  'intent.target': [NON_EMPTY],
  'intent.parameters': [OBJECT, OPTIONAL],
  'intent.createdAt': [TIMESTAMP],
  'policy.name': [NON_EMPTY],
  'policy.version': [NON_EMPTY],
  'policy.schemaVersion': [STRING, OPTIONAL],
  signals: [OBJECT, OPTIONAL],
}

export const nestedObjects = ['metadata', 'authority', 'authorization', 'intent', 'policy'] as const

export interface BadTransaction {
  readonly title: string
  readonly body: unknown
  readonly status: 400 | 500
  readonly error: string
}

const anyValues: readonly unknown[] = [null, 5, true, 'text', ' ', [], {}]

const bad = (title: string, body: unknown, status: 400 | 500, error: string) => ({
  title,
  body,
  status,
  error,
})

/** One transaction for each field and each value that is wrong there. */
export function badTransactions(): BadTransaction[] {
  const ofFields = Object.entries(fields).flatMap(([path, [must, optional]]) => [
    ...(optional ? [] : [bad(`${path} left out`, changed(path, undefined), 400, answerTo(path, undefined))]),
    ...anyValues
      .filter((value) => !fits(value, must) && !(isBlank(value) && optional && must !== OBJECT))
      .map((value) =>
        bad(`${path} is ${JSON.stringify(value)}`, changed(path, value), 400, answerTo(path, value)),
      ),
  ])
  // A pattern's dot matches no line break.
  const ofSignals = ['sly', 'x\ny', 'x\u2028y'].flatMap((name) =>
    [null, 'text', [], {}, { deep: [] }].map((value) =>
      bad(
        `signal ${JSON.stringify(name)} is ${JSON.stringify(value)}`,
        changed('signals', { amount: 42, [name]: value }),
        400,
        `signals.${name} must be a boolean or a number.`,
      ),
    ),
  )
  const ofObjects = nestedObjects.flatMap((name) =>
    [undefined, ...anyValues.filter((value) => !fits(value, OBJECT))].map((value) =>
      bad(`${name} is ${JSON.stringify(value)}`, changed(name, value), 500, 'Internal Server Error'),
    ),
  )
  return [...ofFields, ...ofSignals, ...ofObjects]
}

/** A good transaction but for one field; `undefined` leaves it out. */
export function changed(path: string, value: unknown): unknown {
  const [first = '', second] = path.split('.')
  const transaction: Record<string, unknown> = aTransaction()
  if (second === undefined) return { ...transaction, [first]: value }
  return { ...transaction, [first]: { ...(transaction[first] as object), [second]: value } }
}

/** The first rule of decisions §3 that the field breaks. */
function answerTo(path: string, value: unknown): string {
  switch (path) {
    case 'businessTransactionId':
      return 'businessTransactionId must be a valid UUID.'
    case 'metadata.businessTransactionId':
      return 'metadata.businessTransactionId must match businessTransactionId.'
    case 'authority.authorityId':
    case 'authorization.authorityId':
      return 'authorization.authorityId must match authority.authorityId.'
    case 'authorization.authorizationId':
    case 'intent.authorizationId':
      return 'intent.authorizationId must match authorization.authorizationId.'
    case 'policy.name':
    case 'policy.version':
    case 'intent.action':
    case 'intent.target':
      if (value === undefined || value === null || isBlank(value)) return `${path} is required.`
  }
  return `${path} must be ${fields[path]?.[0]}.`
}

function fits(value: unknown, must: string): boolean {
  if (must === STRING) return typeof value === 'string'
  if (must === NON_EMPTY) return typeof value === 'string' && !isBlank(value)
  return must === OBJECT && typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === ''
}
