// The program `console`: with many executions stored, it measures how soon the console's pages show their content, the searches, lists and sums
// behind them, and how fast the catalogue that they read is built while the service is idle.
import { accessSync, constants } from 'node:fs'
import type { Client } from 'pg'
import type { Browser, Page } from 'playwright-core'
import { aPolicy, aSigningKey, checker, maker, putIntoEffect } from './authority.ts'
import { makeRawKey } from '../src/core/callers/callers.ts'
import { sha256Hex } from '../src/store/sha256.ts'
import { call, type CallRoute, type Target } from './calls.ts'
import { figuresOf, openTimes, type Times } from './figures.ts'
import { openFilling } from './fill.ts'
import { number } from './options.ts'
import { followMs, paintMs } from './paint.ts'
import type { Measurement } from './report.ts'
import { filledOnce } from './request.ts'
import { disturbedBetween, readGauges } from './run.ts'
import { say, type Program } from './scenario.ts'
import { connect, startService } from './service.ts'
import { transactionBody } from './transaction.ts'

interface ConsoleOptions {
  readonly executions: number
  readonly requests: number
  readonly reads: number
  readonly openings: number
}

export const consoleProgram: Program<ConsoleOptions> = {
  name: 'console',
  description: 'the console: first useful paint of each page, searches, lists and sums over many executions',
  help: `
--executions <n>  stored executions of 30 days (default: 300000)
--requests <n>  stored approval requests (default: 2000)
--reads <n>  searches of each kind; a tenth as many lists and sums (default: 200)
--openings <n>  openings of each page, behind one that does not count (default: 10)`,
  parse: {
    executions: number(200, 100_000_000),
    requests: number(20, 1_000_000),
    reads: number(1, 100_000),
    openings: number(1, 1_000),
  },
  defaults: { executions: 300_000, requests: 2_000, reads: 200, openings: 10 },
  measure: measureConsole,
}

/** Real executions, each with a target and an amount of its own; the others are copies of them (bench/fill.ts). */
const EXECUTED = 100
/** Real approval requests. */
const ASKED = 20
const POLL_EVERY_MS = 50
const DAY_MS = 24 * 60 * 60 * 1000
const DAYS = 30

/** Milliseconds, at the median for pages and at p95 for reads. */
const GOALS = { page: 150, overview: 300, search: 100 }

/** A page without rows and plots. Its navigation has links to the pages of `FOLLOWED`. */
const WITHOUT_ROWS = '/console/in-doubt'
const FOLLOWED = new Set(['/console', '/console/inbox', '/console/requests'])

/** The policies of most executions. */
const PAYING = ['bench-paying-1', 'bench-paying-2', 'bench-paying-3'] as const
const ASKING = 'bench-asking'
const APPROVER = 'bench-approver'
const display = {
  'sandbox:echo': {
    text: 'Pay {intent.parameters.amount} {intent.parameters.currency} to {intent.target}.',
    amount: 'intent.parameters.amount',
    currency: 'intent.parameters.currency',
  },
}

/** Callers that execute in turn. */
const agents = Array.from({ length: 5 }, (_, i) => {
  const [callerId, key] = [`bench-agent-${i}`, makeRawKey()]
  return { callerId, key, entry: { callerId, keyHash: sha256Hex(key), allowedCapabilities: ['*'] } }
})
const agentOf = (n: number) => agents[n % agents.length]!

interface Ending {
  /** The ending is that of executions with lower numbers, as far as no ending before it applies. */
  readonly below: number
  /** Default: one of PAYING. */
  readonly policy?: string
  readonly expect: number
  readonly parameters?: object
  readonly approved: boolean
}

/** How each of a hundred executions ends, by its number: most are carried out. */
const LACKS_APPROVAL: Ending = { below: 8, policy: ASKING, expect: 403, approved: true }
const endings: readonly Ending[] = [
  LACKS_APPROVAL,
  { below: 16, expect: 500, approved: false },
  { below: 20, expect: 500, parameters: { fail: true }, approved: true },
  { below: EXECUTED, expect: 200, approved: true },
]

const targetOf = (n: number) => `vendor-${100 + (n % EXECUTED)}`
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

