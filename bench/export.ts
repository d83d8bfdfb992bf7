// The scenario `export`: GET /trust-records with a cursor over many stored records. Its claim is that a page costs the same at any depth
// and that the service's memory does not grow. OFFSET pages are measured beside it, for comparison.
import { call, type Target } from './calls.ts'
import { rssBytes } from './cpu.ts'
import { figuresOf, openTimes } from './figures.ts'
import { openFilling } from './fill.ts'
import { number } from './options.ts'
import type { Measurement } from './report.ts'
import { filledOnce } from './request.ts'
import { say, type Program } from './scenario.ts'
import { connect, startService } from './service.ts'
import { transactionBody } from './transaction.ts'

const PAGE_SIZE = 100
const SHARES = [0, 0.25, 0.5, 0.75, 0.99]
/** Real executions; the others are copies of them (bench/fill.ts). */
const EXECUTED = 100

interface ExportOptions {
  /** The number of records to store. */
  readonly records: number
  /** The number of pages to measure at each depth, if so many exist below it. */
  readonly pages: number
}

export const exportProgram: Program<ExportOptions> = {
  name: 'export',
  description: 'GET /trust-records by cursor: time per page at several depths, beside pages by number',
  help: `
--records <n>  stored records (default: 1000000)
--pages <n>  pages at each depth, where there are so many (default: 200)`,
  parse: { records: number(1_000, 100_000_000), pages: number(10, 100_000) },
  defaults: { records: 1_000_000, pages: 200 },
  measure: exportRecords,
}

async function exportRecords({ records, pages }: ExportOptions, stack: AsyncDisposableStack) {
  const service = await startService({}, stack)
  for (let i = 0; i < EXECUTED; i++)
    await call(service, 'POST /execute', { body: filledOnce(transactionBody({})) })
  const newest = await fill(service.databaseUrl, records)

  const problems: string[] = []
  const measurements: Measurement[] = []
  let replies = EXECUTED
  for (const share of SHARES) {
    const above = Math.floor((records * share) / PAGE_SIZE) * PAGE_SIZE
    const until = new Date(newest.getTime() + 1 - above).toISOString()
    const below = Math.ceil((records - above) / PAGE_SIZE)
    const times = await followPages(service, { until, pages: Math.min(pages, below), problems })
    const byNumber = await timed(service, `?pageSize=${PAGE_SIZE}&page=${above / PAGE_SIZE + 1}`)
    const rss = rssBytes(service.pids.service)
    const figures = {
      pages: times.count(),
      'page p50 ms': times.ms(50),
      'page p99 ms': times.ms(99),
      'by page= ms': byNumber.ms,
      'RSS MiB': rss && rss / 2 ** 20,
    }
    replies += times.count() + 1
    measurements.push({ label: String(above), figures: figuresOf([figures]) })
  }
  problems.push(...(await service.stop()))
  const report = {
    name: 'export',
    description: 'GET /trust-records by cursor at several depths, beside pages by number',
    service: service.about,
    labels: 'records above',
    measurements,
    checked: { replies, verifiedOffline: 0 },
  }
  const constants = { records, 'records per page': PAGE_SIZE, 'pages per depth, at most': pages }
  return { report, constants, problems }
}

/** Copies records up to that number, each a millisecond older than the record before; returns the time of the newest record. */
async function fill(databaseUrl: string, records: number): Promise<Date> {
  const client = await connect(databaseUrl)
  try {
    say(`export: fills in ${records} records`)
    const filling = await openFilling(client)
    // The copied records have times of their own.
    await client.query('TRUNCATE execution_evidence')
    const newest = new Date()
    await filling.add({ from: 0, to: records, newest })
    return newest
  } finally {
    await client.end()
  }
}

/** Follows the Link headers down from `until` for that many pages, and returns the time of each. */
async function followPages(
  target: Target,
  { until, pages, problems }: { until: string; pages: number; problems: string[] },
) {
  const times = openTimes()
  let query: string | undefined = `?pageSize=${PAGE_SIZE}&until=${until}`
  let last = until
  while (query !== undefined && times.count() < pages) {
    const { ms, next, count, lastAt } = await timed(target, query)
    times.add(ms)
    if (count !== PAGE_SIZE && next !== undefined) problems.push(`a page holds ${count} records`)
    if (lastAt !== undefined && lastAt >= last) problems.push('a page does not go down')
    last = lastAt ?? last
    query = next
  }
  if (times.count() < pages) problems.push(`only ${times.count()} of ${pages} pages below ${until}`)
  return times
}

async function timed(target: Target, query: string) {
  const startMs = performance.now()
  const { text, headers } = await call(target, 'GET /trust-records', { query })
  const ms = performance.now() - startMs
  // Only the row's time is a copy's own, and pages are in that order. The cursor holds the time of the page's last row.
  const next = /<[^>?]*(\?[^>]*)>; rel="next"/.exec(String(headers['link']))?.[1]
  const cursor = new URLSearchParams(next).get('cursor')
  const lastAt = cursor === null ? undefined : Buffer.from(cursor, 'base64url').toString().split(' ')[0]
  return { ms, next, count: (JSON.parse(text) as unknown[]).length, lastAt }
}
