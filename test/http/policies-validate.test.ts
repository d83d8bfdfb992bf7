// POST /policies/validate (interface §4.4): whether a policy version can be loaded, always as `{valid, errors}` but for a 401.
import { describe, expect, test } from 'vitest'
import { advanceEpoch } from '../../src/store/tables/authority-epoch.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { reply, startService, until, type TestService } from '../service.ts'
import { withService } from '../with-service.ts'

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made))

const validate = (body: unknown, options = {}) => service.post('/policies/validate', body, options)
const invalid = (status: number, error: string) => ({ status, body: { valid: false, errors: [error] } })

/** As another instance would, at its upgrade. Resolves when this one has taken it up. */
async function loadLater(policyId: string): Promise<void> {
  await database.pool.query(
    `INSERT INTO authority (kind, key, target, stated, stated_hash)
    SELECT kind, $1::text || '/1.0.0', $1::text || '/1.0.0',
      replace(stated, '"policyId":"sandbox-echo"', '"policyId":"' || $1::text || '"'), stated_hash
    FROM authority WHERE key = 'sandbox-echo/1.0.0'`,
    [policyId],
  )
  await advanceEpoch(database.pool)
  await until(async () => (await service.get(`/policies/${policyId}/1.0.0`)).status === 200, policyId)
}

describe('POST /policies/validate 200', () => {
  // proves §4.4 POST /policies/validate: It does; §4.4 POST /policies/validate: Every response
  // proves §4.4 POST /policies/validate: 200: loadable
  test('a version that can be loaded; other members do not matter', async () => {
    for (const more of [{}, { policy: 'no document is looked at', errors: ['x'] }])
      expect(reply(await validate({ policyId: 'sandbox-echo', policyVersion: '1.0.0', ...more }))).toEqual({
        status: 200,
        body: { valid: true, errors: [] },
      })
  })

  // proves §4.4 POST /policies/validate: 200: loadable
  test('a version that is loaded and not approved', async () => {
    await loadLater('later')
    expect((await validate({ policyId: 'later', policyVersion: '1.0.0' })).body).toEqual({
      valid: true,
      errors: [],
    })
  })

  test('while the database is away, of what this instance works by', async () => {
    const gone = await createDatabase()
    const without = await startService({ databaseUrl: gone.url })
    await gone.drop()
    const body = { policyId: 'sandbox-echo', policyVersion: '1.0.0' }
    expect(reply(await without.post('/policies/validate', body))).toEqual({
      status: 200,
      body: { valid: true, errors: [] },
    })
    expect(await without.stop()).toBe(0)
  })
})

describe('POST /policies/validate 400 fieldRequired', () => {
  // proves §4.4 POST /policies/validate: Request: `{policyId; §4.4 POST /policies/validate: Every response
  // proves §4.4 POST /policies/validate: 400: `errors`; §7 Exception: all responses of POST; §7 400, 404 · n/a
  test.each([
    [{}, 'policyId'],
    [{ policyVersion: '1.0.0' }, 'policyId'],
    [{ policyId: '', policyVersion: '' }, 'policyId'],
    [{ policyId: ' \n', policyVersion: '1.0.0' }, 'policyId'],
    [{ policyId: null }, 'policyId'],
    [{ policyId: 'sandbox-echo' }, 'policyVersion'],
    [{ policyId: 'no-such-policy' }, 'policyVersion'],
    [{ policyId: 'sandbox-echo', policyVersion: null }, 'policyVersion'],
    [{ policyId: 'sandbox-echo', policyVersion: ' ' }, 'policyVersion'],
    ['[]', 'policyId'],
    ['null', 'policyId'],
    ['"sandbox-echo"', 'policyId'],
  ])('%j misses %s, and the first miss ends it', async (body, field) => {
    expect(reply(await validate(body))).toEqual(invalid(400, `${field} is required.`))
  })
})

describe('POST /policies/validate 400 malformedJson', () => {
  test.each(['', '{', '{"policyId":"a","policyId":"b"}', '{"policyId":"\\ud800","policyVersion":"1"}'])(
    '%j',
    async (body) => {
      expect(reply(await validate(body))).toEqual(invalid(400, 'Malformed JSON body.'))
    },
  )
})

describe('POST /policies/validate 404 policyNotFound', () => {
  // proves §4.4 POST /policies/validate: Every response; §4.4 POST /policies/validate: 404: `errors`; §7 400, 404 · n/a
  test.each([
    ['no-such-policy', '1.0.0'],
    ['sandbox-echo', '1.0.1'],
    ['sandbox-echo', '1.0.0 '],
    ['Sandbox-Echo', '1.0.0'],
    ['../policies/sandbox-echo', '1.0.0'],
    ['constructor', 'prototype'],
    ["it's \0 not", "'; DROP TABLE receipts; --"],
  ])('%j version %j', async (policyId, policyVersion) => {
    expect(reply(await validate({ policyId, policyVersion }))).toEqual(
      invalid(404, `Policy '${policyId}' version '${policyVersion}' was not found.`),
    )
  })

  test.each<{ policyId: unknown }>(
    [1, true, [], {}, ['sandbox-echo'], { toString: 1, valueOf: 1 }].map((policyId) => ({ policyId })),
  )('%j, which is no name', async ({ policyId }) => {
    const { status, body } = await validate({ policyId, policyVersion: '1.0.0' })
    expect([status, body.valid, body.errors.length]).toEqual([404, false, 1])
  })

  // proves §4.4 POST /policies/validate: It does
  test('a version that an older release stored and this one cannot load', async () => {
    await database.pool.query(
      `INSERT INTO authority (kind, key, target, stated, stated_hash) VALUES ('policy', 'old/1', 'old/1', '{"rules":7}', 'x')`,
    )
    // Once this instance has taken up what came after it, it has taken up that one.
    await loadLater('after-old')
    expect(reply(await validate({ policyId: 'old', policyVersion: '1' }))).toEqual(
      invalid(404, "Policy 'old' version '1' was not found."),
    )
  })
})

describe('POST /policies/validate 413 payloadTooLarge', () => {
  // proves §4.4 POST /policies/validate: Every response; §7 Exception: all responses of POST
  test('a body over the limit, in the envelope of this route', async () => {
    expect(reply(await validate('x'.repeat(200_000)))).toEqual(invalid(413, 'Payload too large.'))
  })
})

describe('POST /policies/validate 401 authenticationRequired', () => {
  // proves §4.4 POST /policies/validate: A 401; §7 Exception: all responses of POST
  test('in the envelope that all routes share', async () => {
    for (const key of [null, 'csk_unknown'])
      expect(reply(await validate({ policyId: 'sandbox-echo', policyVersion: '1.0.0' }, { key }))).toEqual({
        status: 401,
        body: { error: 'authentication required' },
      })
  })
})
