// The program `catalogue`: how fast the catalogue is built behind many stored executions while the service is idle, and how soon lists, searches
// and sums answer over it.
import { call, type Target } from './calls.ts'
import { figuresOf, openTimes } from './figures.ts'
import { openFilling } from './fill.ts'
import { number } from './options.ts'
import type { Measurement } from './report.ts'
import { filledOnce } from './request.ts'
import { say, type Program } from './scenario.ts'
import { connect, startService } from './service.ts'
import { transactionBody } from './transaction.ts'

/** Executed for real, each with a target of its own; the others are copies of them (bench/fill.ts). */
const EXECUTED = 100
const POLL_EVERY_MS = 50

interface CatalogueOptions {
  readonly executions: number
  readonly reads: number
}

export const catalogueProgram: Program<CatalogueOptions> = {
  name: 'catalogue',
  description: 'the catalogue: rows a second that are filled when idle, and lists, searches and sums over it',
  help: `
--executions <n>  stored executions (default: 300000)
--reads <n>  reads of each kind (default: 100)`,
  parse: { executions: number(1_000, 100_000_000), reads: number(1, 100_000) },
  defaults: { executions: 300_000, reads: 100 },
  measure: measureCatalogue,
}

const DAY_MS = 24 * 60 * 60 * 1000

/** Each kind of read with the query of its n-th request. */
const kinds: readonly (readonly [label: string, route: string, query: (n: number) => string])[] = [
  ['search: a target, 1 % of all', 'GET /search', (n) => `?q=vendor-${targetOf(n)}`],
  ['search: a word of all', 'GET /search', () => '?q=vendor'],
  ['search: a word of none', 'GET /search', (n) => `?q=nobody-${n}`],
  ['search: three letters', 'GET /search', (n) => `?q=${targetOf(n)}`],
  ['list: newest', 'GET /executions', () => '?pageSize=50'],
  ['list: a target', 'GET /executions', (n) => `?target=vendor-${targetOf(n)}&pageSize=50`],
  ['list: in doubt', 'GET /executions', () => '?status=in_doubt'],
  ['list: refused', 'GET /executions', () => '?status=refused'],
  [
    'statistics: 30 days by day and status',
    'GET /statistics',
    () => `?bucket=day&by=status&since=${daysAgo(30)}`,
  ],
  [
    'statistics: 30 days by hour and policy',
    'GET /statistics',
    () => `?bucket=hour&by=policy&since=${daysAgo(30)}`,
  ],
]

const targetOf = (n: number) => 100 + (n % EXECUTED)
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

async function measureCatalogue({ executions, reads }: CatalogueOptions, stack: AsyncDisposableStack) {
  const service = await startService({}, stack)
  for (let i = 0; i < EXECUTED; i++)
    await call(service, 'POST /execute', {
      body: filledOnce(transactionBody({ target: `vendor-${targetOf(i)}` })),
    })
  const rowsPerSecond = await build(service.databaseUrl, executions)
  const measurements: Measurement[] = [
    { label: 'built when idle', figures: figuresOf([{ 'rows/s': rowsPerSecond }]) },
  ]
  let replies = EXECUTED
  for (const [label, route, query] of kinds) {
    const times = openTimes()
    for (let n = 0; n < reads; n++) times.add(await timed(service, route, query(n)))
    replies += reads
    measurements.push({ label, figures: figuresOf([{ 'p50 ms': times.ms(50), 'p95 ms': times.ms(95) }]) })
  }
  const problems = await service.stop()
  const report = {
    name: 'catalogue',
    description: 'the catalogue, built when idle, and reads over it',
    service: service.about,
    labels: 'what',
    measurements,
    checked: { replies, verifiedOffline: 0 },
  }
  return { report, constants: { executions, 'reads of each kind': reads }, problems }
}

/** Stores copies, has all built again by the service, and returns how many rows a second. */
async function build(databaseUrl: string, executions: number): Promise<number> {
  const client = await connect(databaseUrl)
  try {
    say(`catalogue: fills in ${executions} executions`)
    const filling = await openFilling(client)
    await filling.add({ from: 0, to: executions - EXECUTED, newest: new Date() })
    const count = async () => {
      const { rows } = await client.query<{ count: string }>(
        'SELECT count(*) AS count FROM catalogue_entries',
      )
      return Number(rows[0]?.count)
    }
    say('catalogue: the service builds it')
    await client.query(
      `UPDATE catalogue_state SET complete_since = 'infinity', building_below = '00000000-0000-0000-0000-000000000000'`,
    )
    const startedMs = performance.now()
    const before = await count()
    while ((await count()) < executions) await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS))
    const rowsPerSecond = Math.round((executions - before) / ((performance.now() - startedMs) / 1000))
    await client.query('VACUUM ANALYZE catalogue_entries')
    return rowsPerSecond
  } finally {
    await client.end()
  }
}

async function timed(target: Target, route: string, query: string): Promise<number> {
  const startMs = performance.now()
  await call(target, route, { query })
  return performance.now() - startMs
}
