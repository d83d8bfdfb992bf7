// The sums of the catalogue against its entries: whatever is written, replaced or pruned, by this release or the one before, each range adds up to
// its entries (docs/design-notes.md "The catalogue").
import { randomUUID } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { catalogueSums } from '../../src/cli/fsck/catalogue.ts'
import type { Tools } from '../../src/cli/fsck/tools.ts'
import { migrate } from '../../src/store/postgres/migrate.ts'
import { inTransaction } from '../../src/store/postgres/transaction.ts'
import {
  deleteAllEntries,
  pruneEntries,
  putEntries,
  type CatalogueRow,
} from '../../src/store/tables/catalogue-entries.ts'
import {
  buckets,
  countGroups,
  groupingNames,
  spansOf,
  type CountedBy,
  type CountedFilters,
  type CountedGroup,
} from '../../src/store/tables/catalogue-read.ts'
import { createDatabase, type TestDatabase } from '../database.ts'

const MIGRATIONS = join(import.meta.dirname, '..', '..', 'migrations')
const MIGRATION = '0046_catalogue-sums.sql'

const FROM_MS = Date.parse('2026-10-30T21:30:00Z')
const HOUR_MS = 3_600_000
/** Over the end of a month. */
const SPAN_MS = 75 * HOUR_MS

const time = fc
  .oneof(
    fc.integer({ min: 0, max: SPAN_MS }),
    // The first and the last moment of an hour, and of a day.
    fc.integer({ min: 0, max: 75 }).map((hours) => hours * HOUR_MS - HOUR_MS / 2),
    fc.integer({ min: 0, max: 75 }).map((hours) => hours * HOUR_MS - HOUR_MS / 2 - 1),
  )
  .map((ms) => new Date(FROM_MS + ms).toISOString())

const entry: fc.Arbitrary<CatalogueRow> = fc.record({
  businessTransactionId: fc.constant(null).map(() => randomUUID() as string),
  status: fc.constantFrom('completed', 'failed', 'refused', 'in_doubt'),
  resolution: fc.constant(null),
  decidedAt: time,
  completedAt: fc.constant(null),
  callerId: fc.constantFrom('agent', 'Agent', 'other', ''),
  principalId: fc.constant('p'),
  capability: fc.constantFrom('vendor:pay', 'crm:write'),
  target: fc.constantFrom('vendor-1', 'Vendor-1', 'vendor-2'),
  policyName: fc.constantFrom('paying', 'Paying', 'asking'),
  policyVersion: fc.constantFrom('1.0.0', '2.0.0'),
  rule: fc.constantFrom(null, '', 'small', ...Array.from({ length: 12 }, (_, i) => `rule-${i}`)),
  summary: fc.constant(null),
  amount: fc.constantFrom(null, '0', '0.1', '12.50', '-3', '123456789012345.123456789'),
  currency: fc.constantFrom(null, 'EUR', 'eur', 'JPY'),
  requestId: fc.constant(null),
  approvable: fc.constantFrom(null, true, false),
  search: fc.constant('text'),
})
const entries = (count: number, seed: number) =>
  fc.sample(entry, { numRuns: count, seed }).map((row) => ({ ...row, businessTransactionId: randomUUID() }))

/** Mostly not asked for: else nothing would fit. */
const optional = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: fc.constant(null), weight: 5 }, { arbitrary, weight: 1 })
const asked: fc.Arbitrary<{ filters: CountedFilters; how: CountedBy }> = fc.record({
  filters: fc.record({
    since: optional(time),
    until: optional(time),
    status: optional(fc.constantFrom('completed', 'refused', 'in_doubt')),
    approvable: optional(fc.constantFrom('true', 'false')),
    capability: optional(fc.constant('VENDOR:pay')),
    target: optional(fc.constant('VENDOR-1')),
    policy: optional(fc.constant('paying')),
    policyVersion: optional(fc.constant('1.0.0')),
    rule: optional(fc.constant('SMALL')),
    callerId: optional(fc.constant('agent')),
    currency: optional(fc.constant('eur')),
    owner: optional(fc.constantFrom('Agent', '')),
  }),
  how: fc.record({
    bucket: fc.constantFrom(null, ...buckets),
    by: fc.constantFrom(null, ...groupingNames),
  }),
})

let database: TestDatabase
let folder: string
let written: CatalogueRow[]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
  cpSync(MIGRATIONS, folder, {
    recursive: true,
    filter: (path) => basename(path) < MIGRATION || path === MIGRATIONS,
  })
  database = await createDatabase('template0')
  await migrate(database.url, { dir: folder })
  written = entries(400, 1)
  await put(written)
  expect((await migrate(database.url)).slice(0, 1)).toEqual([MIGRATION])
})

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await database.drop()
})

const put = (rows: readonly CatalogueRow[]) =>
  inTransaction(database.pool, (sql) => sql.runLast(putEntries(rows)))

