// Where entries are, with what a proof of them needs: by one statement, of the rows of these entries alone.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tileReader } from '../../src/store/tables/log-tiles.ts'
import { latestCheckpoint } from '../../src/store/tables/log-checkpoints.ts'
import { openBundles, placeEntries } from '../../src/store/tables/log-places.ts'
import { unlogged } from '../../src/store/tables/log-queue.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import { aLog, anEntry, queue, settle, type TestLog } from './log.ts'

let log: TestLog
const batches: string[] = []
const hashes: string[] = []
beforeAll(async () => {
  log = await aLog()
  for (let i = 0; i < 300; i++) {
    const entry = anEntry()
    hashes.push(entry.hash)
    batches.push(await queue(log.pool, [entry]))
  }
  await settle(log)
})
afterAll(() => log.close())

const at = (logBatch: string, logOrdinal = 0) => ({ logBatch, logOrdinal })

test('entries of a full bundle and of the tail are found in the order that was asked for, under the newest checkpoint', async () => {
  const positions = [
    at(batches[299]!),
    undefined,
    at(batches[0]!),
    unlogged,
    at(randomUUID()),
    at(batches[7]!),
  ]
  const places = await placeEntries(log.pool, positions, undefined)
  expect(places.map((place) => place?.index)).toEqual([299, undefined, 0, undefined, undefined, 7])
  const { size, note } = (await latestCheckpoint(log.pool))!
  for (const place of places) if (place) expect(place.checkpoint).toEqual({ size, note })
  const bundles = openBundles(places.filter((place) => place !== undefined))
  for (const index of [299, 0, 7])
    expect(Buffer.from(bundles.entryAt(index)!).toString()).toContain(` ${hashes[index]} `)
  expect(bundles.entryAt(size)).toBeUndefined()
  expect(bundles.entryAt(10_000)).toBeUndefined()
})

test('tiles over them are those that are stored, whole and in part, without a statement; others are read', async () => {
  const places = await placeEntries(log.pool, [at(batches[0]!), at(batches[299]!)], undefined)
  const bundles = openBundles(places.filter((place) => place !== undefined))
  const read = tileReader(log.pool, 1)
  const near = [
    { level: 0, n: 0, width: 256 },
    { level: 0, n: 0, width: 9 },
    { level: 0, n: 1, width: 44 },
  ]
  const unread = bundles.tiles(() => Promise.reject(new Error('read')))
  expect((await unread(near)).map(hex)).toEqual((await read(near)).map(hex))
  const far = { level: 1, n: 0, width: 1 }
  const all = [near[0]!, far, near[2]!]
  expect((await bundles.tiles(read)(all)).map(hex)).toEqual((await read(all)).map(hex))
  // Wider than the tail: whoever reads all says that it is missing.
  await expect(bundles.tiles(read)([{ level: 0, n: 1, width: 200 }])).rejects.toThrow(
    'missing or not as wide as the tree',
  )
})

test('one entry is found by its index, however many commits the log has', async () => {
  await log.pool.query('ANALYZE')
  let text = ''
  const recorder: Sql = {
    query(statement, values) {
      if (typeof statement === 'object') text = statement.text
      return log.pool.query(statement as string, values)
    },
  }
  await placeEntries(recorder, [at(batches[3]!)], undefined)
  const client = await log.pool.connect()
  try {
    await client.query(`SET plan_cache_mode = force_generic_plan`)
    await client.query(`PREPARE one_place AS ${text}`)
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN EXECUTE one_place ('{${batches[3]}}', '{0}')`,
    )
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    expect(plan).toMatch(/Index Scan using log_batches_pkey on log_batches[^\n]*\n *Index Cond: \(batch = /)
    expect(plan).not.toMatch(/Hash|Merge Join|Seq Scan/)
  } finally {
    client.release(true)
  }
})

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
