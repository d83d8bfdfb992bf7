// Instances on one database at the same moment: at their start, and for the same id.
import { expect, test } from 'vitest'
import { readPolicyVersions } from '../../src/store/tables/policy-versions.ts'
import { readStored } from '../evidence.ts'
import { aCountedTransaction, openFleet } from './instances.ts'

// proves fault: Several instances start at the same
test('three that start at once on an empty database: one migrates and approves what is there, all are ready', async () => {
  const fleet = await openFleet('template0')
  const instances = await Promise.all([fleet.start(), fleet.start(), fleet.start()])
  const { pool } = fleet.database
  const { rows: migrations } = await pool.query<{ times: number }>(
    'SELECT count(DISTINCT name)::integer AS times FROM countersign_migrations',
  )
  expect(migrations[0]?.times).toBeGreaterThan(0)
  const policies = await readPolicyVersions(pool)
  expect(policies.filter(({ approvedBy }) => approvedBy !== 'genesis')).toEqual([])
  expect(policies.map(({ name }) => name)).toEqual(['counted', 'sandbox-echo'])
  for (const instance of instances) {
    expect((await instance.get('/ready')).body).toMatchObject({ status: 'READY' })
    expect(await instance.stop()).toBe(0)
  }
})

// proves fault: The same id is posted
test('the same id posted to all at once, many times: one 200, the others 409, one call outside', async () => {
  const fleet = await openFleet()
  const instances = await fleet.startThree()
  for (let round = 0; round < 20; round++) {
    const transaction = aCountedTransaction({ delayMs: 20 })
    const id = transaction.businessTransactionId
    const answers = await Promise.all(
      [...instances, ...instances].map((instance) => instance.post('/execute', transaction)),
    )
    const others = answers.filter(({ status }) => status !== 200)
    expect(others.map(({ status }) => status)).toEqual([409, 409, 409, 409, 409])
    expect(fleet.receiver.calls.get(id)).toBe(1)
    const executed = answers.find(({ status }) => status === 200)
    for (const instance of instances)
      expect((await instance.get(`/trust-records/${id}`)).text).toBe(executed?.text)
  }
  const { recorded } = await readStored(fleet.database.pool)
  expect(recorded).toEqual(new Set(fleet.receiver.calls.keys()))
})
