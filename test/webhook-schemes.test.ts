// How providers sign (decisions §12): the vectors of GitHub, of Standard Webhooks and of Stripe's library; what is not signed so is refused.
import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { missingHeaderText } from '../src/core/webhooks/providers.ts'
import {
  schemeNames,
  schemes,
  type ReadDelivery,
  type SchemeName,
} from '../src/core/webhooks/schemes/index.ts'
import { storedHeaders } from '../src/core/webhooks/stored-headers.ts'

const FOLDER = join(import.meta.dirname, 'vectors', 'webhooks')

interface Vector {
  readonly secret: string
  readonly payload: string
  readonly header: string
  /** The id as in Standard Webhooks. */
  readonly id?: string
  /** Unix time in seconds, where it is signed. */
  readonly timestamp?: number
}

const vectorsOf = (scheme: string) =>
  JSON.parse(readFileSync(join(FOLDER, `${scheme}.json`), 'utf8')) as Vector[]

const files = readdirSync(FOLDER).map((name) => name.replace('.json', ''))
const vectors = files.flatMap((scheme) =>
  vectorsOf(scheme).map((vector, i) => ({ name: `${scheme} ${i}`, scheme: scheme as SchemeName, vector })),
)

/** The vector as it is delivered, with parts of it changed. */
function read(
  scheme: SchemeName,
  vector: Vector,
  changed: { secrets?: string[]; seconds?: number; id?: string; timestamp?: string } = {},
): ReadDelivery {
  const { seconds = vector.timestamp ?? 0 } = changed
  return schemes[scheme].read({
    provider: 'acme',
    signature: vector.header,
    headers: {
      'x-github-delivery': 'delivery-1',
      'x-acme-event-id': 'evt_1',
      'webhook-id': changed.id ?? vector.id ?? '',
      'webhook-timestamp': changed.timestamp ?? String(vector.timestamp),
    },
    body: Buffer.from(vector.payload),
    secrets: changed.secrets ?? [vector.secret],
    nowMs: seconds * 1000,
  })
}

/** Their ids, in the order of the vectors. */
const ids: Readonly<Record<string, readonly string[]>> = {
  github: ['delivery-1'],
  'standard-webhooks': Array<string>(4).fill('msg_p5jXN8AQM9LWM0D4loKWxJek'),
  // The last payload is no JSON.
  stripe: ['evt_1NG8Du2eZvKYlo2CUI79vXWy', 'evt_2', ''],
}

test('there are vectors of every scheme that others specify', () => {
  expect(files.toSorted()).toEqual(schemeNames.filter((name) => name !== 'contract').toSorted())
  for (const file of files) expect(vectorsOf(file)).toHaveLength(ids[file]?.length ?? -1)
})

describe.each(vectors)('vector $name', ({ scheme, vector }) => {
  const index = vectorsOf(scheme).findIndex(
    ({ header, payload }) => header === vector.header && payload === vector.payload,
  )
  const another =
    scheme === 'standard-webhooks' ? 'whsec_c29tZSBvdGhlciBrZXkgb2YgdGhpcnR5IGJ5dGVz' : 'another'

  test('is read, also by the second of two secrets', () => {
    expect(schemes[scheme].looksSigned(vector.header)).toBe(true)
    expect(schemes[scheme].secretMustBe(vector.secret)).toBeUndefined()
    for (const secrets of [[vector.secret], [another, vector.secret]])
      expect(read(scheme, vector, { secrets })).toEqual({ eventId: ids[scheme]?.[index] })
  })

  test('is refused with one bit of the body turned, one byte more, another secret, and none', () => {
    const turned = Buffer.from(vector.payload)
    turned[0]! ^= 1
    const unsigned = { unsigned: 'no configured secret makes the signature' }
    expect(read(scheme, { ...vector, payload: turned.toString() })).toEqual(unsigned)
    expect(read(scheme, { ...vector, payload: `${vector.payload} ` })).toEqual(unsigned)
    expect(read(scheme, vector, { secrets: [another] })).toEqual(unsigned)
    expect(read(scheme, vector, { secrets: [] })).toEqual(unsigned)
  })
})

