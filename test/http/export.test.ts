// GET /trust-records, the bulk export (decisions §5): pages that the Link header chains, each at the cost of one page.
import { beforeAll, describe, expect, inject, test } from 'vitest'
import type { Sql } from '../../src/store/postgres/sql.ts'
import type { Position } from '../../src/store/tables/position.ts'
import { listTrustRecords } from '../../src/store/tables/trust-records.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { aCaller, reply, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

const alice = aCaller('alice', { allowedPrincipalIds: ['tester'] })
const bob = aCaller('bob', { allowedPrincipalIds: ['tester'] })
const nobody = aCaller('nobody')
const human = aCaller('human', { credentialHolderType: 'USER' })
const auditor = aCaller('auditor', { readAll: true })

interface Recorded {
  readonly businessTransactionId: string
  readonly createdAt: string
}

let database: TestDatabase
let service: TestService
/** Newest first: four of alice's and three of bob's by turns. */
const records: Recorded[] = []

withDatabase(async ({ database: made, start }) => {
  database = made
  service = await start({
    callers: [alice, bob, nobody, human, auditor].map(({ entry }) => entry),
  })
  for (let i = 0; i < 7; i++) records.unshift(await execute(i % 2 ? bob : alice))
})

async function execute({ key }: { key: string }): Promise<Recorded> {
  const { status, body } = await service.post('/execute', aTransaction(), { key })
  expect(status).toBe(200)
  return body
}

async function list(
  path: string,
  { key }: { key: string },
): Promise<{ page: Recorded[]; next: string | null }> {
  const { status, body, headers } = await service.get(path, { key })
  expect(status).toBe(200)
  const link = headers.get('link')
  const next = link === null ? null : (/^<(\/trust-records\?[^>]*)>; rel="next"$/.exec(link)?.[1] ?? link)
  return { page: body as Recorded[], next }
}

/** Follows the chain to its end. */
async function pagesFrom(path: string, caller: { key: string }): Promise<Recorded[][]> {
  const pages = []
  for (let next: string | null = path; next !== null;) {
    const { page, next: after } = await list(next, caller)
    pages.push(page)
    next = after
    expect(pages.length).toBeLessThan(20)
  }
  return pages
}

/** The last line of an export. */
const end = (callerId: string | null, count: number, since: string | null = null) => ({
  exportEnd: { kind: 'trust-record', callerId, count, since, until: null },
})

/** The lines of an export, parsed. */
async function linesOf(path: string, { key }: { key: string }): Promise<unknown[]> {
  const { status, text, headers } = await service.get(path, {
    key,
    headers: { Accept: 'application/x-ndjson' },
  })
  expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson; charset=utf-8'])
  expect(text.endsWith('}\n')).toBe(true)
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown)
}

const idsOf = (some: readonly Recorded[]) => some.map(({ businessTransactionId }) => businessTransactionId)
const own = (first: number) => records.filter((_, i) => i % 2 === first)

