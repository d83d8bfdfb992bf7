// kill -9 with executions in flight (abuse "In doubt, crash, replay"): afterwards each is finalized or listed in doubt, and none is run
// again. Load alone leaves nothing in doubt.
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { createDatabase, rowsOf, type TestDatabase } from '../database.ts'
import { storeInEffect } from '../in-effect.ts'
import { intentState, notedInDoubt } from '../intents.ts'
import { aSlowTransaction, forEach, startLoad } from '../load.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { aCaller, startService, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'

const human = aCaller('olive', { credentialHolderType: 'USER' })

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

async function kill(service: TestService): Promise<void> {
  service.process.kill('SIGKILL')
  await once(service.process, 'exit')
}

/** Every id that is listed in doubt, page by page. */
async function listed(service: TestService): Promise<Set<string>> {
  const ids: string[] = []
  for (let page = 1; ; page++) {
    const { body } = await service.get(`/execution-intents/unfinalized?pageSize=100&page=${page}`, human)
    const intents = body.intents as { businessTransactionId: string }[]
    if (intents.length === 0) return new Set(ids)
    ids.push(...intents.map((one) => one.businessTransactionId))
  }
}

// proves fault: kill -9 of the service under load; abuse: A connector that never answers
test('after a kill each execution is finalized or listed in doubt; a repeat is a 409 and is never run', async () => {
  const key = makeRawKey()
  const options = { databaseUrl: database.url, callers: [human.entry], key }
  const first = await startService(options)
  const hanging = Array.from({ length: 4 }, () =>
    aTransaction({ intent: { parameters: { amount: 42, hang: true } } }),
  )
  // Their connectors answer before, around and after the kill.
  const delayed = Array.from({ length: 60 }, (_, i) => aSlowTransaction(300 + i * 12))
  const all = [...hanging, ...delayed]
  const ids = all.map((one) => one.businessTransactionId)
  const answers = all.map(async (one) => (await first.post('/execute', one).catch(() => undefined))?.status)
  await until(async () => (await rowsOf(database))['execution_intents'] === all.length, 'all releases')
  await until(async () => Number((await rowsOf(database))['trust_records']) >= 5, 'some to be through')
  await kill(first)
  const acknowledged = (await Promise.all(answers)).flatMap((status, i) => (status === 200 ? [ids[i]] : []))
  await first.stop()

  const second = await startService(options)
  // Before their deadline they are under way as far as anyone can know; after it, in doubt.
  const open = await until(async () => {
    const states = await Promise.all(ids.map(async (id) => [id, await intentState(database, id)] as const))
    return new Set(states.flatMap(([id, state]) => (state === 'RELEASED' ? [id] : [])))
  }, 'the states')
  expect(acknowledged.filter((id) => open.has(id ?? ''))).toEqual([])
  expect(open.isSupersetOf(new Set(hanging.map((one) => one.businessTransactionId)))).toBe(true)
  await database.pool.query(`UPDATE released_batches SET deadline = now() - interval '1 s'`)
  expect(await listed(second)).toEqual(open)
  for (const id of ids)
    expect((await second.get(`/execution-intents/${id}`)).body.state).toBe(
      open.has(id) ? 'RELEASED' : 'FINALIZED',
    )

  const before = await rowsOf(database)
  await forEach(all, async (one) => expect((await second.post('/execute', one)).status).toBe(409))
  expect(await rowsOf(database)).toEqual(before)
  expect(await listed(second)).toEqual(open)

  // And again after another crash: it is a replay, not a retry.
  await kill(second)
  await second.stop()
  const third = await startService(options)
  await forEach(hanging, async (one) => expect((await third.post('/execute', one)).status).toBe(409))
  expect(await listed(third)).toEqual(open)
  for (const id of open) {
    const body = { resolution: 'NOT_EXECUTED', note: 'The sandbox has no effect.' }
    expect((await third.post(`/execution-intents/${id}/resolve`, body, human)).status).toBe(200)
  }
  expect(await listed(third)).toEqual(new Set())
  expect(await third.stop()).toBe(0)
})