describe.each(['stripe', 'standard-webhooks'] as const)('the time of %s', (scheme) => {
  const [vector] = vectorsOf(scheme) as [Vector]
  const { timestamp = 0 } = vector
  test.each([
    [300, 'eventId'],
    [-300, 'eventId'],
    [301, 'unsigned'],
    [-301, 'unsigned'],
  ])('%i seconds ago: %s', (age, member) => {
    expect(Object.keys(read(scheme, vector, { seconds: timestamp + age }))).toEqual([member])
  })

  test('says how late it is', () => {
    expect(read(scheme, vector, { seconds: timestamp + 500 })).toEqual({
      unsigned: expect.stringMatching(/ is 500 s old, and 300 s are allowed$/),
    })
    expect(read(scheme, vector, { seconds: timestamp - 500 })).toEqual({
      unsigned: expect.stringMatching(/ is 500 s ahead of this clock, and 300 s are allowed$/),
    })
  })
})

describe('stripe', () => {
  const [vector] = vectorsOf('stripe') as [Vector]
  const v1 = vector.header.split('v1=')[1] ?? ''
  const t = vector.timestamp
  const late = vector.timestamp ?? 0

  test.each([
    ['a wrong v1 beside it', `t=${t},v1=${'0'.repeat(64)},v1=${v1}`],
    ['a v0 of test mode', `t=${t},v1=${v1},v0=${'0'.repeat(64)}`],
    ['the time behind it', `v1=${v1},t=${t}`],
  ])('takes %s', (_what, header) => {
    expect(schemes.stripe.looksSigned(header)).toBe(true)
    expect(read('stripe', { ...vector, header })).toHaveProperty('eventId')
  })

  test.each([
    ['no time', `v1=${v1}`],
    ['two times', `t=${t},t=${t},v1=${v1}`],
    ['another time', `t=${late + 1},v1=${v1}`],
    ['a time that is written in another way', `t=0${t},v1=${v1}`],
    ['only a v0 that would be right', `t=${t},v0=${v1}`],
    ['upper case', `t=${t},v1=${v1.toUpperCase()}`],
    ['a character less', `t=${t},v1=${v1.slice(1)}`],
  ])('refuses %s', (_what, header) => {
    expect(read('stripe', { ...vector, header })).toHaveProperty('unsigned')
  })

  test.each(['', 'abc', `t=${t} v1=${v1}`, `t=${t},v1=${v1},`, `t=1=2,v1=${v1}`, v1])(
    'is not of its form: %s',
    (header) => {
      expect(schemes.stripe.looksSigned(header)).toBe(false)
    },
  )

  test.each([
    '{"id":7}',
    '[]',
    'null',
    '{}',
    '{"id":{"id":"evt_1"}}',
    '{"__proto__":{"id":"evt_1"}}',
    '"evt_1"',
  ])('a signed payload without an id has none: %s', (payload) => {
    const header = `t=1,v1=${createHmac('sha256', 'secret').update(`1.${payload}`).digest('hex')}`
    expect(read('stripe', { payload, header, secret: 'secret', timestamp: 1 })).toEqual({ eventId: '' })
  })
})

const swapped = (vector: Vector, from: string, to: string) => ({
  ...vector,
  header: vector.header.replace(from, to),
})

