import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { Failure } from '../src/core/errors/errors.ts'
import { BusinessTransactionInput } from '../src/formats/schemas/business-transaction.ts'
import type { ScopedCaller } from '../workers/in-flight.ts'
import { validate, type Accepted } from '../workers/execute/validate/validate.ts'
import { badTransactions, changed, fields } from './bad-transactions.ts'
import { aTransaction } from './transactions.ts'

const now = '2026-11-21T10:00:00.000Z'
const tester: ScopedCaller = {
  callerId: 'tester',
  reads: 'tester',
  scope: { principalIds: new Set(['tester']), capabilities: new Set(['sandbox:echo']) },
}

function validated(body: unknown, caller = tester): Accepted | Failure {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return validate(
    { request: { ticket: 0, takenMs: 0, caller, body: Buffer.from(text), params: {}, costMs: 0 } },
    now,
  )
}

/** The transaction as it will be stored and signed. Throws when it is refused. */
function stored(body: unknown, caller?: ScopedCaller) {
  const outcome = validated(body, caller)
  if (outcome instanceof Failure) throw new Error(outcome.message)
  return JSON.parse(outcome.canonical.stored.text) as ReturnType<typeof aTransaction>
}

/** Status and message of a refusal; undefined where the body is accepted. */
function refusal(body: unknown, caller?: ScopedCaller): string | undefined {
  const outcome = validated(body, caller)
  return outcome instanceof Failure ? `${outcome.status} ${outcome.message}` : undefined
}

// proves §4.2 POST /execute: Request: BusinessTransaction
test('the fields that are tried here are those of the schema', () => {
  const ofSchema = Object.entries(BusinessTransactionInput.properties).flatMap(([name, schema]) =>
    'properties' in schema ? Object.keys(schema.properties).map((field) => `${name}.${field}`) : [name],
  )
  expect(Object.keys(fields)).toEqual(ofSchema)
})

test.each(badTransactions())('$title: $status $error', ({ body, status, error }) => {
  expect(refusal(body)).toBe(`${status} ${error}`)
})

describe('a field that may be left out', () => {
  test.each(Object.keys(fields).filter((path) => fields[path]?.[1]))('%s', (path) => {
    expect(refusal(changed(path, undefined))).toBeUndefined()
  })

  test('is not stored when it is blank', () => {
    const transaction = stored(changed('metadata.sourceSystem', ' \t'))
    expect(Object.keys(transaction.metadata)).not.toContain('sourceSystem')
  })

  test('is an empty object where it is a map', () => {
    const { intent, signals } = stored({
      ...aTransaction({ intent: { parameters: undefined } }),
      signals: undefined,
    })
    expect([intent.parameters, signals]).toEqual([{}, {}])
  })
})

describe('the first problem in the order of decisions §3 is the one that is told', () => {
  const other = randomUUID()
  const steps: [change: (body: ReturnType<typeof aTransaction>) => object, refusal: string][] = [
    [
      (body) => ({ ...body, authority: { ...body.authority, principalId: 'x' } }),
      '403 Caller is not permitted to assert this authority.principalId.',
    ],
    [
      (body) => ({ ...body, authority: { ...body.authority, issuedAt: 'x' } }),
      '400 authority.issuedAt must be an RFC 3339 timestamp.',
    ],
    [
      (body) => ({ ...body, metadata: { ...body.metadata, correlationId: 'x' } }),
      '400 metadata.correlationId must be a UUID, version 1 to 5.',
    ],
    [(body) => ({ ...body, intent: { ...body.intent, target: '' } }), '400 intent.target is required.'],
    [(body) => ({ ...body, intent: { ...body.intent, action: '' } }), '400 intent.action is required.'],
    [(body) => ({ ...body, policy: { ...body.policy, version: '' } }), '400 policy.version is required.'],
    [(body) => ({ ...body, policy: { ...body.policy, name: '' } }), '400 policy.name is required.'],
    [
      (body) => ({ ...body, intent: { ...body.intent, authorizationId: other } }),
      '400 intent.authorizationId must match authorization.authorizationId.',
    ],
    [
      (body) => ({ ...body, authorization: { ...body.authorization, authorityId: other } }),
      '400 authorization.authorityId must match authority.authorityId.',
    ],
    [
      (body) => ({ ...body, metadata: { ...body.metadata, businessTransactionId: other } }),
      '400 metadata.businessTransactionId must match businessTransactionId.',
    ],
    [(body) => ({ ...body, policy: 'x' }), '500 Internal Server Error'],
    [(body) => ({ ...body, businessTransactionId: 'x' }), '400 businessTransactionId must be a valid UUID.'],
  ]
  // proves §4.2 POST /execute: Order of checks
  test.each(steps.map(([, message], i) => [message, i] as const))('%s', (message, i) => {
    // With this problem the body has all those that come after it too.
    const body = steps.slice(0, i + 1).reduce((made, [change]) => change(made) as typeof made, aTransaction())
    expect(refusal(body)).toBe(message)
  })

  test('the capability comes after the principal', () => {
    const body = aTransaction({ intent: { action: 'vendor:pay' } })
    expect(refusal(body)).toBe('403 Caller is not permitted to invoke this capability.')
    expect(refusal({ ...body, authority: { ...body.authority, principalId: 'x' } })).toMatch(/principalId/)
  })

  test('a duplicate key is told before anything in it', () => {
    expect(refusal('{"businessTransactionId":"x","businessTransactionId":"x"}')).toBe(
      '400 Malformed JSON body.',
    )
  })
})