// proves fault: The called system never answers; abuse: A connector that never answers
test('a connector that never answers: 502 when its time is up, in doubt at once, listed by itself', async () => {
  const service = await startService({ databaseUrl: database.url, callers: [human.entry] })
  const transaction = aTransaction({ intent: { parameters: { amount: 42, hang: true } } })
  const id = transaction.businessTransactionId
  expect((await service.post('/execute', transaction)).status).toBe(502)
  expect((await service.get(`/execution-intents/${id}`)).body).toMatchObject({
    state: 'RELEASED',
    inDoubt: true,
  })
  await until(async () => (await notedInDoubt(database)).has(id), 'the sweep')
  expect((await service.post('/execute', transaction)).status).toBe(409)
  const body = { resolution: 'NOT_EXECUTED', note: 'It hangs.' }
  expect((await service.post(`/execution-intents/${id}/resolve`, body, human)).status).toBe(200)
  expect(await service.stop()).toBe(0)
})

// proves abuse: Load alone, to leave something
test('load without a fault leaves nothing in doubt and every intent finalized', async () => {
  const service = await startService({ databaseUrl: database.url, callers: [human.entry] })
  const load = startLoad(service, 32)
  await until(() => load.count(200) >= 500, '500 executions')
  const outcomes = await load.stop()
  expect(outcomes.filter(({ reply }) => reply?.status !== 200)).toEqual([])
  expect(await listed(service)).toEqual(new Set())
  expect(await notedInDoubt(database)).toEqual(new Set())
  const { rows } = await database.pool.query<{ open: number }>(
    `SELECT count(*)::integer AS open FROM released_batches`,
  )
  expect(rows).toEqual([{ open: 0 }])
  expect(service.lines().filter(({ msg }) => msg === 'execution intents in doubt')).toEqual([])
  expect(await service.stop()).toBe(0)
})

// proves fault: kill -9 between a connector's answer
test('killed between the answer of a connector and its commit: asked again, and closed once', async () => {
  const own = await createDatabase()
  const policyDir = aPolicyFolder([])
  addPolicy(policyDir, { name: 'pay', version: '1.0.0', capability: 'vendor:pay' })
  let questions = 0
  const gate = Promise.withResolvers<void>()
  // The release is lost after it arrived; the first answer waits until its intent is locked.
  const server = createServer((request, response) => {
    if (request.method !== 'GET') {
      request.socket.destroy()
      return
    }
    questions++
    const sent = Buffer.from(String(request.headers['countersign-question']), 'base64url').toString()
    const { businessTransactionId, capability } = (JSON.parse(sent) as { question: Record<string, string> })
      .question
    const executedAt = new Date().toISOString()
    void gate.promise.then(() =>
      response.end(
        JSON.stringify({ businessTransactionId, capability, success: true, result: null, executedAt }),
      ),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await storeInEffect(own.pool, 'external-connector', {
    action: 'register',
    capability: 'vendor:pay',
    endpointUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    policy: 'pay',
    allowedParameters: ['amount'],
    timeoutMs: 30_000,
    readBack: true,
  })
  const options = { databaseUrl: own.url, callers: [human.entry], env: { POLICY_DIR: policyDir } }
  const first = await startService(options)
  const transaction = aTransaction({
    intent: { action: 'vendor:pay', parameters: { amount: 42 } },
    policy: { name: 'pay' },
  })
  const id = transaction.businessTransactionId
  expect((await first.post('/execute', transaction)).status).toBe(502)
  expect((await first.get('/execution-intents/unfinalized', human)).status).toBe(200)
  await until(() => questions === 1, 'the question')
  const transitions = async () => (await own.pool.query('SELECT FROM intent_transitions')).rowCount
  const holder = await own.pool.connect()
  await holder.query('BEGIN')
  await holder.query('SELECT FROM released_batches WHERE $1::uuid = ANY (ids) FOR UPDATE', [id])
  gate.resolve()
  await until(async () => {
    const { rows } = await own.pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    return rows.length > 0
  }, 'the commit to wait')
  await kill(first)
  await first.stop()
  await holder.query('ROLLBACK')
  holder.release()
  expect(await intentState(own, id)).toBe('RELEASED')
  expect(await transitions()).toBe(0)

  const second = await startService(options)
  await own.pool.query('UPDATE in_doubt_intents SET ask_at = now()')
  await until(async () => (await intentState(own, id)) === 'RESOLVED', 'the connector to be asked again')
  expect(await transitions()).toBe(1)
  expect(questions).toBe(2)
  expect(await second.stop()).toBe(0)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await own.drop()
  rmSync(policyDir, { recursive: true })
})
