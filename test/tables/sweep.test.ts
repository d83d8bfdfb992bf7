// The sweep for intents in doubt, over a real database (decisions §8): what it finds, what it passes over, and what it costs.
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { findInDoubt } from '../../src/core/tables/execution-intents.ts'
import { LEAST_UUID } from '../../src/core/tables/position.ts'
import type { Sql } from '../../src/core/tables/sql.ts'
import { sweepIntents } from '../../workers/intents/sweep.ts'
import type { ExecutionContext } from '../../workers/execute/index.ts'
import type { TestDatabase } from '../database.ts'
import { notedInDoubt } from '../intents.ts'
import { aRequest, withThread } from '../pipeline/thread.ts'

/** The longest time-out of a connector (src/core/schemas/external-connector.ts) and the margin of workers/execute/admit.ts. */
const LONGEST_SECONDS = 32

let database: TestDatabase
let thread: ExecutionContext
withThread((made) => ({ database, thread } = made))

beforeEach(async () => {
  await database.pool.query('TRUNCATE execution_intents, in_doubt_intents, audit_events')
})

/** Returns how many it noticed. */
async function sweep(): Promise<number> {
  const [answer] = await sweepIntents([aRequest({})], thread)
  return (JSON.parse(answer?.body ?? '{}') as { noticed: number }).noticed
}

/** Releases intents whose deadline passed `secondsAgo`; negative: it has not passed. */
async function released(count: number, secondsAgo: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID())
  await database.pool.query(
    `INSERT INTO execution_intents (business_transaction_id, nonce, state, deadline)
     SELECT id, id::text, 'RELEASED', now() - $2 * interval '1 s' FROM unnest($1::uuid[]) AS id`,
    [ids, secondsAgo],
  )
  return ids
}

const close = (ids: readonly string[]) =>
  database.pool.query(
    `UPDATE execution_intents SET state = 'FINALIZED', closed_at = now() WHERE business_transaction_id = ANY($1::uuid[])`,
    [ids],
  )

async function told(): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `SELECT count(*)::integer FROM audit_events WHERE type = 'intent.in_doubt'`,
  )
  return rows[0]?.count ?? 0
}

describe('a sweep', () => {
  test('notes what is RELEASED after its deadline, tells each to the audit once, and nothing else', async () => {
    const past = [...(await released(3, 1)), ...(await released(2, 86_400 * 365))]
    await released(3, -60)
    await close(await released(3, 1))
    expect(await sweep()).toBe(5)
    expect(await notedInDoubt(database)).toEqual(new Set(past))
    expect(await told()).toBe(5)
    expect(await sweep()).toBe(0)
    expect(await told()).toBe(5)
  })

  test('finds more than one transaction takes', async () => {
    const ids = [...(await released(250, 1)), ...(await released(40, 60))]
    expect(await sweep()).toBe(290)
    expect(await notedInDoubt(database)).toEqual(new Set(ids))
    expect(await told()).toBe(290)
  })

  // proves fault: kill -9 of one instance
  test('on several instances at once notes and tells each once', async () => {
    const ids = await released(350, 1)
    const noticed = await Promise.all([sweep(), sweep(), sweep(), sweep()])
    // What one instance held was passed over by the others: it is there, or the next sweep finds it.
    const later = await sweep()
    expect(noticed.reduce((sum, one) => sum + one, 0) + later).toBe(350)
    expect(await notedInDoubt(database)).toEqual(new Set(ids))
    expect(await told()).toBe(350)
  })

  test('changes no intent', async () => {
    const before = await released(3, 1)
    await sweep()
    const { rows } = await database.pool.query(
      `SELECT state, closed_at, resolution FROM execution_intents WHERE business_transaction_id = ANY($1::uuid[])`,
      [before],
    )
    expect(rows).toEqual(before.map(() => ({ state: 'RELEASED', closed_at: null, resolution: null })))
  })

  test('forgets what has been closed since, and does not wait for a human to ask', async () => {
    const ids = await released(230, 1)
    await sweep()
    await close(ids.slice(0, 220))
    await sweep()
    expect(await notedInDoubt(database)).toEqual(new Set(ids.slice(220)))
  })
})

