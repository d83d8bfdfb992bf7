// The sweep for intents in doubt, over a real database (decisions §8): what it finds, what it passes over, and what it costs.
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { end } from '../../src/store/tables/authority.ts'
import type { ExternalConnectorRow } from '../../src/store/tables/external-connectors.ts'
import { findInDoubt, findOpen, lockOpen } from '../../src/store/tables/released-batches.ts'
import { takeToAsk } from '../../src/store/tables/in-doubt-intents.ts'
import { LEAST_UUID } from '../../src/store/tables/position.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import type { OpenConnectors } from '../../workers/connectors/index.ts'
import { concludeReadBack } from '../../workers/intents/read-back.ts'
import { sweepIntents } from '../../workers/intents/sweep.ts'
import type { ExecutionContext } from '../../workers/execute/index.ts'
import { type TestDatabase } from '../database.ts'
import { storeInEffect } from '../in-effect.ts'
import { intentState, notedInDoubt, openBatch, putInDoubt } from '../intents.ts'
import { aRequest, executeAll, withThread } from '../pipeline/thread.ts'
import { aTransaction } from '../transactions.ts'
import { inTransaction } from '../../src/store/postgres/transaction.ts'

/** The longest time-out of a connector (src/formats/schemas/external-connector.ts) and the margin of workers/execute/claim.ts. */
const LONGEST_SECONDS = 32

let database: TestDatabase
let thread: ExecutionContext
withThread((made) => ({ database, thread } = made))

beforeEach(async () => {
  await database.pool.query('TRUNCATE released_batches, in_doubt_intents, audit_events')
})

/** Returns how many it noticed. */
async function sweep(): Promise<number> {
  const [answer] = await sweepIntents([aRequest({})], thread)
  return (JSON.parse(answer?.answer.body ?? '{}') as { noticed: number }).noticed
}

/** Releases intents whose deadline passed `secondsAgo`; negative: it has not passed. */
async function released(count: number, secondsAgo: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID())
  for (let start = 0; start < count; start += 64)
    await openBatch(database, ids.slice(start, start + 64), secondsAgo)
  return ids
}

const close = (ids: readonly string[]) =>
  inTransaction(database.pool, async (tx) => {
    const { takeOut } = await lockOpen(tx, ids)
    await tx.run(takeOut(ids))
  })

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
    // Intents that one instance held were passed over by the others: they are there, or the next sweep finds them.
    const later = await sweep()
    expect(noticed.reduce((sum, one) => sum + one, 0) + later).toBe(350)
    expect(await notedInDoubt(database)).toEqual(new Set(ids))
    expect(await told()).toBe(350)
  })

  test('changes no intent', async () => {
    const before = await released(3, 1)
    await sweep()
    expect(new Set((await findOpen(database.pool, before)).keys())).toEqual(new Set(before))
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
    await worker.query('DELETE FROM released_batches WHERE $1::uuid = ANY (ids)', [held])
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
    await worker.query('DELETE FROM released_batches WHERE $1::uuid = ANY (ids)', [held])
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
    await worker.query(`UPDATE released_batches SET deadline = now() - interval '10 s'`)
    expect(await sweep()).toBe(0)
    await worker.query('COMMIT')
    worker.release()
    expect(await sweep()).toBe(1)
    expect(await notedInDoubt(database)).toEqual(new Set([id]))
  })
})

describe('among thousands of open batches', () => {
  interface Plan {
    readonly 'Relation Name'?: string
    readonly Plans?: readonly Plan[]
  }

  test('it reads them and what is noted, each once, and nothing that ever ran', async () => {
    await database.pool.query(
      `INSERT INTO released_batches (batch, ids, deadline)
       SELECT gen_random_uuid(), ARRAY(SELECT gen_random_uuid() FROM generate_series(1, 16 + n % 2)), now() + interval '20 s'
       FROM generate_series(1, 4000) AS n`,
    )
    const due = await released(300, 1)
    expect(await sweep()).toBe(300)
    expect(await notedInDoubt(database)).toEqual(new Set(due))

    let plan: Plan | undefined
    const explaining = {
      async query({ text, values }: { text: string; values: unknown[] }) {
        const explained = await database.pool.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
          `EXPLAIN (FORMAT JSON) ${text}`,
          values,
        )
        plan = explained.rows[0]?.['QUERY PLAN'][0].Plan
        return { rows: [] }
      },
    } as unknown as Sql
    await findInDoubt(explaining, { after: LEAST_UUID, limit: 100 })
    const read = (plan === undefined ? [] : flat(plan)).flatMap((node) => node['Relation Name'] ?? [])
    expect(read.toSorted()).toEqual(['in_doubt_intents', 'released_batches'])
  })

  function flat(plan: Plan): Plan[] {
    return [plan, ...(plan.Plans ?? []).flatMap(flat)]
  }
})

const registered = (capability: string, members: Partial<ExternalConnectorRow> = {}) => ({
  changeId: randomUUID(),
  capability,
  endpointUrl: 'https://receiver.example/',
  policy: 'pay',
  allowedParameters: [],
  timeoutMs: 1_000,
  readBack: true,
  registeredAt: new Date(Date.now() - 3_600_000).toISOString(),
  ...members,
})

