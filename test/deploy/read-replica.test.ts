// DATABASE_READ_URL (docs/handbook/scaling.md "Read replicas"): the bulk export from a streaming standby, and nothing else.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithPostgres } from '../debian-postgres.ts'
import { startServer, startStandby, type Server } from '../faults/database-server.ts'
import { aCaller, reply, startService, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'

const alice = aCaller('alice', { allowedPrincipalIds: ['tester'] })
const bob = aCaller('bob')

describeWithPostgres('the bulk export of a service with a replica', () => {
  let primary: Server
  let standby: Server
  let service: TestService

  beforeAll(async () => {
    primary = await startServer()
    standby = await startStandby(primary, 'standby')
    service = await startService({
      databaseUrl: primary.url,
      callers: [alice.entry, bob.entry],
      env: { DATABASE_READ_URL: standby.url },
    })
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
  })

  async function execute(): Promise<string> {
    const transaction = aTransaction()
    expect((await service.post('/execute', transaction, alice)).status).toBe(200)
    return transaction.businessTransactionId
  }
  const exported = async (caller = alice): Promise<string[]> => {
    const { status, body } = await service.get('/trust-records', caller)
    expect(status).toBe(200)
    return (body as { businessTransactionId: string }[]).map((record) => record.businessTransactionId)
  }

  test('shows what the replica has replayed, to its owner alone, and single reads are not behind', async () => {
    const first = await execute()
    await until(async () => (await exported()).includes(first), 'the replica to have it')
    expect(await exported(bob)).toEqual([])

    await standby.run('SELECT pg_wal_replay_pause()')
    const second = await execute()
    expect(await exported()).toEqual([first])
    expect((await service.get(`/trust-records/${second}`, alice)).status).toBe(200)
    await standby.run('SELECT pg_wal_replay_resume()')
    await until(async () => (await exported()).includes(second), 'the replica to have it too')
    expect(await exported()).toEqual([second, first])
  })

  test('answers 503 while the replica is away; the rest of the service does not notice', async () => {
    await standby.stop('fast')
    expect(reply(await service.get('/trust-records', alice))).toEqual({
      status: 503,
      body: { error: 'Database unavailable. Nothing was executed.', code: 'DATABASE_UNAVAILABLE' },
    })
    const id = await execute()
    for (const path of [`/trust-records/${id}`, '/transactions', '/ready'])
      expect((await service.get(path, alice)).status, path).toBe(200)
    const isLogged = () =>
      service.lines().some(({ status, path }) => status === 503 && path === '/trust-records')
    await until(isLogged, 'the line of the 503')

    await standby.start()
    await until(async () => (await service.get('/trust-records', alice)).status === 200, 'the replica')
    await until(async () => (await exported()).includes(id), 'the replica to catch up')
  })
})
