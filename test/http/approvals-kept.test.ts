// Signed approvals when the database goes before the claim (decisions §7): nothing was executed, so nothing is used up.
import { afterAll, expect, test } from 'vitest'
import { aHuman, anApprover, aSignedApproval, enrolled } from '../authority.ts'
import type { TestDatabase } from '../database.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { openDatabaseProxy, type DatabaseProxy } from '../proxy.ts'
import { until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

const humans = { maker: aHuman('maker'), checker: aHuman('checker') }
const alice = anApprover('alice')
const policyDir = aPolicyFolder()
addPolicy(policyDir, {
  name: 'by-one',
  version: '1.0.0',
  capability: 'sandbox:echo',
  verify: { approved: { by: 'approval', quorum: 1 } },
})

let database: TestDatabase
let proxy: DatabaseProxy
let service: TestService

withDatabase(async ({ database: made, start }) => {
  database = made
  proxy = await openDatabaseProxy(database.url)
  service = await start({
    databaseUrl: proxy.url,
    callers: [humans.maker.entry, humans.checker.entry],
    env: { POLICY_DIR: policyDir },
  })
  await enrolled(service, humans, alice)
})

afterAll(async () => {
  await proxy.cut()
})

// proves abuse: Burning an approval without an execution
test('a claim that waits and then loses its database is a 503, the approval stays unused, and the same id is executed later', async () => {
  const approval = aSignedApproval(alice)
  expect((await service.post('/approvals', approval)).status).toBe(201)
  const transaction = aTransaction({ policy: { name: 'by-one' } })

  const holder = await database.pool.connect()
  await holder.query('BEGIN; LOCK TABLE released_batches IN EXCLUSIVE MODE')
  const answer = service.post('/execute', transaction)
  await until(async () => {
    const { rowCount } = await database.pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
         AND query LIKE '%INSERT INTO released_batches%'`,
    )
    return rowCount === 1
  }, 'the claim to wait')
  await proxy.cut()
  expect(await answer).toMatchObject({ status: 503, body: { code: 'DATABASE_UNAVAILABLE' } })
  await holder.query('ROLLBACK')
  holder.release()
  await proxy.mend()

  const path = `/approvals/${approval.payload['approvalId'] as string}`
  const standing = () => service.get(path, { key: humans.maker.key })
  const { body } = await until(
    async () => standing().then((reply) => (reply.status === 200 ? reply : undefined)),
    'the database to be back',
  )
  expect(body.status).toBe('UNUSED')
  const executed = await until(
    async () =>
      service.post('/execute', transaction).then((reply) => (reply.status === 503 ? undefined : reply)),
    'the execution',
  )
  expect(executed.status).toBe(200)
  expect((await standing()).body).toMatchObject({
    status: 'USED',
    consumedBy: transaction.businessTransactionId,
  })
})
