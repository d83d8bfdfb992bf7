// The connections that routes read by, shared out between clients.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openPool } from '../../src/store/postgres/sql.ts'
import { inSnapshot } from '../../src/store/postgres/transaction.ts'
import { openReads, TooManyReads } from '../../src/server/http/gates/reads.ts'
import { watchEvents } from '../../src/server/watch/events.ts'
import { createDatabase, type TestDatabase } from '../database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

function aPool(connections: number) {
  const pool = openPool(database.url, connections)
  onTestFinished(() => pool.end())
  return pool
}

const SLOW = 'SELECT pg_sleep(0.3)'

describe('a client with many slow reads', () => {
  // proves abuse: One caller asks for
  test('leaves a connection to others, and is told of it where its reads wait too long for each other', async () => {
    const readsOf = openReads(aPool(4), 3)
    const endings: string[] = []
    const many = Array.from({ length: 60 }, () =>
      readsOf('one')
        .query(SLOW)
        .then(
          () => 'read',
          (error: unknown) => (error instanceof TooManyReads ? 'refused' : String(error)),
        )
        .then((ending) => endings.push(ending)),
    )
    await readsOf('another').query('SELECT 1')
    expect(endings.length).toBeLessThanOrEqual(3)
    await Promise.all(many)
    expect(new Set(endings)).toEqual(new Set(['read', 'refused']))
    expect((await readsOf('one').query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  })

  test('holds its share by transactions too, until they end', async () => {
    const readsOf = openReads(aPool(2), 1)
    const order: string[] = []
    const slow = inSnapshot(readsOf('one'), async (sql) => {
      await sql.query(SLOW)
      order.push('transaction')
    })
    const behind = readsOf('one')
      .query('SELECT 1')
      .then(() => order.push('behind it'))
    await readsOf('another').query('SELECT 1')
    order.push('another')
    await Promise.all([slow, behind])
    expect(order).toEqual(['another', 'transaction', 'behind it'])
  })

  test('gives its share back where a read fails', async () => {
    const readsOf = openReads(aPool(2), 1)
    await expect(readsOf('one').query('SELECT 1 / 0')).rejects.toThrow('division by zero')
    await expect(inSnapshot(readsOf('one'), (sql) => sql.query('SELECT 1 / 0'))).rejects.toThrow('division')
    expect((await readsOf('one').query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  })
})

describe('pages of events', () => {
  // An event that many follow wakes all of them: they must not fill the connections, nor wait there.
  test('are read two at a time, however many clients ask, and no client waits behind all pages of another', async () => {
    const pool = aPool(4)
    const { read } = watchEvents(pool, { stopping: () => false })
    let [running, most] = [0, 0]
    const order: string[] = []
    const page = (client: string) =>
      read(client, async () => {
        most = Math.max(most, ++running)
        await pool.query('SELECT pg_sleep(0.01)')
        running--
        order.push(client)
      })
    const many = Array.from({ length: 50 }, () => page('one'))
    await Promise.all([...many, ...Array.from({ length: 20 }, (_, i) => page(`other ${i}`))])
    expect(most).toBe(2)
    expect(order.indexOf('other 19')).toBeLessThan(30)
  })
})