/** @returns what fsck finds, and how many sums there are */
async function compared() {
  const { rows } = await database.pool.query(catalogueSums.text)
  const { counted, findings } = await catalogueSums.examine(rows, {} as Tools)
  return { count: counted['catalogue_sums'], findings }
}

const bucketMs = { minute: 60_000, hour: HOUR_MS, day: 24 * HOUR_MS }

function bucketOf(at: string, bucket: CountedBy['bucket']): string | null {
  if (bucket === null) return null
  if (bucket === 'month') return `${at.slice(0, 7)}-01T00:00:00.000Z`
  return new Date(Math.floor(Date.parse(at) / bucketMs[bucket]) * bucketMs[bucket]).toISOString()
}

/** Amounts in thousand-millionths, which are exact. */
function units(amount: string): bigint {
  const [, sign = '', whole = '', part = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? []
  return BigInt(`${sign}${whole}${part.padEnd(9, '0')}`)
}

const same = (value: string | null, wanted: string | null | undefined) =>
  (wanted ?? null) === null || value?.toLowerCase() === wanted!.toLowerCase()

function fits(row: CatalogueRow, of: CountedFilters): boolean {
  return (
    ((of.since ?? null) === null || row.decidedAt >= of.since!) &&
    ((of.until ?? null) === null || row.decidedAt < of.until!) &&
    ((of.approvable ?? null) === null || (row.approvable === true) === (of.approvable === 'true')) &&
    ((of.owner ?? null) === null || row.callerId === of.owner) &&
    ((of.status ?? null) === null || row.status === of.status) &&
    same(row.capability, of.capability) &&
    same(row.target, of.target) &&
    same(row.policyName, of.policy) &&
    same(row.policyVersion, of.policyVersion) &&
    same(row.rule, of.rule) &&
    same(row.callerId, of.callerId) &&
    same(row.currency, of.currency)
  )
}

const keyOf: Readonly<Record<(typeof groupingNames)[number], (row: CatalogueRow) => string | null>> = {
  status: ({ status }) => status,
  capability: ({ capability }) => capability,
  target: ({ target }) => target,
  policy: ({ policyName }) => policyName,
  rule: ({ rule }) => rule,
  callerId: ({ callerId }) => callerId,
}

/** @param shown the keys of the groups that are not among all others */
function added(filters: CountedFilters, { bucket, by }: CountedBy, shown: ReadonlySet<string | null>) {
  const sums = new Map<string, { count: number; amount: bigint | null }>()
  for (const row of written.filter((one) => fits(one, filters))) {
    const key = by === null ? null : keyOf[by](row)
    const group = shown.has(key) ? [key, false] : [null, true]
    const place = JSON.stringify([bucketOf(row.decidedAt, bucket), ...group, row.currency])
    const { count, amount } = sums.get(place) ?? { count: 0, amount: null }
    sums.set(place, {
      count: count + 1,
      amount: row.amount === null ? amount : (amount ?? 0n) + units(row.amount),
    })
  }
  return sums
}

const asMap = (groups: readonly CountedGroup[]) =>
  new Map(
    groups.map(({ start, key, others, currency, count, amount }) => [
      JSON.stringify([start, key, others, currency]),
      { count, amount: amount === null ? null : units(amount) },
    ]),
  )

/** Every range, filter and grouping adds up to the entries. */
async function expectSums(seed: number): Promise<void> {
  expect((await compared()).findings).toEqual([])
  let counted = 0
  await fc.assert(
    fc.asyncProperty(asked, async ({ filters, how }) => {
      const groups = await countGroups(database.pool, filters, how)
      const shown = new Set(groups.filter(({ others }) => !others).map(({ key }) => key))
      expect(shown.size).toBeLessThanOrEqual(10)
      if (shown.size < 10) expect(groups.every(({ others }) => !others)).toBe(true)
      expect(asMap(groups)).toEqual(added(filters, how, shown))
      if (groups.length > 0) counted++
    }),
    { numRuns: 80, seed },
  )
  expect(counted).toBeGreaterThan(40)
}

test('the migration sums what a release before has written', () => expectSums(1))

test('what is written, replaced and pruned moves from group to group, and leaves no empty one', async () => {
  const fresh = entries(150, 2)
  // Most of all, doubts are closed; here anything may become anything, at another time too, and some stay as they are.
  const replaced = written.slice(0, 150).map((row, i) => {
    const { businessTransactionId } = row
    return i % 5 === 0 ? row : { ...entries(1, 1000 + i)[0]!, businessTransactionId }
  })
  await put([...fresh, ...replaced])
  written = [...written.slice(150), ...replaced, ...fresh]
  await expectSums(2)

  const before = new Date(FROM_MS + 20.3 * HOUR_MS).toISOString()
  const gone = written.filter(({ decidedAt }) => decidedAt < before).length
  expect(gone).toBeGreaterThan(50)
  expect(await pruneEntries(database.pool, { before, limit: 40 })).toBe(40)
  expect((await compared()).findings).toEqual([])
  await pruneEntries(database.pool, { before, limit: 1_000 })
  written = written.filter(({ decidedAt }) => decidedAt >= before)
  await expectSums(3)
  const { rows } = await database.pool.query('SELECT FROM catalogue_sums WHERE count <= 0')
  expect(rows).toEqual([])
})

test('what is undone is not counted, and what is deleted whole leaves no sum', async () => {
  const undone = inTransaction(database.pool, async (sql) => {
    await sql.run(putEntries(entries(20, 3)))
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  expect((await compared()).findings).toEqual([])
  await database.pool.query(
    `UPDATE catalogue_sums SET count = count + 1 WHERE start = (SELECT min(start) FROM catalogue_sums)`,
  )
  const { findings } = await compared()
  expect(findings[0]).toMatchObject({
    table: 'catalogue_sums',
    key: expect.stringMatching(/^day 2026-10-31T00:00Z /) as string,
    problem: 'is not the sum of its entries: run countersign catalogue rebuild',
  })
  await deleteAllEntries(database.pool)
  expect(await compared()).toEqual({ count: 0, findings: [] })
  await put(written)
  expect((await compared()).findings).toEqual([])
})

test('groups with the largest sums are shown in the place of those with most executions, in the currency of most', async () => {
  const policyName = `ordered-${randomUUID()}`
  const paid = (target: string, currency: string | null, amount: string | null) => ({
    ...entries(1, 7)[0]!,
    policyName,
    target,
    currency,
    amount,
  })
  await put([
    ...[1, 2, 3].map(() => paid('often', 'EUR', '2')),
    paid('large', 'eur', '500'),
    paid('larger', 'EUR', '500.5'),
    paid('yen', 'JPY', '900000'),
    ...[1, 2].map(() => paid('free', 'EUR', null)),
    // No money, as the costs of tools; `often` has as many in euros as it has executions.
    ...[1, 2, 3, 4, 5, 6].map((i) => paid(`tool-${i}`, null, '9999')),
  ])
  const first = async (groups: number, order: CountedBy['order'], currency?: string) => {
    const how: CountedBy = { bucket: null, by: 'target', groups, ...(order && { order }) }
    const counted = await countGroups(
      database.pool,
      { policy: policyName, ...(currency && { currency }) },
      how,
    )
    const keys = counted.flatMap(({ key, others }) => (others ? [] : [key!]))
    return [new Set(keys), new Set(counted.map(({ mainCurrency }) => mainCurrency))]
  }
  expect(await first(1, undefined)).toEqual([new Set(['often']), new Set([null])])
  expect(await first(2, 'count')).toEqual([new Set(['often', 'free']), new Set([null])])
  expect(await first(1, 'amount')).toEqual([new Set(['larger']), new Set(['EUR'])])
  expect(await first(2, 'amount')).toEqual([new Set(['large', 'larger']), new Set(['EUR'])])
  // Keys without a sum in the currency come behind keys with a sum.
  expect(await first(3, 'amount')).toEqual([new Set(['large', 'larger', 'often']), new Set(['EUR'])])
  expect(await first(1, 'amount', 'jpy')).toEqual([new Set(['yen']), new Set(['JPY'])])
  expect(await first(1, 'amount', 'GBP')).toEqual([new Set(), new Set()])
})

const shown = (at: string | null) => at?.slice(11, 16) ?? '-'

test.each<[string, CountedFilters, CountedBy, string[]]>([
  [
    'days, with the hours and entries before and behind them',
    { since: '2026-10-01T22:10:00.000Z', until: '2026-10-04T01:00:00.001Z' },
    { bucket: null, by: 'status' },
    ['entries 22:10 23:00', 'hour 23:00 00:00', 'day 00:00 00:00', 'hour 00:00 01:00', 'entries 01:00 01:00'],
  ],
  ['no end', { since: '2026-10-02T00:00:00.000Z' }, { bucket: 'day', by: 'rule' }, ['day 00:00 -']],
  ['hours', { since: '2026-10-02T05:00:00.000Z' }, { bucket: 'hour', by: null }, ['hour 05:00 -']],
  [
    'days of a caller',
    { since: '2026-10-02T05:00:00.000Z', callerId: 'agent' },
    { bucket: null, by: 'policy' },
    ['entries 05:00 00:00', 'day 00:00 -'],
  ],
  [
    'within an hour',
    { since: '2026-10-02T05:01:00.000Z', until: '2026-10-02T05:59:00.000Z' },
    { bucket: 'day', by: null },
    ['entries 05:01 05:59'],
  ],
  ['a target', { since: null, target: 'x' }, { bucket: 'day', by: 'status' }, ['entries - -']],
  [
    'what no sum has',
    { since: null, contradicted: 'true' },
    { bucket: 'day', by: 'status' },
    ['entries - -'],
  ],
])('a range is read as %s', (_title, filters, how, spans) => {
  expect(
    spansOf(filters, how).map(({ of, since, until }) => `${of} ${shown(since)} ${shown(until)}`),
  ).toEqual(spans)
})
