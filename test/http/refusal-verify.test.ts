// POST /refusal/verify (decisions §9): anyone who holds a Refusal Record may have it checked, with the keys that are published.
import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { rowsOf, type TestDatabase } from '../database.ts'
import { reply, type TestService } from '../service.ts'
import { aMismatchedTransaction, aRejectedTransaction, aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

type Members = Record<string, unknown>

let database: TestDatabase
let service: TestService
let rejected: Members
let denied: Members

withDatabase(async ({ database: made, start }) => {
  database = made
  service = await start()
  rejected = await aRefusal(aRejectedTransaction())
  denied = await aRefusal(aMismatchedTransaction())
})

async function aRefusal(transaction: ReturnType<typeof aTransaction>): Promise<Members> {
  await service.post('/execute', transaction)
  const { status, body } = await service.get(`/refusal/${transaction.businessTransactionId}`)
  expect(status).toBe(200)
  return body as Members
}

const verify = (refusal: unknown) => service.post('/refusal/verify', refusal, { key: null })

const NAMES = ['refusal hash', 'refusal signature', 'decision binding', 'approvals']

/** The names of the checks that fail, where the answer is whole and agrees with itself. */
async function failing(refusal: unknown, names = NAMES): Promise<string[]> {
  const { status, body } = await verify(refusal)
  expect(status).toBe(200)
  const checks = body.checks as { name: string; valid: boolean; problem?: string }[]
  expect(checks.map(({ name }) => name)).toEqual(names)
  const failed = checks.filter(({ valid }) => !valid)
  expect(checks.filter(({ problem }) => problem !== undefined)).toEqual(failed)
  expect(body.valid).toBe(failed.length === 0)
  return failed.map(({ name }) => name)
}

describe('POST /refusal/verify 200', () => {
  // proves §4.6 POST /refusal/verify, POST /audit/verify; §5 POST /refusal/verify
  test('a rejection and a denial hold, without a key and with any', async () => {
    for (const refusal of [rejected, denied]) {
      const valid = {
        status: 200,
        body: { valid: true, checks: NAMES.map((name) => ({ name, valid: true })) },
      }
      expect(reply(await verify(refusal))).toEqual(valid)
      expect(reply(await service.post('/refusal/verify', refusal, { key: 'csk_unknown' }))).toEqual(valid)
    }
  })

  test('stores nothing', async () => {
    const before = await rowsOf(database)
    await verify(rejected)
    expect(await rowsOf(database)).toEqual(before)
  })

  test('the order of members and the white space do not matter', async () => {
    const reversed = Object.fromEntries(Object.entries(denied).toReversed())
    expect(await failing(JSON.stringify(reversed, undefined, 2))).toEqual([])
  })

  const id = '3fa85f64-5717-4562-b3fc-2c963f66afa6'
  const decisionOf = (refusal: Members) => refusal['decision'] as Members

  test.each<[string, (refusal: Members) => Members, string[]]>([
    ['refusalRecordId', () => ({ refusalRecordId: id }), ['refusal hash', 'refusal signature']],
    ['businessTransactionId', () => ({ businessTransactionId: id }), ['refusal hash', 'refusal signature']],
    ['submittedBy', () => ({ submittedBy: 'somebody else' }), ['refusal hash', 'refusal signature']],
    ['createdAt', () => ({ createdAt: '2001-01-01T00:00:00.000Z' }), ['refusal hash', 'refusal signature']],
    ['a member more', () => ({ more: 1 }), ['refusal hash', 'refusal signature']],
    [
      'decision.reason',
      (refusal) => ({ decision: { ...decisionOf(refusal), reason: 'None.' } }),
      ['refusal hash', 'refusal signature'],
    ],
    [
      'decision.outcome',
      (refusal) => ({ decision: { ...decisionOf(refusal), outcome: 'APPROVED' } }),
      ['refusal hash', 'refusal signature', 'decision binding'],
    ],
    [
      'decision.intentId',
      (refusal) => ({ decision: { ...decisionOf(refusal), intentId: id } }),
      ['refusal hash', 'refusal signature', 'decision binding'],
    ],
    [
      'mismatches',
      () => ({ mismatches: [{ signal: 'amount', declared: 1, verified: 7, source: 'x' }] }),
      ['refusal hash', 'refusal signature', 'decision binding'],
    ],
    ['refusalRecordHash', () => ({ refusalRecordHash: 'a'.repeat(64) }), ['refusal hash']],
  ])('%s changed', async (_title, change, checks) => {
    expect(await failing({ ...denied, ...change(denied) })).toEqual(checks)
  })

  test.each<[string, Members]>([
    ['the signature of another', {}],
    ['no base64 of 64 bytes', { value: 'AAAA' }],
    ['a keyId that nobody knows', { keyId: '20200101T000000Z-ed25519' }],
    ['a keyId that leads out of its folder', { keyId: '../keys/x' }],
    ['a keyId of a prototype', { keyId: '__proto__x' }],
    ['another algorithm', { algorithm: 'ml-dsa-65' }],
  ])('%s is no signature of it', async (title, members) => {
    const from = title === 'the signature of another' ? rejected : denied
    expect(
      await failing({ ...denied, signature: { ...(from['signature'] as Members), ...members } }),
    ).toEqual(['refusal signature'])
  })

  test('a key inside the record is not looked at, and nothing signs it', async () => {
    const { publicKey } = generateKeyPairSync('ed25519')
    const pem = publicKey.export({ type: 'spki', format: 'pem' })
    const signature = {
      ...(denied['signature'] as Members),
      keyId: 'mine',
      pem,
      jwk: publicKey.export({ format: 'jwk' }),
    }
    const named = [...NAMES, 'members']
    expect(await failing({ ...denied, signature }, named)).toEqual(['refusal signature', 'members'])
  })
})

const without = (name: string) => {
  const { [name]: _gone, ...rest } = denied
  return rest
}

const decided = (members: Members) => ({ decision: { ...(rejected['decision'] as Members), ...members } })
const signed = (members: Members) => ({ signature: { ...(rejected['signature'] as Members), ...members } })

describe('POST /refusal/verify 200, of any JSON object', () => {
  const SEAL = ['refusal hash', 'refusal signature']

  test.each([
    ['refusalRecordId', SEAL],
    ['businessTransactionId', SEAL],
    ['decision', NAMES],
    ['evaluatedIntent', [...SEAL, 'decision binding']],
    ['mismatches', [...SEAL, 'decision binding']],
    ['submittedBy', SEAL],
    ['createdAt', SEAL],
    ['refusalRecordHash', ['refusal hash']],
    ['signature', ['refusal signature']],
  ])('without %s fails %j', async (name, checks) => {
    expect(await failing(without(name))).toEqual(checks)
  })

  test.each<[string, () => Members, string[]]>([
    ['an id that is none', () => ({ refusalRecordId: 'x' }), SEAL],
    ['a time that is a number', () => ({ createdAt: 5 }), SEAL],
    ['a decision that is a list', () => ({ decision: [] }), NAMES],
    ['an outcome that is none', () => decided({ outcome: 'LATER' }), [...SEAL, 'decision binding']],
    ['signals that are a list', () => decided({ signals: [] }), [...SEAL, 'decision binding']],
    ['verified signals that are a list', () => decided({ verifiedSignals: [] }), [...SEAL, 'approvals']],
    ['mismatches that are an object', () => ({ mismatches: {} }), [...SEAL, 'decision binding']],
    ['a mismatch that is a text', () => ({ mismatches: ['x'] }), [...SEAL, 'decision binding']],
    ['a keyId that is an object', () => signed({ keyId: {} }), ['refusal signature']],
    ['an algorithm that is none', () => signed({ algorithm: 'none' }), ['refusal signature']],
    ['a signature that is no base64', () => signed({ value: '?' }), ['refusal signature']],
    [
      'a signature of 65 bytes',
      () => signed({ value: Buffer.alloc(65).toString('base64') }),
      ['refusal signature'],
    ],
    ['a hash that is null', () => ({ refusalRecordHash: null }), ['refusal hash']],
  ])('%s fails its checks', async (_title, members, checks) => {
    expect(await failing({ ...rejected, ...members() })).toEqual(checks)
  })

  test('an Execution Trust Record, and nothing, fail every check', async () => {
    const { body } = await service.post('/execute', aTransaction())
    expect(await failing(body)).toEqual(NAMES)
    expect(await failing({})).toEqual(NAMES)
  })

  // Comparing each mismatch with a signal of any size takes the product of both: 0.7 s of a thread for this body.
  test('a long signal that every mismatch declares is compared with none of them', async () => {
    const long = Array.from({ length: 10_000 }, (_, i) => i % 10)
    const mismatch = { signal: 'a', declared: 0 }
    const mismatches = Array.from({ length: 2_000 }, () => mismatch)
    const body = { ...rejected, ...decided({ signals: { a: long } }), mismatches }
    expect(JSON.stringify(body).length).toBeLessThan(102_400)
    const checks = (await verify(body)).body.checks as { name: string; problem?: string }[]
    expect(checks.find(({ name }) => name === 'decision binding')?.problem).toBe(
      'The decision is not a refusal of this intent',
    )
  })
})

describe('POST /refusal/verify 400 invalidEvidence', () => {
  test.each(['[]', '[{}]', 'null', '5', '"x"', 'true'])('%s', async (body) => {
    expect(reply(await verify(body))).toEqual({ status: 400, body: { error: 'the body must be an object.' } })
  })
})

describe('POST /refusal/verify 400 malformedJson', () => {
  test.each(['', '{', '{"a":1,"a":2}'])('%j', async (body) => {
    expect(reply(await verify(body))).toEqual({ status: 400, body: { error: 'Malformed JSON body.' } })
  })
})

describe('POST /refusal/verify 413 payloadTooLarge', () => {
  test('a body over the limit', async () => {
    expect((await verify('x'.repeat(200_000))).status).toBe(413)
  })
})
