// A page of the database is damaged, found by its checksum: one execution ends in 502, then none is admitted and the called system is
// not called, until the operator has repaired it; nothing needs a restart.
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aDealId, openReceiver, type Receiver } from '../crash/points/receiver.ts'
import { describeWithPostgres } from '../debian-postgres.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { startService, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { flipBitOf } from './damage.ts'
import { startServer, type Server } from './database-server.ts'

const CAPABILITY = 'hubspot:deal-update'

describeWithPostgres('a damaged page', () => {
  let receiver: Receiver
  let policyDir: string
  let server: Server
  let service: TestService
  beforeAll(async () => {
    receiver = await openReceiver()
    policyDir = aPolicyFolder()
    addPolicy(policyDir, { name: 'deal', version: '1.0.0', capability: CAPABILITY })
    server = await startServer({}, { initdb: ['--data-checksums'] })
    service = await startService({
      databaseUrl: server.url,
      env: {
        POLICY_DIR: policyDir,
        HUBSPOT_PRIVATE_APP_TOKEN: 'pat',
        HUBSPOT_BASE_URL: receiver.origin,
        WORKER_THREADS: '2',
      },
    })
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
    await receiver.close()
    rmSync(policyDir, { recursive: true })
  })

  async function execute() {
    const deal = aDealId('done')
    const transaction = aTransaction({
      intent: { action: CAPABILITY, target: deal, parameters: { amount: 7 } },
      policy: { name: 'deal' },
      signals: { approved: true },
    })
    const { status, body } = await service.post('/execute', transaction)
    const { code } = body as { code?: string }
    return { id: transaction.businessTransactionId, status, code, effects: receiver.effects(deal) }
  }
  const ready = () => service.get('/ready', { key: null })

  // proves fault: A bit of an index
  test('of an index stops executions after the first 502; REINDEX stores its evidence and lets them in again', async () => {
    for (let i = 0; i < 5; i++) expect((await execute()).status).toBe(200)
    await flipBitOf(server, 'execution_evidence_pkey', 1)
    await until(async () => (await ready()).status === 200, 'the database')

    const lost = await execute()
    expect(lost).toMatchObject({ status: 502, effects: 1 })
    const refused = await Promise.all(Array.from({ length: 20 }, execute))
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['EVIDENCE_REFUSED']))
    expect(refused.map(({ effects }) => effects)).toEqual(refused.map(() => 0))
    const { status, body } = await ready()
    expect([status, (body as { reason: string }).reason]).toEqual([
      503,
      'The database refuses to store evidence: a page of it is damaged.',
    ])

    await server.run('REINDEX INDEX execution_evidence_pkey')
    await until(async () => (await ready()).status === 200, 'a store to succeed')
    expect((await service.get(`/trust-records/${lost.id}`)).status).toBe(200)
    expect((await service.get(`/execution-intents/${lost.id}`)).body).toMatchObject({ state: 'FINALIZED' })
    expect(await execute()).toMatchObject({ status: 200, effects: 1 })
  })
})