async function measureConsole(
  { executions, requests, reads, openings }: ConsoleOptions,
  stack: AsyncDisposableStack,
) {
  const browser = await openBrowser(stack)
  const service = await startService(
    {
      callers: [{ ...maker.entry, approverId: APPROVER }, checker.entry, ...agents.map(({ entry }) => entry)],
      env: { CONSOLE_ORIGIN: 'http://localhost:0', APPROVAL_REQUESTS_PER_HOUR: '1000', LOG: 'on' },
    },
    stack,
  )
  let replies = 0
  const callRoute: CallRoute = (route, given) => {
    replies++
    return call(service, route, given)
  }
  const client = await connect(service.databaseUrl)
  stack.defer(() => client.end())
  await decree(callRoute, client)
  const made = await act(callRoute)
  const rowsPerSecond = await build(client, { executions, requests })

  const measurements: Measurement[] = [
    { label: 'catalogue, built when idle', figures: figuresOf([{ 'rows/s': rowsPerSecond }]) },
  ]
  const human: Target = { url: service.url, key: maker.key }
  for (const { label, route, query, goalMs } of await kindsOf(client)) {
    say(`console: reads, ${label}`)
    const times = openTimes()
    const count = goalMs === undefined ? Math.ceil(reads / 10) : reads
    const from = readGauges(undefined)
    for (let n = 0; n < count; n++) {
      const startMs = performance.now()
      await call(human, route, { query: query(n) })
      times.add(performance.now() - startMs)
    }
    replies += count
    measurements.push(rowOf({ label, times, from, judged: 95, goalMs }))
  }
  const page = await logIn(browser, service.url)
  const at = (path: string) => page.url().replace(/\/console.*/, path)
  const measure = async (label: string, goalMs: number, once: () => Promise<number>) => {
    say(`console: opens ${label}`)
    await once()
    const times = openTimes()
    const from = readGauges(undefined)
    for (let n = 0; n < openings; n++) times.add(await once())
    measurements.push(rowOf({ label: `page: ${label}`, times, from, judged: 50, goalMs }))
  }
  const pages = pagesOf(made)
  for (const { label, path, ready, goalMs = GOALS.page } of pages)
    await measure(label, goalMs, () => paintMs(page, at(path), ready))
  for (const { label, path, ready } of pages.filter((one) => FOLLOWED.has(one.path)))
    await measure(`${label}, by its link`, GOALS.page, () => followMs(page, at(WITHOUT_ROWS), path, ready))
  await browser.close()
  const problems = await service.stop()
  const report = {
    name: 'console',
    description:
      'The console over many executions: the catalogue built when idle, reads, and the first useful paint of each page in a browser that has opened it before, and in which the page before has come to rest; by its link: from a click within the console, which loads no document. What has more than 100 % of its goal has missed it',
    service: service.about,
    labels: 'what',
    measurements,
    checked: { replies, verifiedOffline: 0 },
  }
  return { report, constants: { executions, requests, reads, openings, days: DAYS }, problems }
}

/** @returns a row; `of goal %` above 100 is missed */
function rowOf({
  label,
  times,
  from,
  judged,
  goalMs,
}: {
  readonly label: string
  readonly times: Times
  /** The gauges before the first of the times, for the share of other programs. */
  readonly from: ReturnType<typeof readGauges>
  /** The percentile that has the goal. */
  readonly judged: number
  readonly goalMs: number | undefined
}): Measurement {
  const goal =
    goalMs === undefined ? {} : { 'goal ms': goalMs, 'of goal %': (100 * times.ms(judged)) / goalMs }
  const { 'others %': others } = disturbedBetween(from, readGauges(undefined))
  const figures = { 'p50 ms': times.ms(50), 'p95 ms': times.ms(95), ...goal, 'others %': others }
  return { label, figures: figuresOf([figures]) }
}

const BROWSERS = ['chromium-headless-shell', 'chromium', 'google-chrome'].map((name) => `/usr/bin/${name}`)