describe('one that somebody is closing at this moment', () => {
  test('is passed over without waiting, and found later if it was not closed, however much later', async () => {
    const [held = '', ...others] = [...(await released(1, 3_600)), ...(await released(2, 1))]
    const worker = await database.pool.connect()
    await worker.query('BEGIN')
    await worker.query(
      `UPDATE execution_intents SET state = 'FINALIZED' WHERE business_transaction_id = $1::uuid`,
      [held],
    )
    try {
      expect(await sweep()).toBe(2)
      expect(await sweep()).toBe(0)
      expect(await notedInDoubt(database)).toEqual(new Set(others))
    } finally {
      await worker.query('ROLLBACK')
      worker.release()
    }
    expect(await sweep()).toBe(1)
    expect(await notedInDoubt(database)).toEqual(new Set([held, ...others]))
  })

  test('is left alone where it was closed', async () => {
    const [held = ''] = await released(1, 1)
    const worker = await database.pool.connect()
    await worker.query('BEGIN')
    await worker.query(
      `UPDATE execution_intents SET state = 'FINALIZED' WHERE business_transaction_id = $1::uuid`,
      [held],
    )
    expect(await sweep()).toBe(0)
    await worker.query('COMMIT')
    worker.release()
    expect(await sweep()).toBe(0)
    expect(await notedInDoubt(database)).toEqual(new Set())
  })
})

describe('whatever a clock has shown before', () => {
  test('finds a deadline that lies before those of earlier sweeps, however far', async () => {
    const first = await released(1, 1)
    expect(await sweep()).toBe(1)
    const older = [...(await released(1, 600)), ...(await released(1, 86_400 * 2))]
    expect(await sweep()).toBe(2)
    expect(await notedInDoubt(database)).toEqual(new Set([...first, ...older]))
  })

  test('finds what the version before had passed: its horizon is not asked', async () => {
    await database.pool.query(`UPDATE sweep_horizon SET deadline = now() + interval '2 days'`)
    const ids = await released(2, 60)
    expect(await sweep()).toBe(2)
    expect(await notedInDoubt(database)).toEqual(new Set(ids))
  })

  // proves fault: The clock of the database
  test('finds a deadline further ahead than any that is given, and leaves the longest that is given alone', async () => {
    const ahead = [...(await released(1, -86_400 * 2)), ...(await released(1, -600))]
    await released(1, -LONGEST_SECONDS)
    expect(await sweep()).toBe(2)
    expect(await notedInDoubt(database)).toEqual(new Set(ahead))
  })

  test('finds a deadline that a transaction moves while a sweep looks', async () => {
    const [id = ''] = await released(1, -30)
    const worker = await database.pool.connect()
    await worker.query('BEGIN')
    await worker.query(`UPDATE execution_intents SET deadline = now() - interval '10 s'`)
    expect(await sweep()).toBe(0)
    await worker.query('COMMIT')
    worker.release()
    expect(await sweep()).toBe(1)
    expect(await notedInDoubt(database)).toEqual(new Set([id]))
  })
})

describe('among very many finalized intents', () => {
  const FINALIZED = 400_000

  interface Plan {
    readonly 'Node Type': string
    readonly 'Relation Name'?: string
    readonly 'Index Name'?: string
    readonly 'Shared Hit Blocks': number
    readonly 'Shared Read Blocks': number
    readonly Plans?: readonly Plan[]
  }

  test('it reads the index of released intents, not the table', async () => {
    await database.pool.query(
      `INSERT INTO execution_intents (business_transaction_id, nonce, state, deadline, closed_at)
       SELECT gen_random_uuid(), 'eZBV2ac7_m6KbdnYnTcUYw', 'FINALIZED', now() - (${FINALIZED} - n) * interval '0.1 s', now()
       FROM generate_series(1, ${FINALIZED}) AS n`,
    )
    await database.pool.query('VACUUM (ANALYZE) execution_intents')
    const [recent = ''] = await released(1, 1)

    const { rows } = await database.pool.query<{ pages: number }>(
      `SELECT (pg_relation_size('execution_intents') / 8192)::integer AS pages`,
    )
    const pages = rows[0]?.pages ?? 0
    let plan: Plan | undefined
    const explaining = {
      async query({ text, values }: { text: string; values: unknown[] }) {
        const explained = await database.pool.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
          `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
          values,
        )
        plan = explained.rows[0]?.['QUERY PLAN'][0].Plan
        return { rows: [] }
      },
    } as unknown as Sql
    await findInDoubt(explaining, { after: LEAST_UUID, limit: 100 })

    const nodes = plan === undefined ? [] : flat(plan)
    const scans = nodes.filter((node) => node['Relation Name'] === 'execution_intents')
    expect(scans.map((node) => node['Index Name'])).toEqual(['execution_intents_released'])
    const read = (plan?.['Shared Hit Blocks'] ?? Infinity) + (plan?.['Shared Read Blocks'] ?? Infinity)
    expect(pages).toBeGreaterThan(5_000)
    expect(read).toBeLessThan(100)

    expect(await sweep()).toBe(1)
    expect(await notedInDoubt(database)).toEqual(new Set([recent]))
  })

  function flat(plan: Plan): Plan[] {
    return [plan, ...(plan.Plans ?? []).flatMap(flat)]
  }
})
