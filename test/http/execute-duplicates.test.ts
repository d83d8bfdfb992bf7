// One id, many requests at once: exactly one executes, on one instance and on two (interface §7 "Idempotency").
import { describe, expect, test } from 'vitest'
import { rowsOf, type TestDatabase } from '../database.ts'
import type { TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

const REQUESTS = 200

let database: TestDatabase
let one: TestService
let other: TestService

withDatabase(async ({ database: made, start }) => {
  database = made
  one = await start({ env: { WORKER_THREADS: '2' } })
  other = await start({
    signingKeyDir: one.signingKeyDir,
    key: one.key,
    env: { WORKER_THREADS: '2' },
  })
})

/** Statuses by how often they were answered. */
function counted(answers: readonly { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

describe.each([
  ['one instance', () => [one]],
  ['two instances on one database', () => [one, other]],
])(`${REQUESTS} posts of one id to %s`, (_title, services) => {
  // proves §7 Idempotency `businessTransactionId` is the idempotency; §7 Idempotency Authorization nonces and approval
  test.each([
    ['connector that answers at once', {}],
    ['connector that takes a while', { delayMs: 200 }],
  ])('execute once, with a %s', async (_connector, more) => {
    const transaction = aTransaction({ intent: { parameters: { amount: 42, ...more } } })
    const id = transaction.businessTransactionId
    const share = { length: REQUESTS / services().length }
    const answers = await Promise.all(
      services().flatMap((service) => Array.from(share, () => service.post('/execute', transaction))),
    )
    expect(counted(answers)).toEqual({ 200: 1, 409: REQUESTS - 1 })
    // The connector is called for a released intent only, and there is one; what it answered stands in the one record.
    expect(await rowsOf(database, id)).toEqual({
      business_transactions: 1,
      execution_intents: 1,
      trust_records: 1,
      verifications: 1,
      receipts: 1,
      refusal_records: 0,
    })
    const executed = answers.find((answer) => answer.status === 200)
    expect((await one.get(`/trust-records/${id}`)).text).toBe(executed?.text)
  })
})

test('many ids, each posted to both instances at once and in different orders: each executes once, and nobody waits for ever', async () => {
  const transactions = Array.from({ length: 100 }, () => aTransaction())
  const answers = await Promise.all([
    ...transactions.map((transaction) => one.post('/execute', transaction)),
    ...transactions.toReversed().map((transaction) => other.post('/transactions', transaction)),
  ])
  const { 200: byOne = 0, 201: byOther = 0, ...rest } = counted(answers)
  expect(byOne + byOther).toBe(transactions.length)
  expect(rest).toEqual({ 409: transactions.length })
})