/** @throws Error where the driver, which is a development dependency, or Chromium is not installed */
async function openBrowser(stack: AsyncDisposableStack): Promise<Browser> {
  const executablePath = BROWSERS.find((file) => {
    try {
      accessSync(file, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
  if (executablePath === undefined) throw new Error(`console: none of ${BROWSERS.join(', ')} is there`)
  const { chromium } = await import('playwright-core')
  // The driver's own handlers end the process, and would leave the database behind.
  const handlers = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false }
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'], ...handlers })
  stack.defer(() => browser.close())
  return browser
}

async function logIn(browser: Browser, serviceUrl: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  await page.goto(`${serviceUrl.replace('127.0.0.1', 'localhost')}/console`)
  await page.getByLabel('Your key').fill(maker.key)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.locator('header.top nav').waitFor()
  return page
}

/** Ids of real executions and of a real request, whose evidence verifies. */
interface Made {
  readonly completed: string
  readonly refused: string
  readonly waiting: string
}

/** Puts policies into effect before the oldest copy was decided, so that the catalogue has the amounts of all. */
async function decree(callRoute: CallRoute, client: Client): Promise<void> {
  const { publicKeyPem } = aSigningKey('k1')
  const enrolment = { action: 'add', approverId: APPROVER, keyId: 'k1', publicKeyPem }
  await putIntoEffect(callRoute, 'approver', { body: enrolment })
  const verify = { approved: { by: 'approval', quorum: 1 } }
  for (const name of PAYING)
    await putIntoEffect(callRoute, 'policy', aPolicy(name, '1.0.0', 'sandbox:echo', { display }))
  await putIntoEffect(callRoute, 'policy', aPolicy(ASKING, '1.0.0', 'sandbox:echo', { display, verify }))
  await client.query(
    `UPDATE authority SET began_at = began_at - interval '${2 * DAYS} days' WHERE kind = 'policy'`,
  )
}

function bodyOf(n: number, { policy = PAYING[n % PAYING.length]!, parameters, approved }: Ending): string {
  const amount = 10 + 7 * n
  const given = { target: targetOf(n), policy, policyVersion: '1.0.0', principal: agentOf(n).callerId }
  return filledOnce(
    transactionBody({
      ...given,
      parameters: { amount, currency: n % 5 === 0 ? 'USD' : 'EUR', ...parameters },
      signals: { approved, amount },
    }),
  )
}

/** Makes the executions and requests that the rest is copied from. */
async function act(callRoute: CallRoute): Promise<Made> {
  const executed: string[] = []
  for (let n = 0; n < EXECUTED; n++) {
    const ending = endings.find(({ below }) => n < below)!
    const body = bodyOf(n, ending)
    await callRoute('POST /execute', { body, key: agentOf(n).key, expect: ending.expect })
    executed.push((JSON.parse(body) as { businessTransactionId: string }).businessTransactionId)
  }
  const asked: string[] = []
  for (let n = 0; n < ASKED; n++) {
    const transaction = JSON.parse(bodyOf(n, LACKS_APPROVAL)) as object
    const { json } = await callRoute('POST /approval-requests', {
      body: { transaction },
      key: agentOf(n).key,
      expect: 201,
    })
    asked.push((json()['request'] as { requestId: string }).requestId)
  }
  return { refused: executed[0]!, completed: executed.at(-1)!, waiting: asked[0]! }
}

/** Stores copies, has the catalogue built again by the service, and returns the rows per second. */
async function build(
  client: Client,
  { executions, requests }: Pick<ConsoleOptions, 'executions' | 'requests'>,
): Promise<number> {
  say(`console: fills in ${executions} executions and ${requests} requests`)
  const filling = await openFilling(client)
  await filling.add({
    from: 0,
    to: executions - EXECUTED,
    newest: new Date(),
    everyMs: (DAYS * DAY_MS) / executions,
  })
  await copyRequests(client, requests - ASKED)
  const count = async () => {
    const { rows } = await client.query<{ count: string }>('SELECT count(*) AS count FROM catalogue_entries')
    return Number(rows[0]?.count)
  }
  say('console: the service builds the catalogue')
  await client.query(
    `UPDATE catalogue_state SET complete_since = 'infinity', building_below = '00000000-0000-0000-0000-000000000000'`,
  )
  const startedMs = performance.now()
  const before = await count()
  while ((await count()) < executions) await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS))
  const rowsPerSecond = Math.round((executions - before) / ((performance.now() - startedMs) / 1000))
  await client.query('VACUUM ANALYZE catalogue_entries')
  return rowsPerSecond
}

/** One in ten of the copies is open, and was asked in the last day. */
async function copyRequests(client: Client, count: number): Promise<void> {
  await client.query(
    `
    WITH source AS (SELECT row_number() OVER () - 1 AS n, r.* FROM approval_requests AS r WHERE r.status = 'OPEN'),
    copy AS (
      SELECT gen_random_uuid() AS id, i % $3::integer AS n, CASE WHEN i % 10 = 0 THEN 'OPEN' WHEN i % 10 < 7 THEN 'EXPIRED' ELSE 'WITHDRAWN' END AS status,
        now() - i * (CASE WHEN i % 10 = 0 THEN interval '1 day' ELSE $2::interval END) / $1::integer AS at
      FROM generate_series(0, $1::integer - 1) AS i
    )
    INSERT INTO approval_requests (request_id, request_hash, asked_hash, requested_by, principal_id, quorum, created_at, expires_at, status,
      body, seal, policy_name, policy_version, needed_signals)
    SELECT c.id, md5(c.id::text), md5(c.id::text), s.requested_by, s.principal_id, s.quorum, c.at, c.at + interval '2 days', c.status,
      replace(s.body, s.request_id::text, c.id::text), s.seal, s.policy_name, s.policy_version, s.needed_signals
    FROM copy AS c JOIN source AS s USING (n)`,
    [count, `${DAYS} days`, ASKED],
  )
  await client.query('VACUUM ANALYZE approval_requests')
}

interface Kind {
  readonly label: string
  readonly route: string
  /** The query of the n-th request. */
  readonly query: (n: number) => string
  readonly goalMs?: number
}

const search = (label: string, word: (n: number) => string): Kind => ({
  label: `search: ${label}`,
  route: 'GET /search',
  query: (n) => `?q=${word(n)}`,
  goalMs: GOALS.search,
})

const list = (label: string, query: (n: number) => string): Kind => ({
  label: `list: ${label}`,
  route: 'GET /executions',
  query,
})

const statistics = (label: string, query: string): Kind => ({
  label: `statistics: 30 days, ${label}`,
  route: 'GET /statistics',
  query: () => `?since=${daysAgo(DAYS)}&${query}`,
})

/** The reads of pages and programs. */
async function kindsOf(client: Client): Promise<readonly Kind[]> {
  const { rows } = await client.query<{ id: string }>(
    'SELECT business_transaction_id::text AS id FROM catalogue_entries LIMIT 100',
  )
  /** A target, the beginning of an id, a part of a word, an amount, and a word without a match, in turn. */
  const words = [
    (n: number) => targetOf(n),
    (n: number) => rows[n % rows.length]!.id.slice(0, 8),
    (n: number) => `endor-${100 + (n % EXECUTED)}`,
    (n: number) => String(10 + 7 * (n % EXECUTED)).padStart(3, '0'),
    (n: number) => `nobody-${n}`,
  ]
  return [
    search('mixed words', (n) => words[n % words.length]!(n)),
    search('a target, 1 % of all', targetOf),
    search('a word of all', () => 'vendor'),
    search('a word of none', (n) => `nobody-${n}`),
    list('newest', () => '?pageSize=50'),
    list('a target', (n) => `?target=${targetOf(n)}&pageSize=50`),
    list('refused for good', () => '?status=refused&approvable=false'),
    list('lacked approval', () => '?status=refused&approvable=true'),
    list('in doubt, none', () => '?status=in_doubt'),
    statistics('by day and status', 'bucket=day&by=status&approvable=false'),
    statistics('by hour and policy', 'bucket=hour&by=policy'),
    statistics('refusals by rule', 'by=rule&status=refused&approvable=false'),
  ]
}

interface MeasuredPage {
  readonly label: string
  readonly path: string
  /** A selector of the content that a reader has come for. */
  readonly ready: string
  readonly goalMs?: number
}

const ROW = 'main tbody tr'

const page = (label: string, path: string, ready = ROW): MeasuredPage => ({ label, path, ready })

/** Every page that shows many executions or requests, or one. */
function pagesOf({ completed, refused, waiting }: Made): readonly MeasuredPage[] {
  return [
    { ...page('Overview, 30 days', '/console?range=30d', '.plot canvas'), goalMs: GOALS.overview },
    page('Overview, 24 hours', '/console', '.plot canvas'),
    page('Overview, 7 days', '/console?range=7d', '.plot canvas'),
    page('Inbox', '/console/inbox'),
    page('Requests', '/console/requests'),
    page('Request', `/console/requests/${waiting}`, 'main .panel'),
    page('Executions', '/console/executions'),
    page('Executions, in doubt', '/console/executions?status=in_doubt', 'main .empty'),
    page('Execution', `/console/executions/${completed}`, 'main .panel'),
    page('Refusals', '/console/refusals'),
    page('Refusals, for good', '/console/refusals?approvable=false'),
    page('Refusal', `/console/refusals/${refused}`, 'main .sentence'),
    page('Caller, a fifth of all', `/console/callers/${agents[0]!.callerId}`, '.plot canvas'),
    page('Target', `/console/targets/${targetOf(50)}`, '.plot canvas'),
    page('Policy, a third of all', `/console/policies/${PAYING[0]}/1.0.0`, '.decided'),
    page('Search', `/console/search?q=${targetOf(50)}`, 'main li, main tbody tr'),
    // No sums are kept for targets: all executions of the range are added up.
    { ...page('Targets, 30 days', '/console/targets'), goalMs: GOALS.overview },
    page('Audit', '/console/audit'),
    page('Changes', '/console/changes'),
    page('In doubt', '/console/in-doubt', 'main .empty'),
    page('Policies', '/console/policies'),
    page('Approvers', '/console/approvers'),
    page('Deliveries', '/console/deliveries', 'main .empty'),
  ]
}