describe('businessTransactionId', () => {
  const versions = [1, 2, 3, 4, 5].map((version) => `11111111-1111-${version}111-8111-111111111111`)
  test.each([...versions, '11111111-1111-4111-b111-11111111111F'])('%s is taken', (id) => {
    expect(refusal(aTransaction({ businessTransactionId: id }))).toBeUndefined()
  })

  test.each([
    ['version 6', '11111111-1111-6111-8111-111111111111'],
    ['version 7', '01932b5e-7e6c-7000-8000-000000000000'],
    ['version 8', '11111111-1111-8111-8111-111111111111'],
    ['nil', '00000000-0000-0000-0000-000000000000'],
    ['max', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
    ['another variant', '11111111-1111-4111-c111-111111111111'],
    ['a space before', ' 11111111-1111-4111-8111-111111111111'],
    ['a line end behind', '11111111-1111-4111-8111-111111111111\n'],
    ['braces', '{11111111-1111-4111-8111-111111111111}'],
    ['a URN', 'urn:uuid:11111111-1111-4111-8111-111111111111'],
    ['no hyphens', '11111111111141118111111111111111'],
    ['digits of another script', '١1111111-1111-4111-8111-111111111111'],
  ])('%s is not', (_title, id) => {
    expect(refusal(aTransaction({ businessTransactionId: id }))).toBe(
      '400 businessTransactionId must be a valid UUID.',
    )
  })

  test.each(['[]', '"text"', '5', 'null', 'true', '{}'])('is missing in %s', (body) => {
    expect(refusal(body)).toBe('400 businessTransactionId must be a valid UUID.')
  })
})

const withTimestamp = (issuedAt: string) => aTransaction({ authority: { issuedAt } })

describe('timestamps are RFC 3339 and of a day that exists', () => {
  test.each([
    '2024-02-29T00:00:00Z',
    '2026-11-21t10:00:00z',
    '2026-11-21T10:00:00.1Z',
    '2026-11-21T10:00:00.123456789012Z',
    '2026-11-21T10:00:00+14:00',
    '2026-11-21T10:00:00-00:00',
    '0001-01-01T00:00:00Z',
    '2016-12-31T23:59:60Z',
    '2016-12-31T15:59:60.5-08:00',
  ])('%s is taken and kept as sent', (issuedAt) => {
    expect(stored(withTimestamp(issuedAt)).authority.issuedAt).toBe(issuedAt)
  })

  test.each([
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-11-21T24:00:00Z',
    '2026-11-21T10:60:00Z',
    '2016-12-31T22:59:60Z',
    '2016-12-31T23:59:60+01:00',
    '2026-11-21T23:59:61Z',
    '2026-11-21T10:00:00',
    '2026-11-21T10:00Z',
    '2026-11-21 10:00:00Z',
    '2026-11-21',
    '2026-11-21T10:00:00.Z',
    '2026-11-21T10:00:00+24:00',
    '2026-11-21T10:00:00+0100',
    '+002026-11-21T10:00:00Z',
    '1763719200',
    '2026-11-21T10:00:00Z\n',
  ])('%s is not', (issuedAt) => {
    expect(refusal(withTimestamp(issuedAt))).toBe('400 authority.issuedAt must be an RFC 3339 timestamp.')
  })
})

const parameters = (json: string) =>
  JSON.stringify(aTransaction({ intent: { parameters: { n: '$' } } })).replace('"$"', json)

describe('numbers', () => {
  test.each(['9007199254740991', '-9007199254740991', '9007199254740991.0', '0.1', '1e-300'])(
    '%s is taken',
    (json) => {
      expect(refusal(parameters(json))).toBeUndefined()
    },
  )

  test.each(['9007199254740992', '9007199254740993', '-9007199254740992', '1e300', '9007199254740993.5'])(
    '%s is not: it may have been another number',
    (json) => {
      expect(refusal(parameters(json))).toBe('400 intent.parameters.n must be a safe integer.')
      expect(refusal(parameters(`[1,{"deep":${json}}]`))).toBe(
        '400 intent.parameters.n[1].deep must be a safe integer.',
      )
      const signals = JSON.stringify(aTransaction({ signals: { amount: '$' } })).replace('"$"', json)
      expect(refusal(signals)).toBe('400 signals.amount must be a safe integer.')
    },
  )

  test('1.0 and 1e0 are stored as 1, and -0 as 0', () => {
    expect(stored(parameters('[1.0,1e0,-0,-0.0,1e2]')).intent.parameters).toEqual({ n: [1, 1, 0, 0, 100] })
  })
})

describe('the transaction is rebuilt', () => {
  test('without fields that interface §2.1 does not have, at the top and below', () => {
    const body = aTransaction()
    const sly = { ...body, sly: 1, policy: { ...body.policy, sly: 1 }, intent: { ...body.intent, sly: 1 } }
    expect(JSON.stringify(stored(sly))).not.toContain('sly')
  })

  test.each([['text'], [5], [null], [{}], [[1]]])(
    'without the status and createdAt %j of the client',
    (value) => {
      const transaction = stored({ ...aTransaction(), status: value, createdAt: value })
      expect(transaction).toMatchObject({ status: 'RECEIVED', createdAt: now })
    },
  )

  test('with every id in lower case', () => {
    const body = aTransaction()
    const upper = JSON.stringify(body).replaceAll(/"[0-9a-f-]{36}"/g, (id) => id.toUpperCase())
    expect(stored(upper)).toMatchObject({ ...body, metadata: { ...body.metadata, submittedBy: 'tester' } })
  })

  test('with ids of one chain compared in any letter case', () => {
    const body = aTransaction()
    const authorityId = body.authority.authorityId.toUpperCase()
    expect(refusal({ ...body, authority: { ...body.authority, authorityId } })).toBeUndefined()
  })

  test('with the caller as submittedBy, whoever the body names', () => {
    expect(stored(aTransaction({ metadata: { submittedBy: 'root' } })).metadata.submittedBy).toBe('tester')
  })

  test('with parameters and signals of any name, those included that objects are born with', () => {
    const signals = { constructor: 1, '': 0, 'a.b': 1, 'a\nb': true, 'a\u2028b': 0.5 }
    const named = { ...signals, toString: null, hasOwnProperty: [], valueOf: {}, '\0': '\0' }
    const transaction = stored({ ...aTransaction({ intent: { parameters: named } }), signals })
    expect(transaction.intent.parameters).toEqual(named)
    expect(transaction.signals).toEqual(signals)
  })

  test('with names of nested objects taken from the body only', () => {
    expect(refusal('{"businessTransactionId":"11111111-1111-4111-8111-111111111111","toString":{}}')).toBe(
      '500 Internal Server Error',
    )
  })
})

describe('scope', () => {
  test('`all` invokes every capability', () => {
    const scope = { principalIds: new Set(['tester']), capabilities: 'all' } as const
    expect(
      refusal(aTransaction({ intent: { action: 'x:y' } }), { callerId: 'c', reads: 'c', scope }),
    ).toBeUndefined()
  })

  test('is compared exactly', () => {
    for (const principalId of ['Tester', 'tester ', 'tester\0', '*', 'constructor'])
      expect(refusal(aTransaction({ authority: { principalId } }))).toMatch(/^403 .*principalId/)
    for (const action of ['sandbox:ECHO', 'sandbox:', 'sandbox:echo ', '*', 'toString'])
      expect(refusal(aTransaction({ intent: { action } }))).toMatch(/^403 .*capability/)
  })

  test('is not checked where authentication is disabled', () => {
    const anonymous: ScopedCaller = { callerId: 'anonymous', reads: null, scope: 'unchecked' }
    const body = aTransaction({ authority: { principalId: 'x' }, intent: { action: 'x:y' } })
    expect(stored(body, anonymous).metadata.submittedBy).toBe('anonymous')
  })
})
