// countersign fsck on a record that gathered far more than others: all of its lists are checked, not what its reply holds.
import { expect, test } from 'vitest'
import type { TestDatabase } from '../database.ts'
import type { TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { checked } from './mix.ts'
import { withDatabase } from '../with-service.ts'

let database: TestDatabase
let service: TestService
let id: string

withDatabase(async ({ database: made, start }) => {
  database = made
  service = await start()
  const { status, body } = await service.post('/execute', aTransaction())
  expect(status).toBe(200)
  id = body.businessTransactionId
  const asked = { businessTransactionId: id }
  for (let n = 0; n < 3; n++) expect((await service.post('/receipt', asked)).status).toBe(200)
  await database.pool.query(
    `INSERT INTO appended_verifications (business_transaction_id, ordinal, body)
     SELECT business_transaction_id, n, replace(body, body::jsonb ->> 'verificationId', gen_random_uuid()::text)
     FROM verifications, generate_series(2, 54000) AS n WHERE ordinal = 1`,
  )
})

test('54,000 verifications of one record hold', async () => {
  const { lines, summary } = await checked(database, service.signingKeyDir)
  expect(lines).toEqual([])
  expect(summary).toMatchObject({ problems: 0, rows: { verifications: 54_000, receipts: 4 } })
})

test('one that is changed far behind the newest 100 is found', async () => {
  await database.pool.query(
    `UPDATE appended_verifications SET body = replace(body, '"VERIFIED"', '"UNKNOWN"') WHERE ordinal = 20000`,
  )
  const { lines } = await checked(database, service.signingKeyDir)
  expect(lines).toHaveLength(1)
  expect(JSON.stringify(lines)).toContain(`${id} 20000`)
})