describe('GET /trust-records 200', () => {
  // proves §4.6 POST /refusal/verify, POST /audit/verify
  test('answers whole records, newest first, as GET /trust-records/{id} does', async () => {
    const { page, next } = await list('/trust-records', auditor)
    expect(page).toEqual(records)
    expect(next).toBeNull()
    await service.post(
      '/verify',
      { businessTransactionId: records[6]?.businessTransactionId },
      { key: auditor.key },
    )
    for (const [i, { businessTransactionId }] of records.entries()) {
      const { text } = await service.get(`/trust-records/${businessTransactionId}`, { key: human.key })
      expect((await list('/trust-records', human)).page[i]).toEqual(JSON.parse(text))
    }
  })

  test.each([1, 2, 3, 6, 7, 8, 100])(
    'pageSize=%i: the chain visits each record once and ends without a Link',
    async (pageSize) => {
      const pages = await pagesFrom(`/trust-records?pageSize=${pageSize}`, auditor)
      expect(idsOf(pages.flat())).toEqual(idsOf(records))
      expect(pages.slice(0, -1).filter((page) => page.length !== pageSize)).toEqual([])
      expect(pages).toHaveLength(Math.ceil(records.length / pageSize))
    },
  )

  test('as NDJSON answers the whole range, a record a line, and a last line that counts them', async () => {
    // As they are now: each check of a record adds a receipt to it.
    const { page: all } = await list('/trust-records', auditor)
    expect(await linesOf('/trust-records', auditor)).toEqual([...all, end(null, 7)])
    const bobs = all.filter((_, i) => i % 2 === 1)
    expect(await linesOf('/trust-records', bob)).toEqual([...bobs, end('bob', 3)])
    expect(await linesOf('/trust-records', nobody)).toEqual([end('nobody', 0)])
    const since = records[2]?.createdAt ?? ''
    const later = all.filter(({ createdAt }) => createdAt >= since)
    expect(await linesOf(`/trust-records?since=${since}`, auditor)).toEqual([
      ...later,
      end(null, later.length, since),
    ])
    const ofBob = '/trust-records?callerId=bob'
    expect(await linesOf(ofBob, auditor)).toEqual([...bobs, end('bob', 3)])
    expect(await linesOf(ofBob, alice)).toEqual([end('bob', 0)])
  })

  test.each(['page=1', 'pageSize=5', 'cursor=x'])('as NDJSON takes no %s: 400', async (query) => {
    const headers = { Accept: 'application/x-ndjson' }
    const { status } = await service.get(`/trust-records?${query}`, { key: auditor.key, headers })
    expect(status).toBe(400)
  })

  test('a caller sees its own, in pages that are full of them', async () => {
    expect((await pagesFrom('/trust-records?pageSize=2', alice)).map(idsOf)).toEqual([
      idsOf(own(0).slice(0, 2)),
      idsOf(own(0).slice(2)),
    ])
    expect((await pagesFrom('/trust-records?pageSize=2', bob)).map(idsOf)).toEqual([
      idsOf(own(1).slice(0, 2)),
      idsOf(own(1).slice(2)),
    ])
    expect(await pagesFrom('/trust-records', nobody)).toEqual([[]])
  })

  test("a cursor opens nothing: with another's a caller goes on in its own", async () => {
    const { next } = await list('/trust-records?pageSize=1', auditor)
    expect(idsOf((await list(next?.replace('pageSize=1', 'pageSize=9') ?? '', bob)).page)).toEqual(
      idsOf(own(1)),
    )
    expect((await list(next ?? '', nobody)).page).toEqual([])
  })

  test('what is recorded while somebody pages neither shifts nor repeats anything', async () => {
    const first = await list('/trust-records?pageSize=3', auditor)
    const expected = idsOf((await list('/trust-records?pageSize=100', auditor)).page)
    const late = await execute(alice)
    const rest = await pagesFrom(first.next ?? '', auditor)
    expect(idsOf([...first.page, ...rest.flat()])).toEqual(expected)
    expect((await list('/trust-records?pageSize=1', auditor)).page).toEqual([late])
    records.unshift(late)
    await database.pool.query('DELETE FROM execution_evidence WHERE business_transaction_id = $1', [
      late.businessTransactionId,
    ])
    records.shift()
  })

  test('records of one and the same millisecond stand on one page each too', async () => {
    const moment = '2001-02-03T04:05:06.789Z'
    const ids = []
    for (let i = 0; i < 5; i++) ids.push((await execute(alice)).businessTransactionId)
    await database.pool.query(
      'UPDATE execution_evidence SET created_at = $2 WHERE business_transaction_id = ANY($1::uuid[])',
      [ids, moment],
    )
    const query = `/trust-records?pageSize=2&since=${moment}&until=2001-02-03T04:05:06.790Z`
    const pages = await pagesFrom(query, alice)
    expect(pages.map((page) => page.length)).toEqual([2, 2, 1])
    expect(idsOf(pages.flat())).toEqual(ids.toSorted().toReversed())
    await database.pool.query(
      'DELETE FROM execution_evidence WHERE business_transaction_id = ANY($1::uuid[])',
      [ids],
    )
  })

  test('page counts from the start, and its Link goes on from there', async () => {
    const { page, next } = await list('/trust-records?page=2&pageSize=3', auditor)
    expect(idsOf(page)).toEqual(idsOf(records.slice(3, 6)))
    expect(next).not.toContain('page=')
    expect(idsOf((await list(next ?? '', auditor)).page)).toEqual(idsOf(records.slice(6)))
    expect(await list('/trust-records?page=1000000&pageSize=100', auditor)).toEqual({ page: [], next: null })
  })

  test('since is included, until is not, and the chain keeps both', async () => {
    const [since, until] = [records[5]?.createdAt ?? '', records[1]?.createdAt ?? '']
    const within = records.filter(({ createdAt }) => createdAt >= since && createdAt < until)
    expect(within.length).toBeGreaterThan(2)
    const range = `since=${since}&until=${until}`
    expect(idsOf((await pagesFrom(`/trust-records?${range}&pageSize=1`, auditor)).flat())).toEqual(
      idsOf(within),
    )
    const after = records.filter(({ createdAt }) => createdAt >= since)
    expect(idsOf((await list(`/trust-records?since=${since}`, auditor)).page)).toEqual(idsOf(after))
  })

  test.each([
    ['an offset, percent-encoded', '2001-01-01T00:00:00%2B02:00'],
    ['an offset whose plus came as a space', '2001-01-01T00:00:00+02:00'],
    ['an offset beyond any that is used', '2001-01-01T00:00:00%2B23:59'],
    ['a leap second', '1998-12-31T23:59:60Z'],
    ['more digits than a clock has', `2001-01-01T00:00:00.${'1'.repeat(150)}Z`],
    ['lower case', '2001-01-01t00:00:00z'],
    ['the first year', '0000-01-01T00:00:00Z'],
    ['the first moment of all', '0001-01-01T00:00:00%2B23:59'],
  ])('since may have %s', async (_title, since) => {
    expect(idsOf((await list(`/trust-records?since=${since}`, auditor)).page)).toEqual(idsOf(records))
    expect((await list(`/trust-records?until=${since}`, auditor)).page).toEqual([])
  })

  test('until holds also for a cursor that lies above it', async () => {
    const { next } = await list('/trust-records?pageSize=1', auditor)
    const until = records[3]?.createdAt ?? ''
    const below = records.filter(({ createdAt }) => createdAt < until)
    expect(below.length).toBeGreaterThan(0)
    const { page } = await list(`${next?.replace('pageSize=1', 'pageSize=100')}&until=${until}`, auditor)
    expect(idsOf(page)).toEqual(idsOf(below))
  })

  test('until may be the last moment of all', async () => {
    for (const until of ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59-23:59'])
      expect(idsOf((await list(`/trust-records?until=${until}`, auditor)).page)).toEqual(idsOf(records))
  })
})

const refused = (error: string) => ({ status: 400, body: { error } })
const encoded = (text: string) => Buffer.from(text).toString('base64url')

describe('GET /trust-records 400 invalidQuery', () => {
  test.each(['since', 'until'])('%s that is no time', async (name) => {
    for (const time of ['', 'x', '2026-02-30T00:00:00Z', '2026-01-01', '1700000000', '2026-01-01T24:00:00Z'])
      expect(reply(await service.get(`/trust-records?${name}=${time}`))).toEqual(
        refused(`${name} must be an RFC 3339 timestamp.`),
      )
  })

  test.each([
    '',
    'x',
    '%00',
    '-1',
    encoded(' '),
    encoded('2026-01-01T00:00:00.000Z'),
    encoded('2026-01-01T00:00:00.000Z x'),
    encoded('2026-01-01T00:00:00.000Z 3fa85f64-5717-4562-b3fc-2c963f66afa6 more'),
    encoded('2026-13-01T00:00:00.000Z 3fa85f64-5717-4562-b3fc-2c963f66afa6'),
    encoded('2026-02-30T00:00:00.000Z 3fa85f64-5717-4562-b3fc-2c963f66afa6'),
    encoded('0000-01-01T00:00:00.000Z 3fa85f64-5717-4562-b3fc-2c963f66afa6'),
    encoded('infinity 3fa85f64-5717-4562-b3fc-2c963f66afa6'),
  ])('cursor=%s is none of ours', async (cursor) => {
    expect(reply(await service.get(`/trust-records?cursor=${cursor}`))).toEqual(
      refused('cursor must be one that a Link header gave.'),
    )
  })

  test('page beside a cursor', async () => {
    const { next } = await list('/trust-records?pageSize=1', auditor)
    expect(reply(await service.get(`${next}&page=1`))).toEqual(
      refused('page and cursor cannot be given together.'),
    )
  })
})

describe('GET /trust-records 400 invalidPage', () => {
  test.each(['0', 'x', '1000001', ''])('page=%s', async (page) => {
    expect(reply(await service.get(`/trust-records?page=${page}&pageSize=0`))).toEqual(
      refused('page must be a whole number, 1 or more.'),
    )
  })
})

describe('GET /trust-records 400 invalidPageSize', () => {
  test.each(['0', 'x', '101', ''])('pageSize=%s', async (pageSize) => {
    expect(reply(await service.get(`/trust-records?pageSize=${pageSize}&since=x`))).toEqual(
      refused('pageSize must be a whole number from 1 to 100.'),
    )
  })
})

const at = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString()

// The coordinator's plan says nothing about a distributed table: test/citus looks at the plans of its shards.
describe.skipIf(inject('nodeUrls').length > 1)('the cost of a page', () => {
  const ROWS = 20_000
  let large: TestDatabase

  beforeAll(async () => {
    large = await createDatabase()
    await large.pool.query(`
      INSERT INTO execution_evidence (business_transaction_id, caller_id, created_at, body, seal)
      SELECT gen_random_uuid(), CASE n % 50 WHEN 0 THEN 'alice' ELSE 'bob' END,
        '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 second', '{}', '{}'
      FROM generate_series(1, ${ROWS}) AS n`)
    await large.pool.query('ANALYZE execution_evidence')
    return () => large.drop()
  })

  /** Reads PostgreSQL's plan for the very statement that `listTrustRecords` sends. */
  async function planOf(callerId: string | null, page: { after?: Position; since?: string; until?: string }) {
    const explained: Sql = {
      async query(statement: { text: string; values: unknown[] }) {
        const { rows } = await large.pool.query<{ 'QUERY PLAN': object[] }>({
          text: `EXPLAIN (ANALYZE, FORMAT JSON) ${statement.text}`,
          values: statement.values,
        })
        plan = rows[0]?.['QUERY PLAN'][0] as { Plan: Node }
        return { rows: [] }
      },
    } as unknown as Sql
    let plan: { Plan: Node } | undefined
    const { after = null, since = null, until = null } = page
    await listTrustRecords(explained, { limit: 25, offset: 0, after }, { callerId, since, until })
    return nodesOf(plan?.Plan)
  }

  interface Node {
    readonly 'Node Type': string
    readonly 'Index Name'?: string
    readonly 'Actual Rows': number
    readonly 'Actual Loops': number
    readonly 'Rows Removed by Filter'?: number
    readonly 'Parent Relationship'?: string
    readonly Plans?: readonly Node[]
  }

  /** All but the verifications and receipts of each record, a sub-plan each: what they cost is theirs, not the page's. */
  function nodesOf(node: Node | undefined): Node[] {
    if (node === undefined || node['Parent Relationship'] === 'SubPlan') return []
    return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
  }

  const deep = { createdAt: at(10), id: 'ffffffff-ffff-4fff-bfff-ffffffffffff' }
  const middle = { createdAt: at(ROWS / 2), id: '00000000-0000-1000-8000-000000000000' }

  test.each([
    ['execution_evidence_by_caller', 'alice'],
    ['execution_evidence_by_time', null],
  ])('%s finds it, at any depth, without reading past it', async (index, callerId) => {
    const pages = [
      { after: middle },
      { after: deep },
      { after: middle, since: at(5) },
      { until: at(100) },
      {},
    ]
    for (const page of pages) {
      const nodes = await planOf(callerId, page)
      expect(nodes.map((node) => node['Node Type'])).not.toContain('Seq Scan')
      const scan = nodes.find((node) => node['Index Name'] === index)
      expect(scan?.['Node Type']).toMatch(/^Index (Only )?Scan$/)
      for (const node of nodes) {
        expect(node['Actual Rows'] * node['Actual Loops']).toBeLessThanOrEqual(26)
        expect(node['Rows Removed by Filter'] ?? 0).toBe(0)
      }
    }
  })
})