/** In doubt, of a transaction that was released a minute and a half ago. */
async function inDoubtBy(capability: string, policy = 'pay'): Promise<string> {
  const [id = ''] = await released(1, 1)
  const body = JSON.stringify({ intent: { action: capability }, policy: { name: policy } })
  await database.pool.query(
    `INSERT INTO business_transactions (business_transaction_id, caller_id, created_at, body, execution_authorization)
     VALUES ($1::uuid, 'tester', now() - interval '90 s', $2, '{}')`,
    [id, body],
  )
  return id
}
const askedAbout = async () => {
  const { rows } = await database.pool.query<{ id: string; connector: string }>(
    'SELECT business_transaction_id AS id, ask_connector AS connector FROM in_doubt_intents WHERE ask_at IS NOT NULL',
  )
  return new Map(rows.map(({ id, connector }) => [id, connector]))
}
const reach = (rows: readonly ExternalConnectorRow[]) =>
  (thread.connectors as OpenConnectors).replaceExternal(rows)

describe('an intent that was released to a connector that can be asked', () => {
  beforeEach(() => database.pool.query('TRUNCATE business_transactions, authority'))

  test('is asked about, unless another one may have been in effect when it was released', async () => {
    const [pay, refund, silent] = [
      registered('vendor:pay'),
      registered('vendor:refund'),
      registered('vendor:silent', { readBack: false }),
    ]
    reach([pay, refund, silent])
    // Revoked 40 seconds before that release: an instance may not have known.
    const { changeId: _, registeredAt, ...before } = registered('vendor:refund')
    await storeInEffect(database.pool, 'external-connector', before, { at: registeredAt })
    await end(database.pool, 'external-connector', {
      targets: ['vendor:refund'],
      changeId: randomUUID(),
      by: 'test',
      at: new Date(Date.now() - 130_000).toISOString(),
    })
    const id = await inDoubtBy('vendor:pay')
    for (const [capability, policy] of [
      ['vendor:pay', 'another'],
      ['vendor:refund', 'pay'],
      ['vendor:silent', 'pay'],
      ['sandbox:echo', 'pay'],
    ] as const)
      await inDoubtBy(capability, policy)
    expect(await sweep()).toBe(5)
    expect(await askedAbout()).toEqual(new Map([[id, pay.changeId]]))
  })

  test('is asked about by one instance at a time, later each time, and 14 times at most', async () => {
    const pay = registered('vendor:pay')
    reach([pay])
    const ids = [await inDoubtBy('vendor:pay'), await inDoubtBy('vendor:pay'), await inDoubtBy('vendor:pay')]
    await sweep()
    const take = (limit = 10) => takeToAsk(database.pool, { connector: pay.changeId, limit })
    const taken = await Promise.all([take(), take(), take(2)])
    expect(taken.flat().toSorted()).toEqual(ids.toSorted())
    const waits: number[] = []
    for (let asked = 1; ; asked++) {
      const { rows } = await database.pool.query<{ seconds: number | null; asked: number }>(
        `SELECT extract(epoch FROM ask_at - now())::float8 AS seconds, asked FROM in_doubt_intents LIMIT 1`,
      )
      expect(rows[0]?.asked).toBe(asked)
      const seconds = rows[0]?.seconds ?? null
      if (seconds === null) break
      waits.push(seconds)
      expect(await take()).toEqual([])
      await database.pool.query('UPDATE in_doubt_intents SET ask_at = now() WHERE ask_at IS NOT NULL')
      expect(await take()).toHaveLength(3)
    }
    expect(waits).toHaveLength(13)
    for (const [i, seconds] of waits.entries()) {
      expect(seconds).toBeLessThanOrEqual(5 * 2 ** i)
      expect(seconds).toBeGreaterThan(5 * 2 ** (i - 1))
    }
  })
})

// proves abuse: A connector that, asked what became
test('what a connector denies closes an execution once its release has expired, and not before', async () => {
  const transaction = aTransaction()
  const id = transaction.businessTransactionId
  expect(await executeAll([transaction], thread)).toMatchObject([{ status: 200 }])
  await putInDoubt(database, id)
  const question = {
    businessTransactionId: id,
    authorizationId: randomUUID(),
    capability: 'sandbox:echo',
    changeId: randomUUID(),
    url: '',
    headers: {},
    timeoutMs: 1_000,
  }
  const body = Buffer.from(JSON.stringify(question)).toString('base64')
  const denied = async (isOver: boolean) => {
    const exchange = { kind: 'answered', status: 404, encoding: undefined, body } as const
    return (await concludeReadBack({ question: { ...question, isOver }, exchange }, thread)).outcome
  }
  expect([await denied(false), await intentState(database, id)]).toEqual(['unknown', 'RELEASED'])
  expect([await denied(true), await intentState(database, id)]).toEqual(['not_executed', 'RESOLVED'])
  // The answer to a question that was asked at the same moment.
  expect(await denied(true)).toBe('closed')
})
