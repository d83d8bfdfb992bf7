// The claim and the store of a batch are a message each. Wherever the connection breaks inside of one of them, or of its answer, the batch is
// executed once and recorded once.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '../database.ts'
import { readStored } from '../evidence.ts'
import type { ExecutionContext } from '../../workers/execute/index.ts'
import { aTransaction } from '../transactions.ts'
import { cutMessages, type Cut, type CutMessages } from './cut-messages.ts'
import { executeAll, openThread } from './thread.ts'

/** The distance between two cuts, in bytes. `CUT_STEP=1 npx vitest run test/pipeline/cut-messages.test.ts --test-timeout 3600000` cuts at each. */
const { CUT_STEP } = process.env
const STEPS = { message: Number(CUT_STEP ?? 149), answer: Number(CUT_STEP ?? 7) }

let database: TestDatabase
let proxy: CutMessages
let thread: ExecutionContext
beforeAll(async () => {
  database = await createDatabase()
  proxy = await cutMessages(database.url)
  thread = openThread(proxy.url)
})
afterAll(async () => {
  await thread.pool.end()
  await proxy.close()
  await database.drop()
})

const statusesOf = async (batch: readonly object[]) =>
  (await executeAll(batch, thread)).map(({ status }) => status)

/** @returns whether anything was lost */
async function executeWith(cut: Cut): Promise<boolean> {
  const batch = [aTransaction(), aTransaction()]
  proxy.cutNext(cut)
  expect(await statusesOf(batch), JSON.stringify(cut)).toEqual([200, 200])
  return proxy.size() > cut.bytes
}

describe.each([
  ['the claim', 1],
  ['the store', 2],
])('%s', (_, message) => {
  // proves fault: The connection is lost inside of a message
  test.each(['message', 'answer'] as const)('its %s is cut anywhere', async (of) => {
    let bytes = 0
    while (await executeWith({ message, of, bytes })) bytes += STEPS[of]
    expect(bytes).toBeGreaterThan(0)
  })
})

test('nothing was left over, and nothing stands twice', async () => {
  const { claimed, recorded, inDoubt } = await readStored(database.pool)
  expect(inDoubt).toEqual(new Set())
  expect(recorded).toEqual(claimed)
  const { rows } = await database.pool.query<{ twice: number }>(
    `SELECT count(*)::integer AS twice FROM (SELECT FROM receipts GROUP BY business_transaction_id HAVING count(*) > 1) AS repeated`,
  )
  expect(rows).toEqual([{ twice: 0 }])
})
