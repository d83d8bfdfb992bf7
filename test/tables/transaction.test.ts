// Pipelined batches of statements: the bytes that PostgreSQL gets, and that the statements happen together or not at all.
import { randomUUID } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import { Writable } from 'node:stream'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  asText,
  asTextOrNull,
  sendStatements,
  type Returns,
  type Statement,
} from '../../src/store/postgres/statement-batch.ts'
import { WireMessages, type Parameter } from '../../src/store/postgres/wire-messages.ts'
import { overRows } from '../../src/store/postgres/rows.ts'
import { classify } from '../../src/store/postgres/sql-errors.ts'
import { inTransaction, type Transaction } from '../../src/store/postgres/transaction.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { patientPool } from '../patient-pool.ts'

let database: TestDatabase
let pool: Pool
beforeAll(async () => {
  database = await createDatabase()
  await database.pool.query('CREATE TABLE said (id uuid PRIMARY KEY, text text, number integer)')
  pool = patientPool(database.url, 2)
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

const say = overRows<Said, { id: string; said: string | null; count: string | null }>({
  name: 'said_insert',
  text: 'INSERT INTO said ($columns) VALUES $rows RETURNING id, text, number',
  columns: {
    id: ['uuid', ({ id }) => id],
    text: ['text', ({ text }) => text],
    number: ['integer', ({ number }) => number],
  },
  returns: { id: asText, said: asTextOrNull, count: asTextOrNull },
})
const stepOf = (text: string, ...row: Parameter[]): Statement => ({ name: text, text, rows: [row] })
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
    ['one behind thirty-nine others', `${'a'.repeat(39)}é`],
    ['what looks like the protocol', 'S\x01\x04 $1 \\ \' " COMMIT'],
    ['more than a buffer holds', 'x'.repeat(300_000)],
    ['three bytes for each letter, more than a buffer holds', '€'.repeat(200_000)],
  ])('%s', async (_, text) => {
    const row = saying(text, text === null ? null : -1 - text.length)
    const [returned] = await inTransaction(pool, (transaction) => transaction.run(say([row])))
    const count = row.number === null ? null : String(row.number)
    expect(returned).toEqual([{ id: row.id, said: row.text, count }])
    expect(await stored(row)).toEqual(row)
  })

  test('of any number of rows, in statements of fixed sizes', async () => {
    for (const count of [0, 1, 2, 3, 127, 128, 129, 300]) {
      const rows = Array.from({ length: count }, (_, i) => saying(`${i} of ${count}`, i))
      const returned = await inTransaction(pool, (transaction) => transaction.run(say(rows)))
      expect(returned.flat().map(({ id }) => id)).toEqual(rows.map(({ id }) => id))
    }
  })
})

describe('messages', () => {
  const chunks: Buffer[] = []
  const written: (() => void)[] = []
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk)
      written.push(done)
    },
  })
  const send = (text: string) => {
    const messages = new WireMessages()
    messages.bind('', [[text]])
    messages.send(stream)
  }

  test('are left alone until they are written, and then their buffer is used again', () => {
    send('first')
    const [first] = chunks
    const bytes = Buffer.from(first as Buffer)
    send('second')
    expect(first).toEqual(bytes)
    written.shift()?.()
    send('third')
    written.shift()?.()
    written.shift()?.()
    expect(chunks.map(({ buffer }) => buffer === first?.buffer)).toEqual([true, false, true])
    expect(first, 'written over by the third').not.toEqual(bytes)
  })

  test('of any size find their room, also at the end of a buffer', () => {
    for (const length of [
      ...Array.from({ length: 70 }, (_, i) => 256 * 1024 - 40 + i - 35),
      600_000,
      1_100_000,
    ]) {
      const messages = new WireMessages()
      expect(() => messages.parse('', 'x'.repeat(length))).not.toThrow()
      messages.sync()
    }
  })

  test('carry as many parameters as PostgreSQL takes', async () => {
    const list = Array.from({ length: 65_535 }, (_, i) => `$${i + 1}::integer`).join(', ')
    const rows = Array.from({ length: 65_535 }, () => [1])
    const text = `SELECT num_nonnulls(VARIADIC ARRAY[${list}])`
    const sum = { name: 'sum', text, rows, returns: { sum: asText } }
    expect(await inTransaction(pool, (transaction) => transaction.run([sum]))).toEqual([[{ sum: '65535' }]])
  })
})

test('a statement over rows states its columns once: in its text they stand where it says', () => {
  const rows = [saying('first'), saying('second', 2)]
  expect(say(rows)).toMatchObject([
    {
      name: 'said_insert_2',
      text: `INSERT INTO said (id, text, number) VALUES ($1::uuid, $2::text, $3::integer), ($4::uuid, $5::text, $6::integer) RETURNING id, text, number`,
      rows: rows.map(({ id, text, number }) => [id, text, number]),
    },
  ])
})

const run = (...statements: Statement<unknown>[]) =>
  inTransaction(pool, (transaction) => transaction.run(statements))
const selecting = (text: string, returns?: Returns<Record<string, unknown>>): Statement<unknown> => ({
  name: text,
  text,
  rows: [],
  returns,
})

