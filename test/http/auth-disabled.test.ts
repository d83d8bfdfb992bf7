// SERVICE_AUTH_DISABLED=true (interface §5.6, decisions §2): local development only.
import { describe, expect, test } from 'vitest'
import type { TestDatabase } from '../database.ts'
import { aCaller, reply, startService, until, type TestService } from '../service.ts'
import { aRejectedTransaction, aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

const disabled = { SERVICE_AUTH_DISABLED: 'true', RATE_LIMIT_EXECUTE_PER_MINUTE: '1' }

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), { env: disabled })

/** With no key, with one that would be known, and with one that would not. */
const keys = () => [null, service.key, 'csk_unknown']

describe('POST /execute 200', () => {
  // proves §5 When `SERVICE_AUTH_DISABLED=true`, authentication is skipped
  test('executes whatever principal and capability, as `anonymous` in everything stored and signed', async () => {
    for (const key of keys()) {
      const { status, body } = await service.post(
        '/execute',
        aTransaction({ authority: { principalId: 'anyone\0' } }),
        { key },
      )
      expect(status).toBe(200)
      expect(body.transaction.metadata.submittedBy).toBe('anonymous')
      expect(body.authorization.payload.callerId).toBe('anonymous')
    }
  })

  // proves §5 When `SERVICE_AUTH_DISABLED=true`, authentication is skipped; §8 Execute limit · POST
  test('no limiter is mounted', async () => {
    for (const key of [...keys(), ...keys()]) {
      const { status, headers } = await service.post('/execute', aTransaction(), { key })
      expect([status, headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([200, null, null])
    }
  })
})

describe('GET /callers/me 404 callerIdentityMissing', () => {
  // proves §4.1 GET /callers/me · none; §5 When `SERVICE_AUTH_DISABLED=true`, authentication is skipped; §7 404 · none · `No
  test('there is none, whatever key comes along', async () => {
    for (const key of keys()) {
      expect(reply(await service.get('/callers/me', { key }))).toEqual({
        status: 404,
        body: { error: 'No authenticated caller identity available.' },
      })
    }
  })
})

describe('GET /transactions/{id} 200', () => {
  test('reads see everything, also what a caller submitted while authentication was enabled', async () => {
    const acme = aCaller('acme', { allowedPrincipalIds: ['tester'] })
    const enabled = await startService({ databaseUrl: database.url, callers: [acme.entry] })
    const { body: record } = await enabled.post('/execute', aTransaction(), acme)
    const rejected = aRejectedTransaction()
    await enabled.post('/execute', rejected, acme)
    expect(await enabled.stop()).toBe(0)

    for (const key of keys()) {
      expect((await service.get(`/transactions/${record.businessTransactionId}`, { key })).body).toEqual(
        record.transaction,
      )
      expect((await service.get(`/trust-records/${record.businessTransactionId}`, { key })).body).toEqual(
        record,
      )
      expect((await service.get(`/refusal/${rejected.businessTransactionId}`, { key })).status).toBe(200)
      const { body } = await service.get('/transactions?pageSize=100', { key })
      const submitters = (body as { metadata: { submittedBy: string } }[]).map(
        ({ metadata }) => metadata.submittedBy,
      )
      expect(new Set(submitters)).toEqual(new Set(['acme', 'anonymous']))
    }
  })
})

describe('GET /ready 200', () => {
  // proves §4.1 GET /ready · none
  test('says that authentication is disabled', async () => {
    expect((await service.get('/ready', { key: null })).body).toEqual({ status: 'READY', authDisabled: true })
  })
})

// proves §5 When `SERVICE_AUTH_DISABLED=true`, authentication is skipped
test('a warning is logged at the start', async () => {
  const warning = await until(() => service.lines().find(({ level }) => level === 40), 'a warning')
  expect(warning['msg']).toBe(
    'SERVICE_AUTH_DISABLED: every request is served without a credential. For local development only.',
  )
})

// proves §5 When `SERVICE_AUTH_DISABLED=true`, authentication is skipped
test('the service refuses to start so in production', async () => {
  const start = startService({ databaseUrl: database.url, env: { ...disabled, NODE_ENV: 'production' } })
  await expect(start).rejects.toThrow('SERVICE_AUTH_DISABLED must not be true when NODE_ENV is production.')
})
