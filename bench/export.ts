// The scenario `export`: GET /trust-records with a cursor over many stored records. Its claim is that a page costs the same at
// any depth and that the service's memory does not grow; OFFSET pages stand beside it to show what that is worth.
import { Client } from 'pg'
import { openFilling } from './fill.ts'
import { percentile } from './figures.ts'
import { describeMachine } from './machine.ts'
import { call } from './calls.ts'
import { rssMiB } from './cpu.ts'
import { startService, type MeasuredService, type ServiceOptions } from './service.ts'
import { filledOnce } from './request.ts'
import { aligned, constantsText, text } from './tables.ts'
import { transactionBody } from './transaction.ts'

export interface ExportOptions extends ServiceOptions {
  readonly records: number
  /** Pages measured at each depth, as far as there are so many below it. */
  readonly pages: number
}

interface Depth {
  /** Records that lie above. */
  readonly above: number
  /** Measured: the deepest point may have fewer below it than were asked for. */
  readonly pages: number
  readonly pageMs: { readonly p50: number; readonly p99: number }
  /** One page at the same depth by `page=`, milliseconds. */
  readonly offsetPageMs: number
  readonly rssMiB: number | undefined
}

export interface ExportReport {
  readonly scenario: 'export'
  readonly startedAt: string
  readonly machine: object
  readonly service: { readonly listener: string; readonly threads: number }
  readonly constants: { readonly [name: string]: number }
  readonly depths: readonly Depth[]
}

const PAGE_SIZE = 100
const SHARES = [0, 0.25, 0.5, 0.75, 0.99]
/** Executed for real; the others are copies of them (bench/fill.ts). */
const EXECUTED = 100

/** Measures; with any problem the report is worth nothing. */
export async function exportRecords(
  { records, pages, ...serviceOptions }: ExportOptions,
  stack: AsyncDisposableStack,
): Promise<{ report: ExportReport; problems: string[] }> {
  const startedAt = new Date().toISOString()
  const service = await startService(serviceOptions, stack)
  for (let i = 0; i < EXECUTED; i++)
    await call(service, 'POST', '/execute', { body: filledOnce(transactionBody({})), expect: 200 })
  const newest = await filled(service.databaseUrl, records)

  const problems: string[] = []
  const depths: Depth[] = []
  for (const share of SHARES) {
    const above = Math.floor((records * share) / PAGE_SIZE) * PAGE_SIZE
    const until = new Date(newest.getTime() + 1 - above).toISOString()
    const below = Math.ceil((records - above) / PAGE_SIZE)
    const pageMs = await chain(service, { until, pages: Math.min(pages, below), problems })
    const page = above / PAGE_SIZE + 1
    const offset = await timed(service, `/trust-records?pageSize=${PAGE_SIZE}&page=${page}`)
    depths.push({
      above,
      pages: pageMs.length,
      pageMs: pageTimes(pageMs),
      offsetPageMs: offset.ms,
      rssMiB: rssMiB(service.pids.service),
    })
  }
  problems.push(...(await service.stop()))
  const report: ExportReport = {
    scenario: 'export',
    startedAt,
    machine: describeMachine(),
    service: { listener: service.listener, threads: service.threads },
    constants: { records, 'records per page': PAGE_SIZE, 'pages per depth, at most': pages },
    depths,
  }
  return { report, problems }
}

/** Text for the terminal. */
export function printedExport({ service, constants, depths }: ExportReport): string {
  const rows = depths.map(({ above, pages, pageMs, offsetPageMs, rssMiB: rss }) => [
    String(above),
    String(pages),
    ...[pageMs.p50, pageMs.p99, offsetPageMs].map((ms) => text(ms, 1)),
    text(rss),
  ])
  const head = ['records above', 'pages', 'page p50 ms', 'p99 ms', 'by page= ms', 'RSS MiB']
  return `export: listener ${service.listener}, ${constantsText(constants)}\n${aligned([head, ...rows])}\n`
}

function pageTimes(times: readonly number[]): Depth['pageMs'] {
  const sorted = times.toSorted((a, b) => a - b)
  return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) }
}

/** Copies records until there are so many, each a millisecond older than the one before; returns the newest one's time. */
async function filled(databaseUrl: string, records: number): Promise<Date> {
  const client = new Client(databaseUrl)
  await client.connect()
  try {
    const filling = await openFilling(client, (count) =>
      process.stderr.write(`\r${count} of ${records} records stored`),
    )
    // The copied ones have times of their own.
    await client.query('TRUNCATE trust_records')
    const newest = new Date()
    await filling.add({ from: 0, to: records, newest })
    process.stderr.write('\n')
    return newest
  } finally {
    await client.end()
  }
}

/** Follows the Link headers down from `until` for that many pages, and returns the milliseconds of each. */
async function chain(
  service: MeasuredService,
  { until, pages, problems }: { until: string; pages: number; problems: string[] },
): Promise<number[]> {
  const times: number[] = []
  let path: string | undefined = `/trust-records?pageSize=${PAGE_SIZE}&until=${until}`
  let last = until
  while (path !== undefined && times.length < pages) {
    const { ms, next, count, lastAt } = await timed(service, path)
    times.push(ms)
    if (count !== PAGE_SIZE && next !== undefined) problems.push(`a page holds ${count} records`)
    if (lastAt !== undefined && lastAt >= last) problems.push('a page does not go down')
    last = lastAt ?? last
    path = next
  }
  if (times.length < pages) problems.push(`only ${times.length} of ${pages} pages below ${until}`)
  return times
}

async function timed(
  service: MeasuredService,
  path: string,
): Promise<{ ms: number; next: string | undefined; count: number; lastAt: string | undefined }> {
  const startMs = performance.now()
  const { text: page, headers } = await call(service, 'GET', path, { expect: 200 })
  const ms = performance.now() - startMs
  // Of a copy only the row's time is its own, and pages are in that order: the cursor holds the time of the page's last row.
  const next = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
  const cursor = new URLSearchParams(next?.split('?')[1]).get('cursor')
  const lastAt = cursor === null ? undefined : Buffer.from(cursor, 'base64url').toString().split(' ')[0]
  return { ms, next, count: (JSON.parse(page) as unknown[]).length, lastAt }
}
