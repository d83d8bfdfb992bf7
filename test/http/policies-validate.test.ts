// POST /policies/validate (interface §4.4): whether a policy version can be loaded, always as `{valid, errors}` but for a 401.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '../database.ts'
import { reply, startService, type TestService } from '../service.ts'

let database: TestDatabase
let service: TestService

beforeAll(async () => {
  database = await createDatabase()
  service = await startService({ databaseUrl: database.url })
})

afterAll(async () => {
  expect(await service.stop()).toBe(0)
  await database.drop()
})

const validate = (body: unknown, options = {}) => service.post('/policies/validate', body, options)
const invalid = (status: number, error: string) => ({ status, body: { valid: false, errors: [error] } })

describe('POST /policies/validate 200', () => {
  test('a version that can be loaded; other members do not matter', async () => {
    for (const more of [{}, { policy: 'no document is looked at', errors: ['x'] }])
      expect(reply(await validate({ policyId: 'sandbox-echo', policyVersion: '1.0.0', ...more }))).toEqual({
        status: 200,
        body: { valid: true, errors: [] },
      })
  })

  test('a version that is loaded and not approved', async () => {
    await database.pool.query(`
      INSERT INTO policy_versions (name, version, content, content_hash)
      SELECT 'later', version, replace(content, '"policyId":"sandbox-echo"', '"policyId":"later"'), content_hash
      FROM policy_versions WHERE name = 'sandbox-echo'`)
    expect((await validate({ policyId: 'later', policyVersion: '1.0.0' })).body).toEqual({
      valid: true,
      errors: [],
    })
  })
})

describe('POST /policies/validate 400 fieldRequired', () => {
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

  test('a version that an older release stored and this one cannot load', async () => {
    await database.pool.query(
      `INSERT INTO policy_versions (name, version, content, content_hash) VALUES ('old', '1', '{"rules":7}', 'x'), ('old', '2', 'x', 'x')`,
    )
    for (const policyVersion of ['1', '2'])
      expect(reply(await validate({ policyId: 'old', policyVersion }))).toEqual(
        invalid(404, `Policy 'old' version '${policyVersion}' was not found.`),
      )
  })
})

describe('POST /policies/validate 413 payloadTooLarge', () => {
  test('a body over the limit, in the envelope of this route', async () => {
    expect(reply(await validate('x'.repeat(200_000)))).toEqual(invalid(413, 'Payload too large.'))
  })
})

describe('POST /policies/validate 401 authenticationRequired', () => {
  test('in the envelope that all routes share', async () => {
    for (const key of [null, 'csk_unknown'])
      expect(reply(await validate({ policyId: 'sandbox-echo', policyVersion: '1.0.0' }, { key }))).toEqual({
        status: 401,
        body: { error: 'authentication required' },
      })
  })
})

describe('POST /policies/validate 503 databaseUnavailable', () => {
  test('in the envelope of this route', async () => {
    const gone = await createDatabase()
    const without = await startService({ databaseUrl: gone.url })
    await gone.drop()
    const body = { policyId: 'sandbox-echo', policyVersion: '1.0.0' }
    expect(reply(await without.post('/policies/validate', body))).toEqual(
      invalid(503, 'Database unavailable. Nothing was executed.'),
    )
    expect(await without.stop()).toBe(0)
  })
})
