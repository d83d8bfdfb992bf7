// countersign fsck reads pages, however many rows there are, and tells each finding as it comes; and how it shows how far it is.
import type { QueryConfig } from 'pg'
import { expect, test } from 'vitest'
import { connect } from '../../src/cli/fsck/check-database.ts'
import { openProgress } from '../../src/cli/fsck/progress.ts'
import { fsck, PAGE_ROWS } from '../../src/cli/fsck/run.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import { createDatabase } from '../database.ts'

const ROWS = 20_000

test('twenty thousand rows are never in memory together, right or wrong', async () => {
  const database = await createDatabase()
  await database.pool.query(
    `INSERT INTO webhook_events (event_key, provider, event_id, body_sha256, body, received_at)
     SELECT gen_random_uuid(), 'razorpay', i::text, encode(sha256(i::text::bytea), 'hex'), i::text::bytea, now()
     FROM generate_series(1, $1::integer) AS i`,
    [ROWS],
  )
  const client = await connect(database.url)
  const sizes: number[] = []
  const counted = async (statement: string | QueryConfig, values?: unknown[]) => {
    const result = await client.query(statement, values)
    if (typeof statement === 'string' && statement.startsWith('FETCH')) sizes.push(result.rows.length)
    return result
  }
  const run = async () => {
    let [problems, rowsBefore] = [0, 0]
    const summary = await fsck({
      sql: { query: counted as Sql['query'] },
      keys: new Map(),
      onFinding: () => problems++,
      onProgress({ table, rows }) {
        if (table !== 'webhook_events' || rows < rowsBefore) return
        expect(rows - rowsBefore).toBeLessThanOrEqual(PAGE_ROWS)
        rowsBefore = rows
      },
    })
    return { summary, problems, rowsBefore }
  }

  expect(await run()).toMatchObject({
    summary: { problems: 0, rows: { webhook_events: ROWS } },
    problems: 0,
    rowsBefore: ROWS,
  })
  expect(Math.max(...sizes)).toBe(PAGE_ROWS)
  expect(sizes.filter((size) => size === PAGE_ROWS)).toHaveLength(ROWS / PAGE_ROWS)

  await database.pool.query(`UPDATE webhook_events SET body = body || '!'::bytea`)
  expect(await run()).toMatchObject({ summary: { problems: ROWS }, problems: ROWS })
  expect(Math.max(...sizes)).toBe(PAGE_ROWS)
  await client.end()
  await database.drop()
})

function aStream(isTTY: boolean) {
  let written = ''
  return { isTTY, write: (text: string) => Boolean((written += text)), written: () => written }
}

test('a terminal sees a bar that is drawn over itself and taken away; a file a line every five seconds', () => {
  let now = 0
  const [terminal, file] = [aStream(true), aStream(false)]
  const lines = [terminal, file].map((stream) => openProgress(stream, { nowMs: () => now }))
  for (now = 0; now <= 10_000; now += 2_500)
    for (const line of lines) line.show({ table: 'receipts', rows: now, about: 10_000 })
  for (const line of lines) line.clear()
  for (const line of lines) line.clear()
  expect(file.written()).toBe('receipts: 5000 of about 10000 rows\nreceipts: 10000 of about 10000 rows\n')
  expect(terminal.written().split('\r\x1b[2K')).toEqual([
    '',
    '[#####...............] receipts: 2500 of about 10000 rows',
    '[##########..........] receipts: 5000 of about 10000 rows',
    '[###############.....] receipts: 7500 of about 10000 rows',
    '[####################] receipts: 10000 of about 10000 rows',
    '',
  ])
})