describe('the rows that statements return', () => {
  test('are those of each statement, in the order of the statements', async () => {
    const [none, two, one] = [
      selecting('SELECT 1 WHERE false', { one: asText }),
      selecting("SELECT * FROM (VALUES ('a', NULL), ('b', 'c')) AS v", {
        first: asText,
        second: asTextOrNull,
      }),
      selecting('SELECT 2 > 1', { isTrue: (field: string | null) => field === 't' }),
    ]
    expect(await run(none, two, selecting('SET LOCAL work_mem = 64'), one)).toEqual([
      [],
      [
        { first: 'a', second: null },
        { first: 'b', second: 'c' },
      ],
      [],
      [{ isTrue: true }],
    ])
  })

  test.each([
    ['none of its columns', 'SELECT 1 AS one', undefined, 'states 0 columns, and its row has 1'],
    ['a column too few', 'SELECT 1, 2', { one: asText }, 'states 1 columns, and its row has 2'],
    ['a column too many', 'SELECT 1', { one: asText, two: asText }, 'states 2 columns, and its row has 1'],
    ['text where there is none', 'SELECT NULL::text', { one: asText }, 'null in a column that is never null'],
  ])('undo the transaction of a statement that states %s', async (_, text, returns, message) => {
    const row = saying('undone')
    await expect(run(...say([row]), selecting(text, returns))).rejects.toThrow(message)
    expect(await stored(row)).toBeUndefined()
  })
})

test('parameters that cannot be sent fail their batch as anything else does', async () => {
  const client = await pool.connect()
  const rows = Array.from({ length: 65_536 }, () => [1])
  // Not thrown: the promise is what pg's time-out rejects later, once more, and nobody would hold it.
  const sent = sendStatements(client, [{ name: 'many', text: 'SELECT 1', rows }])
  await expect(sent).rejects.toThrow(RangeError)
  client.release(true)
})

describe('a transaction', () => {
  const failing = stepOf('SELECT 1 / $1::integer', 0)

  test('takes one round trip for what is sent with its COMMIT, two for what it waits for', async () => {
    const counted = patientPool(database.url, 1)
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
    expect(await tripsOf((transaction) => transaction.runLast(say([saying('last')])))).toBe(1)
    expect(
      await tripsOf(async (transaction) => {
        await transaction.run(say([saying('first')]))
        transaction.runLast(say([saying('last')]))
      }),
    ).toBe(2)
    expect(await tripsOf(() => undefined), 'of nothing').toBe(0)
    await counted.end()
  })

  test('is undone by a statement that fails, wherever it stands', async () => {
    const [first, second] = [saying('first'), saying('second')]
    const works: Parameters<typeof inTransaction>[1][] = [
      (transaction) => transaction.run([...say([first]), failing, ...say([second])]),
      (transaction) => transaction.run([failing, ...say([first, second])]),
      async (transaction) => {
        await transaction.run(say([first]))
        transaction.runLast([...say([second]), failing])
      },
      async (transaction) => {
        await transaction.query('SELECT 1')
        await transaction.run(say([first]))
        await Promise.all([transaction.run([failing]), transaction.run(say([second]))])
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
      await transaction.run(say([row]))
      await transaction.query('SELECT nothing').catch(() => undefined)
    })
    await expect(work).rejects.toThrow('the transaction was rolled back')
    expect(await stored(row)).toBeUndefined()
  })

  test('takes statements in the order in which they are sent, whichever way', async () => {
    const order: string[] = []
    const noted = (name: string) => () => void order.push(name)
    const select = { ...stepOf('SELECT 1'), returns: { one: asText } }
    await inTransaction(pool, (transaction) =>
      Promise.all([
        transaction.query('SELECT 1').then(noted('a')),
        transaction.query('SELECT 1').then(noted('b')),
        transaction.run([select]).then(noted('c')),
        transaction.query('SELECT 1').then(noted('d')),
      ]),
    )
    expect(order).toEqual(['a', 'b', 'c', 'd'])
  })

  test('takes nothing more when it has ended: the connection is somebody else’s', async () => {
    let kept: Transaction | undefined
    await inTransaction(pool, async (transaction) => {
      kept = transaction
      await transaction.query('SELECT 1')
    })
    await expect(kept?.query('SELECT 1')).rejects.toThrow('has ended')
    await expect(kept?.run([])).rejects.toThrow('has ended')
    expect(() => kept?.runLast([])).toThrow('has ended')
  })

  test('of which BEGIN fails runs nothing', async () => {
    const row = saying('alone')
    const client = await pool.connect()
    const begin = stepOf('BEGIN ISOLATION LEVEL nonsense')
    await expect(sendStatements(client, [begin, ...say([row])])).rejects.toMatchObject({
      code: '42601',
    })
    client.release(true)
    expect(await stored(row)).toBeUndefined()
  })

  test('says what it violates, and the next one on the pool is none the worse', async () => {
    const row = saying('twice')
    const insert = () => inTransaction(pool, (transaction) => transaction.runLast(say([row])))
    await insert()
    expect(await insert().catch(classify)).toEqual({ kind: 'taken' })
    await inTransaction(pool, (transaction) => transaction.runLast(say([saying('after')])))
    expect(await stored(row)).toEqual(row)
  })
})
