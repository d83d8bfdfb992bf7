// The execution gateway as a direct caller meets it (decisions §8): every refusal in its order, and a nonce that is consumed once.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { patientPool } from './patient-pool.ts'
import { canonicalize, type Json } from '../src/formats/json/canonical.ts'
import type { SigningKey } from '../src/core/signing/keys.ts'
import { signEd25519 } from '../src/core/signing/signature.ts'
import { authorizeAlone, type Authorized } from '../workers/execute/decide/authorize.ts'
import { decide, type Concluded } from '../workers/execute/decide/decide.ts'
import { validate, type Accepted } from '../workers/execute/validate/validate.ts'
import { passGateway, type GatewayRefusal, type SignedAuthorization } from '../workers/gateway.ts'
import { createDatabase, type TestDatabase } from './database.ts'
import { aRequest, openSteps, type Steps } from './pipeline/thread.ts'
import { aTransaction } from './transactions.ts'
import { findOpen } from '../src/store/tables/released-batches.ts'

let database: TestDatabase
let steps: Steps
/** Made for each test: an authorization as the pipeline makes it, and its transaction. */
let authorization: SignedAuthorization
let transaction: Authorized['transaction']
let authorizedAt: Date

beforeAll(async () => {
  database = await createDatabase()
  steps = openSteps()
})
afterAll(() => database.drop())
beforeEach(() => {
  authorizedAt = new Date()
  const intent = { parameters: { amount: 42, list: [1, 2] } }
  const accepted = validate(aRequest(aTransaction({ intent })), authorizedAt.toISOString()) as Accepted
  const authorized = authorizeAlone(
    decide(accepted, { ...steps, now: authorizedAt }) as Concluded,
    steps.key,
  ) as Authorized
  transaction = authorized.transaction
  authorization = JSON.parse(authorized.authorization.signed.text) as SignedAuthorization
})

function pass(
  presented: SignedAuthorization,
  more: { transaction?: object; parameters?: Json; now?: Date; pool?: Pool } = {},
): Promise<GatewayRefusal | undefined> {
  return passGateway(presented, {
    pool: more.pool ?? database.pool,
    transaction: { ...transaction, ...more.transaction },
    parameters: more.parameters ?? (transaction.intent.parameters as Json),
    findKey: steps.findKey,
    now: more.now ?? authorizedAt,
    inDoubtAfterMs: 0,
  })
}

/** The authorization with other members in its payload, signed anew. */
function resigned(
  changes: object,
  as: 'execution-authorization' | 'receipt' = 'execution-authorization',
  key: SigningKey = steps.key,
) {
  const payload = { ...authorization.payload, ...changes } as SignedAuthorization['payload']
  const { value, ...names } = signEd25519(as, canonicalize(payload), key)
  return { payload, ...names, signature: value }
}

const after = (ms: number) => new Date(authorizedAt.getTime() + ms)
const isoAfter = (ms: number) => after(ms).toISOString()

describe('a first use', () => {
  test('passes to its last millisecond, in the order of the checks or any order of its members', async () => {
    const reordered = {
      ...authorization,
      payload: Object.fromEntries(Object.entries(authorization.payload).toReversed()),
    }
    expect(await pass(reordered as SignedAuthorization, { now: after(119_999) })).toBeUndefined()
    const id = transaction.businessTransactionId
    const open = await findOpen(database.pool, [id])
    expect([...open.values()]).toMatchObject([{ id }])
  })

  test.each([5 * 60_000, 1])('passes with a lifetime of %i ms', async (ms) => {
    expect(await pass(resigned({ expiresAt: isoAfter(ms) }))).toBeUndefined()
  })
})

