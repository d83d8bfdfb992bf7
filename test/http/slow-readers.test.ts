// Large replies that their client does not read: they take room, and are not made for it when there is none (src/server/http/gates/book.ts).
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import trustRecord from '../../src/server/openapi/examples/trust-record.json' with { type: 'json' }
import type { TestDatabase } from '../database.ts'
import { lineOf, reply, until, type TestService } from '../service.ts'
import { withDatabase } from '../with-service.ts'

const { transaction } = trustRecord
const PAGE = '/transactions?pageSize=100'

let database: TestDatabase
let service: TestService
let silent: Socket[] = []

withDatabase(async ({ database: made, start }) => {
  database = made
  service = await start()
  // A page of 10 MB: pages end at 4 MiB, but a larger item stands on one alone.
  const body = { ...transaction, intent: { ...transaction.intent, target: 'x'.repeat(10_000_000) } }
  for (const text of [transaction, body].map((value) => JSON.stringify(value)))
    await database.pool.query(
      `INSERT INTO business_transactions (business_transaction_id, caller_id, created_at, body)
      SELECT gen_random_uuid(), 'tester', now(), $1::text`,
      [text],
    )
})

afterAll(() => {
  for (const socket of silent) socket.destroy()
})

/** Asks for the page, and reads its first bytes and no more. */
async function askAndStall(): Promise<Socket> {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  silent.push(socket)
  await once(socket, 'connect')
  socket.write(`GET ${PAGE} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.key}\r\n\r\n`)
  await once(socket, 'readable')
  return socket
}

const OVERLOADED = {
  status: 503,
  body: { error: 'Service overloaded. Try again later.', code: 'OVERLOADED' },
}

describe('GET /transactions 503 overloaded', () => {
  // proves fault: A client asks for much
  test('while one page of 10 MB is unread a second one does not fit into the share of its caller', async () => {
    const stalled = await askAndStall()
    const refused = await service.get(PAGE)
    expect(reply(refused)).toEqual(OVERLOADED)
    expect(await lineOf(service, refused)).toMatchObject({ gate: 'client-share' })
    expect((await service.get('/transactions?pageSize=1&page=2')).status).toBe(200)

    stalled.destroy()
    const page = await until(async () => {
      const answer = await service.get(PAGE)
      return answer.status === 200 ? answer : undefined
    }, 'room again after the client went away')
    expect(page.body).toHaveLength(1)
  })

  test('a client that reads it all gives the room back', async () => {
    for (let i = 0; i < 4; i++) {
      await until(async () => (await service.get(PAGE)).status === 200, 'the room of the page before')
    }
    silent = silent.filter((socket) => !socket.destroyed)
    expect(silent).toEqual([])
  })
})
