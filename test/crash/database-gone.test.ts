// A database that is gone before the claim, and one that is gone after the effect (decisions §3): 503 and nothing executed, 502 and the evidence once it is back.
import { expect, test } from 'vitest'
import { startEmbeddedPostgres } from '../../src/server/embedded/postgres.ts'
import { aFolder, query } from '../embedded/drive.ts'
import { look } from '../embedded/look.ts'
import { readStored } from '../evidence.ts'
import { aSlowTransaction } from '../load.ts'
import { startService, until } from '../service.ts'
import { aTransaction } from '../transactions.ts'

// proves fault: The database is gone before; abuse: The effect happened and the database
test('gone before the claim: 503 at once, and nothing executed; gone after the effect: 502, the evidence once it is back, and never executed again', async () => {
  const dataDir = aFolder()
  const startDatabase = () => startEmbeddedPostgres({ dataDir, log: () => undefined })
  let postgres = await startDatabase()
  const service = await startService({ databaseUrl: postgres.url })
  const stored = () => look(dataDir, readStored)

  // Its connector answers when the database has gone.
  const early = aSlowTransaction(3_000)
  const earlyId = early.businessTransactionId
  const afterTheEffect = service.post('/execute', early)
  await until(async () => (await stored()).inDoubt.has(earlyId), 'the intent to be released')
  await postgres.stop()
  const late = aTransaction()
  const startedAt = performance.now()
  const beforeTheClaim = await service.post('/execute', late)
  const tookMs = performance.now() - startedAt
  expect(beforeTheClaim.body).toEqual({
    error: 'Database unavailable. Nothing was executed.',
    code: 'DATABASE_UNAVAILABLE',
  })
  expect(beforeTheClaim.status).toBe(503)
  expect(beforeTheClaim.headers.get('retry-after')).toBe('1')
  expect(tookMs).toBeLessThan(10_000)
  expect((await service.get(`/trust-records/${earlyId}`)).status).toBe(503)
  expect((await service.get('/ready')).status).toBe(503)
  expect((await service.get('/health')).status).toBe(200)

  const { status, body } = await afterTheEffect
  expect(status).toBe(502)
  expect(body).toEqual({
    error: 'Execution outcome unknown; do not retry, read the execution intent.',
    code: 'EXECUTION_OUTCOME_UNKNOWN',
  })

  postgres = await startDatabase()
  await until(async () => (await service.get('/ready')).status === 200, 'the service to be ready')
  expect((await service.post('/execute', early)).status).toBe(409)
  expect((await service.post('/execute', late)).status).toBe(200)
  await until(async () => (await stored()).inDoubt.size === 0, 'the evidence')
  const both = new Set([earlyId, late.businessTransactionId])
  expect(await stored()).toEqual({ claimed: both, recorded: both, inDoubt: new Set() })
  expect((await service.get(`/trust-records/${earlyId}`)).status).toBe(200)
  expect(await service.stop()).toBe(0)
  await postgres.stop()
})

// proves fault: The database is gone for a moment; abuse: The effect happened and the database
test('gone for a moment while the connector works: the evidence is stored once it is back', async () => {
  const dataDir = aFolder()
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => undefined })
  const service = await startService({ databaseUrl: postgres.url })
  const transaction = aSlowTransaction(3_000)
  const executed = service.post('/execute', transaction)
  const stored = () => look(dataDir, readStored)
  await until(async () => (await stored()).inDoubt.size === 1, 'the intent to be released')
  process.kill(postgres.pid(), 'SIGKILL') // its supervisor starts it again
  // A server that needs longer than the caller is kept waiting leaves the outcome unknown to the caller, and the evidence pending.
  expect([200, 502]).toContain((await executed).status)
  await until(() => query(postgres.url, 'SELECT 1').catch(() => undefined), 'the database')
  await until(async () => (await stored()).recorded.has(transaction.businessTransactionId), 'the evidence')
  expect((await stored()).recorded.size).toBe(1)
  expect(await service.stop()).toBe(0)
  await postgres.stop()
})