describe('refusals, in the order in which they are looked for', () => {
  // Each row is wrong in every later way too, so that only the order explains its refusal.
  const later = { expiresAt: '2020-01-01T00:00:00.000Z', businessTransactionHash: '0'.repeat(64) }

  test('AUTHORIZATION_VERSION_UNSUPPORTED', async () => {
    for (const version of [0, 2, '1', null])
      expect(await pass({ ...resigned({ ...later, version }), signature: '' })).toBe(
        'AUTHORIZATION_VERSION_UNSUPPORTED',
      )
  })

  test.each<[string, () => SignedAuthorization]>([
    ['a member changed', () => ({ ...authorization, payload: { ...authorization.payload, ...later } })],
    ['a member added', () => ({ ...authorization, payload: { ...authorization.payload, more: 1 } })],
    ['an empty signature', () => ({ ...resigned(later), signature: '' })],
    ...[undefined, null, 1].map((signature): [string, () => SignedAuthorization] => [
      `${signature} in place of a signature`,
      () => ({ ...resigned(later), signature: signature as unknown as string }),
    ]),
    [
      'another base64 text of the same bytes',
      () => ({ ...authorization, signature: authorization.signature.replace(/=+$/, '') }),
    ],
    ['an unknown key', () => ({ ...resigned(later), keyId: '20200101T000000Z-ed25519' })],
    ['a key that is a path', () => ({ ...resigned(later), keyId: `../${authorization.keyId}` })],
    ['another algorithm than the key has', () => ({ ...resigned(later), algorithm: 'ml-dsa-65' })],
    ['the key of another service', () => resigned(later, 'execution-authorization', openSteps().key)],
    ['a signature of another artifact', () => resigned({}, 'receipt')],
  ])('AUTHORIZATION_SIGNATURE_INVALID: %s', async (_, presented) => {
    expect(await pass(presented())).toBe('AUTHORIZATION_SIGNATURE_INVALID')
  })

  test.each(['2020-01-01T00:00:00.000Z', 'soon', ''])(
    'AUTHORIZATION_EXPIRED: expires %j',
    async (expiresAt) => {
      expect(await pass(resigned({ ...later, authorizedAt: '', expiresAt }))).toBe('AUTHORIZATION_EXPIRED')
    },
  )

  test('AUTHORIZATION_EXPIRED: at the very moment of expiry', async () => {
    expect(await pass(authorization, { now: after(120_000) })).toBe('AUTHORIZATION_EXPIRED')
  })

  test.each(['2999-01-01T00:00:00.000Z', 'now', ''])(
    'AUTHORIZATION_NOT_YET_VALID: authorized %j',
    async (begins) => {
      const presented = resigned({ ...later, authorizedAt: begins, expiresAt: '2999-01-01T00:02:00.000Z' })
      expect(await pass(presented)).toBe('AUTHORIZATION_NOT_YET_VALID')
    },
  )

  test('AUTHORIZATION_LIFETIME_EXCEEDED: a millisecond more than 300 s', async () => {
    expect(await pass(resigned({ ...later, expiresAt: isoAfter(300_001) }))).toBe(
      'AUTHORIZATION_LIFETIME_EXCEEDED',
    )
  })

  test.each<[string, object, Json?]>([
    ['another id', { businessTransactionId: crypto.randomUUID() }],
    ['another action', { intent: { action: 'sandbox:echo2', target: 'test' } }],
    ['another target', { intent: { action: 'sandbox:echo', target: 'tes' } }],
    ['other parameters', {}, { amount: 43, list: [1, 2] }],
    ['one more parameter', {}, { amount: 42, list: [1, 2], more: null }],
    ['one parameter less', {}, { amount: 42 }],
    ['a reordered array', {}, { amount: 42, list: [2, 1] }],
    ['a number as text', {}, { amount: '42', list: [1, 2] }],
  ])('AUTHORIZATION_TRANSACTION_MISMATCH: %s', async (_, changed, parameters) => {
    const refused = await pass(authorization, {
      transaction: changed,
      ...(parameters === undefined ? {} : { parameters }),
    })
    expect(refused).toBe('AUTHORIZATION_TRANSACTION_MISMATCH')
  })

  test('a number in another notation is the same number', async () => {
    expect(
      await pass(authorization, { parameters: JSON.parse('{"list":[1.0,2e0],"amount":4.2e1}') as Json }),
    ).toBeUndefined()
  })

  test('none of them consumes the nonce', async () => {
    await pass(authorization, { now: after(120_000) })
    await pass(authorization, { parameters: {} })
    expect(await pass(authorization)).toBeUndefined()
  })
})

describe('NONCE_ALREADY_CONSUMED', () => {
  // proves §7 A direct caller of the execution; abuse: An authorization presented twice, in another
  test('a replay, however it is wrapped', async () => {
    expect(await pass(authorization)).toBeUndefined()
    expect(await pass(authorization)).toBe('NONCE_ALREADY_CONSUMED')
    expect(await pass(resigned({ nonce: 'a fresh one' }))).toBe('NONCE_ALREADY_CONSUMED')
  })

  test('of fifty at once over several connections exactly one passes', async () => {
    const pools = Array.from({ length: 5 }, () => patientPool(database.url, 4))
    const passes = Array.from({ length: 50 }, (_, i) => pass(authorization, { pool: pools[i % 5]! }))
    const results = await Promise.all(passes)
    await Promise.all(pools.map((pool) => pool.end()))
    expect(results.filter((result) => result === undefined)).toHaveLength(1)
    expect(results.filter((result) => result === 'NONCE_ALREADY_CONSUMED')).toHaveLength(49)
  })

  // proves §7 Idempotency Authorization nonces and approval; abuse: An authorization presented twice, in another
  test('from other processes, too, at the same time and after a restart', async () => {
    const release = join(import.meta.dirname, 'pipeline', 'release.ts')
    const { businessTransactionId } = authorization.payload
    const another = async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [
        release,
        database.url,
        businessTransactionId,
      ])
      return JSON.parse(stdout) as string[]
    }
    const [one, other, here] = await Promise.all([another(), another(), pass(authorization)])
    expect(one.length + other.length + (here === undefined ? 1 : 0)).toBe(1)
    expect(await another()).toEqual([])
    expect(await pass(authorization)).toBe('NONCE_ALREADY_CONSUMED')
  })
})
