// When the service cannot take a request: the queue is full, or the database is away (decisions §3 "Outcomes").
import { afterAll, describe, expect, test } from 'vitest'
import { rowsOf, type TestDatabase } from '../database.ts'
import { askForExport, readUntilCut, storeWideRecords } from '../exports.ts'
import { openDatabaseProxy, type DatabaseProxy } from '../proxy.ts'
import { lineOf, reply, until, type Called, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'
import { intentState } from '../intents.ts'

const QUEUE_REQUESTS_MAX = 16
/** One caller has so many places. */
const PLACES = QUEUE_REQUESTS_MAX / 4

let database: TestDatabase
let proxy: DatabaseProxy
let service: TestService

withDatabase(async ({ database: made, start }) => {
  database = made
  proxy = await openDatabaseProxy(database.url)
  service = await start({
    databaseUrl: proxy.url,
    env: { QUEUE_REQUESTS_MAX: String(QUEUE_REQUESTS_MAX) },
  })
})

afterAll(async () => {
  await proxy.cut()
})

/** One whose connector takes a while, and its answer. */
function slow(delayMs: number) {
  const transaction = aTransaction({ intent: { parameters: { amount: 42, delayMs } } })
  const released = () => until(() => intentState(database, transaction.businessTransactionId), 'the release')
  return { id: transaction.businessTransactionId, answer: service.post('/execute', transaction), released }
}

describe('GET /trust-records 200 as NDJSON', () => {
  // proves fault: The database goes while an export
  // proves abuse: Exports that are asked for and
  test('a database that goes while it streams cuts it: neither the last line nor the end of the reply comes', async () => {
    const deleteThem = await storeWideRecords(database, 'tester')
    const [streamed, another, third] = [
      await askForExport(service, service.key),
      await askForExport(service, service.key),
      await askForExport(service, service.key),
    ]
    expect([streamed.status, another.status, third.status]).toEqual([200, 200, 503])
    expect(await third.json()).toMatchObject({ code: 'OVERLOADED' })
    await another.body?.cancel()
    await proxy.cut()
    const text = await readUntilCut(streamed)
    await proxy.mend()
    expect(text.split('\n').length).toBeGreaterThan(1)
    expect(text).not.toContain('exportEnd')
    await until(async () => (await service.get('/ready')).status === 200, 'the database again')
    await deleteThem()
  })
})

describe('POST /execute 503 overloaded', () => {
  // proves fault: More requests than `QUEUE_REQUESTS_MAX`
  test('a request beyond QUEUE_REQUESTS_MAX is turned away before any work, and taken when there is room again', async () => {
    const before = await rowsOf(database)
    const waiting = Array.from({ length: PLACES }, () => slow(5_000))
    await Promise.all(waiting.map(({ released }) => released()))

    const transaction = aTransaction()
    for (const path of ['/execute', '/transactions']) {
      const refused = await service.post(path, transaction)
      expect(reply(refused)).toEqual({
        status: 503,
        body: { error: 'Service overloaded. Try again later.', code: 'OVERLOADED' },
      })
      expect(refused.headers.get('retry-after')).toBe('1')
      expect(await gateOf(refused)).toBe('client-share')
    }
    expect((await service.get(`/transactions/${transaction.businessTransactionId}`)).status).toBe(404)

    const answers = await Promise.all(waiting.map(({ answer }) => answer))
    expect(answers.map(({ status }) => status)).toEqual(waiting.map(() => 200))
    expect((await service.post('/execute', transaction)).status).toBe(200)
    const { trust_records } = await rowsOf(database)
    expect(trust_records).toBe((before['trust_records'] ?? 0) + PLACES + 1)
  })

  test('bad bodies give their room back', async () => {
    for (let i = 0; i < PLACES * 3; i++) expect((await service.post('/execute', '{')).status).toBe(400)
    expect((await service.post('/execute', aTransaction())).status).toBe(200)
  })
})

/** Reads from the log which gate refused; nothing of it is in the reply. */
async function gateOf(called: Called): Promise<unknown> {
  expect(called.text).not.toContain('gate')
  return (await lineOf(service, called))['gate']
}

const away = {
  status: 503,
  body: { error: 'Database unavailable. Nothing was executed.', code: 'DATABASE_UNAVAILABLE' },
}

describe('POST /execute 503 databaseUnavailable', () => {
  // proves fault: The database is gone before
  test('nothing is executed while the database is away; the same transaction is, once it is back', async () => {
    const transaction = aTransaction()
    await proxy.cut()
    const refused = await service.post('/execute', transaction)
    expect(reply(refused)).toEqual(away)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await gateOf(refused)).toBe('database')
    const ready = await service.get('/ready')
    expect([ready.status, await gateOf(ready)]).toEqual([503, 'database'])
    await proxy.mend()
    expect((await service.post('/execute', transaction)).status).toBe(200)
    expect((await service.get('/ready')).status).toBe(200)
  })

  // proves fault: The database is gone before
  test('a body that is refused without the database is refused all the same', async () => {
    await proxy.cut()
    expect((await service.post('/execute', '{')).status).toBe(400)
    expect((await service.post('/execute', aTransaction({ authority: { principalId: 'x' } }))).status).toBe(
      403,
    )
    await proxy.mend()
  })
})

describe('GET /transactions/{id} 503 databaseUnavailable', () => {
  // proves fault: The database is gone while something
  test.each(['/transactions', '/transactions/{id}', '/trust-records/{id}', '/refusal/{id}'])(
    'GET %s',
    async (path) => {
      const id = aTransaction().businessTransactionId
      await proxy.cut()
      expect(reply(await service.get(path.replace('{id}', id)))).toEqual(away)
      await proxy.mend()
      expect((await service.get(path.replace('{id}', id))).status).not.toBe(503)
    },
  )
})

describe('POST /execute 502 outcomeUnknown', () => {
  const unknown = {
    status: 502,
    body: {
      error: 'Execution outcome unknown; do not retry, read the execution intent.',
      code: 'EXECUTION_OUTCOME_UNKNOWN',
    },
  }

  // proves fault: The database is gone after the effect
  test('a database that is lost during the effect and stays away: no answer but this, and the evidence once it is back', async () => {
    const { id, answer, released } = slow(500)
    await released()
    await proxy.cut()
    expect(reply(await answer)).toEqual(unknown)
    expect(await intentState(database, id)).toBe('RELEASED')
    await proxy.mend()
    await until(async () => (await intentState(database, id)) === 'FINALIZED', 'the evidence')
    expect((await service.get(`/trust-records/${id}`)).status).toBe(200)
  })

  // proves fault: The database is gone for a moment
  test('one that is back soon still gets the evidence', async () => {
    // By the first attempt to store it.
    const cut = proxy.cutAt('"trustRecordHash"')
    const { id, answer } = slow(10)
    await cut
    await proxy.mend()
    expect((await answer).status).toBe(200)
    expect(await intentState(database, id)).toBe('FINALIZED')
  })
})
