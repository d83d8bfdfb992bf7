// Statements that travel together: what PostgreSQL is told, byte for byte, and that they happen together or not at all.
import { randomUUID } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendBundle, type Step } from '../../src/tables/bundle.ts'
import type { Parameter } from '../../src/tables/messages.ts'
import { stepsOf, type RowsStatement } from '../../src/tables/rows.ts'
import { isTaken, openPool } from '../../src/tables/sql.ts'
import { inTransaction } from '../../src/tables/transaction.ts'
import { createDatabase, type TestDatabase } from '../database.ts'

let database: TestDatabase
let pool: Pool
beforeAll(async () => {
  database = await createDatabase()
  await database.pool.query('CREATE TABLE said (id uuid PRIMARY KEY, text text, number integer)')
  pool = openPool(database.url, 2)
})
afterAll(async () => {
  await pool.end()
  await database.drop()
})

interface Said {
  readonly id: string
  readonly text: string | null
  readonly number: number | null
}

const say: RowsStatement<Said> = {
  name: 'said_insert',
  text: 'INSERT INTO said (id, text, number) VALUES $rows RETURNING id, text, number',
  types: ['uuid', 'text', 'integer'],
  values: ({ id, text, number }) => [id, text, number],
}
const unnamed = (text: string, ...row: Parameter[]): Step => ({ name: '', text, rows: [row] })
const saying = (text: string | null, number: number | null = null): Said => ({
  id: randomUUID(),
  text,
  number,
})
const stored = async ({ id }: Said) =>
  (await database.pool.query<Said>('SELECT id, text, number FROM said WHERE id = $1', [id])).rows[0]

describe('parameters', () => {
  test.each([
    ['nothing', null],
    ['no text', ''],
    ['forty letters, and one more', 'a'.repeat(41)],
    ['letters of two bytes, three and four', 'äöü € 😀'],
    ['more of them than fit into forty bytes', 'é€😀'.repeat(13)],
    ['one behind forty others', `${'a'.repeat(39)}é`],
    ['what looks like the protocol', 'S\x01\x04 $1 \\ \' " COMMIT'],
    ['more than a buffer holds', 'x'.repeat(300_000)],
    ['three bytes for each letter, more than a buffer holds', '€'.repeat(200_000)],
  ])('%s', async (_, text) => {
    const row = saying(text, text === null ? null : -1 - text.length)
    const [returned] = await inTransaction(pool, (transaction) => transaction.run(stepsOf(say, [row])))
    expect(returned).toEqual([row.id, row.text, row.number === null ? null : String(row.number)])
    expect(await stored(row)).toEqual(row)
  })

  test('of any number of rows, in statements of fixed sizes', async () => {
    for (const count of [0, 1, 2, 3, 127, 128, 129, 300]) {
      const rows = Array.from({ length: count }, (_, i) => saying(`${i} of ${count}`, i))
      const returned = await inTransaction(pool, (transaction) => transaction.run(stepsOf(say, rows)))
      expect(returned.map(([id]) => id)).toEqual(rows.map(({ id }) => id))
    }
  })

  test('of many transactions at once do not mix, although their buffers are used again', async () => {
    const rows = Array.from({ length: 200 }, (_, i) =>
      saying(String.fromCodePoint(97 + (i % 26)).repeat(i * 500), i),
    )
    await Promise.all(
      rows.map((row) => inTransaction(pool, (transaction) => transaction.runLast(stepsOf(say, [row])))),
    )
    for (const row of rows) expect(await stored(row)).toEqual(row)
  })
})

describe('a transaction', () => {
  const failing = unnamed('SELECT 1 / $1::integer', 0)

  test('takes one round trip for what is sent with its COMMIT, two for what it waits for', async () => {
    const counted = openPool(database.url, 1)
    let trips = 0
    counted.on('connect', (client) => {
      const { connection } = client as unknown as { connection: EventEmitter }
      connection.on('readyForQuery', () => trips++)
    })
    await counted.query('SELECT 1')
    const tripsOf = async (work: Parameters<typeof inTransaction>[1]) => {
      const before = trips
      await inTransaction(counted, work)
      return trips - before
    }
    expect(await tripsOf((transaction) => transaction.runLast(stepsOf(say, [saying('last')])))).toBe(1)
    expect(
      await tripsOf(async (transaction) => {
        await transaction.run(stepsOf(say, [saying('first')]))
        transaction.runLast(stepsOf(say, [saying('last')]))
      }),
    ).toBe(2)
    expect(await tripsOf(() => undefined), 'of nothing').toBe(0)
    await counted.end()
  })

  test('is undone by a statement that fails, wherever it stands', async () => {
    const [first, second] = [saying('first'), saying('second')]
    const works: Parameters<typeof inTransaction>[1][] = [
      (transaction) => transaction.run([...stepsOf(say, [first]), failing, ...stepsOf(say, [second])]),
      (transaction) => transaction.run([failing, ...stepsOf(say, [first, second])]),
      async (transaction) => {
        await transaction.run(stepsOf(say, [first]))
        transaction.runLast([...stepsOf(say, [second]), failing])
      },
      async (transaction) => {
        await transaction.query('SELECT 1')
        await transaction.run(stepsOf(say, [first]))
        await Promise.all([transaction.run([failing]), transaction.run(stepsOf(say, [second]))])
      },
    ]
    for (const work of works) {
      await expect(inTransaction(pool, work)).rejects.toMatchObject({ code: '22012' })
      expect([await stored(first), await stored(second)]).toEqual([undefined, undefined])
    }
  })

  test('fails where something in it has failed that nobody spoke of: its COMMIT undoes it', async () => {
    const row = saying('lost')
    const work = inTransaction(pool, async (transaction) => {
      await transaction.run(stepsOf(say, [row]))
      await transaction.query('SELECT nothing').catch(() => undefined)
    })
    await expect(work).rejects.toThrow('the transaction was rolled back')
    expect(await stored(row)).toBeUndefined()
  })

  test('of which BEGIN fails runs nothing', async () => {
    const row = saying('alone')
    const client = await pool.connect()
    const begin: Step = { name: '', text: 'BEGIN ISOLATION LEVEL nonsense', rows: [] }
    await expect(sendBundle(client, [begin, ...stepsOf(say, [row])])).rejects.toMatchObject({ code: '42601' })
    client.release(true)
    expect(await stored(row)).toBeUndefined()
  })

  test('says what it violates, and the next one on the pool is none the worse', async () => {
    const row = saying('twice')
    const insert = () => inTransaction(pool, (transaction) => transaction.runLast(stepsOf(say, [row])))
    await insert()
    expect(await insert().catch(isTaken)).toBe(true)
    await inTransaction(pool, (transaction) => transaction.runLast(stepsOf(say, [saying('after')])))
    expect(await stored(row)).toEqual(row)
  })
})
