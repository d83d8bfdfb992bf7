// A queue that has grown while nobody took from it: it is worked off a bounded piece at a time, and executions go on.
import { expect, test } from 'vitest'
import { parseEntry } from '../../src/formats/log/entry.ts'
import { ROWS_MAX } from '../../src/store/tables/log-queue.ts'
import { readLogStatus } from '../../src/store/tables/log-state.ts'
import { createDatabase } from '../database.ts'
import { startLoad } from '../load.ts'
import { startService, until } from '../service.ts'
import { readEntries } from './log.ts'

/** Commits of one receipt each, of a hundred callers, that wait since a minute ago. */
const BACKLOG = 100_000

// proves fault: The queue of the log grows
test(`${BACKLOG} commits in the queue: executions are answered meanwhile, and all of it is logged in order`, async () => {
  const database = await createDatabase()
  await database.pool.query(
    `INSERT INTO log_queue (batch, entries, queued_at)
     SELECT gen_random_uuid(), json_build_object(
         'shared', json_build_array(json_build_object('kind', 'receipt', 'streams', json_build_object('caller', 'caller ' || n % 100))),
         'entries', json_build_array(json_build_array(encode(sha256(n::text::bytea), 'hex'), gen_random_uuid(), 0)))::text,
       now() - interval '1 minute'
     FROM generate_series(1, $1::integer) AS n`,
    [BACKLOG],
  )
  const service = await startService({ databaseUrl: database.url })
  const load = startLoad(service, 2, { pauseMs: 200 })
  expect((await service.get('/ready', { key: null })).status).toBe(200)
  await until(() => load.count(200) >= 50, 'executions')
  await until(
    // Those of the backlog come first.
    async () => (await readLogStatus(database.pool))!.size > BACKLOG,
    'the backlog to be logged',
    500_000,
  )
  const sent = await load.stop()
  expect(load.count(200)).toBe(sent.length)
  await until(async () => {
    const status = await readLogStatus(database.pool)
    return status?.queued === false && status.size === status.publishedSize
  }, 'everything to be under a checkpoint')
  await until(
    async () => !(await service.get('/ready', { key: null })).text.includes('warnings'),
    'the warning to end',
  )
  const { size } = (await readLogStatus(database.pool))!
  const kinds = (await readEntries(database.pool, size)).map((entry) => parseEntry(entry.toString()).kind)
  expect(kinds.filter((kind) => kind === 'receipt')).toHaveLength(BACKLOG + sent.length)
  const { rows } = await database.pool.query<{ dense: boolean }>(
    'SELECT count(DISTINCT start) = count(*) AS dense FROM log_batches',
  )
  expect(rows[0]?.dense).toBe(true)
  // Not all at once: the rows of one transaction have its number.
  const { rows: pieces } = await database.pool.query<{ largest: number }>(
    'SELECT max(n)::integer AS largest FROM (SELECT count(*) AS n FROM log_batches GROUP BY xmin::text) AS pieces',
  )
  expect(pieces[0]?.largest).toBe(ROWS_MAX)
  expect(await service.stop()).toBe(0)
  await database.drop()
}, 600_000)