describe('standard-webhooks', () => {
  const [hmac, , ed25519] = vectorsOf('standard-webhooks') as [Vector, Vector, Vector]

  test('id and time are signed', () => {
    for (const vector of [hmac, ed25519]) {
      expect(read('standard-webhooks', vector, { id: 'msg_2' })).toHaveProperty('unsigned')
      const later = String((vector.timestamp ?? 0) + 1)
      expect(read('standard-webhooks', vector, { timestamp: later })).toHaveProperty('unsigned')
    }
    expect(read('standard-webhooks', hmac, { id: '' })).toEqual({
      unsigned: 'the header webhook-id is missing',
    })
    expect(read('standard-webhooks', hmac, { timestamp: '' })).toEqual({
      unsigned: 'the header webhook-timestamp is missing',
    })
  })

  test('a signature of one version is none of the other', () => {
    expect(read('standard-webhooks', swapped(hmac, 'v1,', 'v1a,'))).toHaveProperty('unsigned')
    expect(read('standard-webhooks', swapped(ed25519, 'v1a,', 'v1,'))).toHaveProperty('unsigned')
  })

  test('a public key makes no HMAC: whoever reads it signs nothing', () => {
    const { id, timestamp, payload, secret } = ed25519
    const bytes = Buffer.from(secret.slice('whpk_'.length), 'base64')
    for (const key of [bytes, secret, secret.slice('whpk_'.length)]) {
      const forged = createHmac('sha256', key).update(`${id}.${timestamp}.${payload}`).digest('base64')
      expect(read('standard-webhooks', { ...ed25519, header: `v1,${forged}` })).toHaveProperty('unsigned')
    }
  })

  test('base64 has one reading', () => {
    const unpadded = hmac.header.replace(/=+$/, '')
    expect(read('standard-webhooks', { ...hmac, header: unpadded })).toHaveProperty('unsigned')
  })

  test('more than eight signatures are not tried, and neither is what has none', () => {
    const nine = Array(9).fill(hmac.header).join(' ')
    expect(schemes['standard-webhooks'].looksSigned(nine)).toBe(false)
    for (const header of ['v1,', 'v1', 'v2,abc=', hmac.header.slice(3)])
      expect(schemes['standard-webhooks'].looksSigned(header)).toBe(false)
  })
})

describe('a missing signature header', () => {
  test.each([
    ['contract', [], 'scheme contract expects the header x-acme-pay-signature'],
    [
      'stripe',
      ['x-acme-pay-signature'],
      'scheme stripe expects the header stripe-signature; the delivery has x-acme-pay-signature, which is that of scheme contract',
    ],
    [
      'contract',
      ['svix-signature'],
      'scheme contract expects the header x-acme-pay-signature; the delivery has svix-signature, which is that of scheme standard-webhooks',
    ],
    [
      'contract',
      ['webhook-signature'],
      'scheme contract expects the header x-acme-pay-signature; the delivery has webhook-signature, which is that of scheme standard-webhooks',
    ],
  ] as const)('of scheme %s, beside %j', (scheme, has: readonly string[], text) => {
    expect(missingHeaderText('acme_pay', scheme, (name) => has.includes(name))).toBe(text)
  })
})

describe('stored headers', () => {
  const signature = 'x-acme-signature'
  const kept = (lines: readonly (readonly [string, string])[], first: readonly string[] = []) =>
    JSON.parse(storedHeaders(lines, { signatures: [signature], first })) as Record<string, string>

  test('are sorted by name, joined where they repeat, and without credentials and signature', () => {
    const text = storedHeaders(
      [
        ['x-b', '2'],
        ['authorization', 'Bearer secret'],
        ['cookie', 'secret'],
        ['proxy-authorization', 'secret'],
        ['x-other-signature', 'secret'],
        ...['x-api-key', 'apikey', 'x-gitlab-token', 'x-auth', 'x-acme-secret', 'x_api_key'].map(
          (name) => [name, 'secret'] as const,
        ),
        [signature, 'secret'],
        ['10', 'ten'],
        ['9', 'nine'],
        ['x-a', '"1"'],
        ['x-b', '3'],
        ['__proto__', 'own'],
      ],
      { signatures: [signature, 'x-other-signature'], first: ['x-b'] },
    )
    expect(text).toBe('{"10":"ten","9":"nine","__proto__":"own","x-a":"\\"1\\"","x-b":"2, 3"}')
  })

  test('are at most 8 KiB, those of the scheme first', () => {
    const lines = Array.from({ length: 40 }, (_, i) => [`x-${i}`, 'ü'.repeat(200)] as const)
    const text = storedHeaders([...lines, ['x-acme-event-id', 'evt_1']], {
      signatures: [signature],
      first: ['x-acme-event-id'],
    })
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8_192)
    expect(Buffer.byteLength(text)).toBeGreaterThan(7_000)
    expect(JSON.parse(text)).toMatchObject({ 'x-acme-event-id': 'evt_1', 'x-0': 'ü'.repeat(200) })
  })

  test('none are an empty object', () => {
    expect(kept([['cookie', 'x']], ['webhook-id'])).toEqual({})
  })
})
