// `npm run demo:console` as its reader gets it: a month of executions behind a service, told the same by every page.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { axeFindings } from '../browser/axe.ts'
import { describeInBrowser, launchChromium, openPage, type WatchedPage } from '../browser/chromium.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { baseEnvironment } from '../run/environment.ts'
import { aCaller, startService, until } from '../service.ts'

const PROGRAM = join(import.meta.dirname, '..', '..', 'demo', 'console.ts')

let folder: string
let demo: ChildProcess
let output = ''
let ended: Promise<unknown[]>
let database: TestDatabase
let browser: Browser
let watched: WatchedPage
let page: Page

function start(args: readonly string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { ...baseEnvironment, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  return child
}

const found = (pattern: RegExp) => pattern.exec(output)?.[1] ?? ''
const origin = () => found(/(http:\/\/localhost:\d+)\/console/)
const keyOf = (name: string) => found(new RegExp(`^ +${name} +(csk_\\S+)`, 'm'))

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
  demo = start(['--size', 'small', '--seed', '7'])
  ended = once(demo, 'exit')
  await until(() => output.includes('Ctrl-C') || demo.exitCode !== null, 'the month to be over', 300_000)
  expect(demo.exitCode, output).toBeNull()
  database = await createDatabase()
  browser = await launchChromium()
  watched = await logIn(`${origin()}/console`, keyOf('dana'))
  ;({ page } = watched)
}, 310_000)

afterAll(async () => {
  await browser?.close()
  await database?.drop()
  demo.kill('SIGTERM')
  await ended
  rmSync(folder, { recursive: true, force: true })
})

async function logIn(url: string, key: string): Promise<WatchedPage> {
  const opened = await openPage(browser, url)
  await opened.page.getByLabel('Your key').fill(key)
  await opened.page.getByRole('button', { name: 'Log in', exact: true }).click()
  await opened.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  opened.problems.splice(0)
  return opened
}

async function answerOf(path: string): Promise<{ readonly body: unknown; readonly link: string | null }> {
  const url = origin().replace('localhost', '127.0.0.1')
  const response = await fetch(url + path, { headers: { Authorization: `Bearer ${keyOf('auditor')}` } })
  expect(response.status, path).toBe(200)
  return { body: await response.json(), link: response.headers.get('Link') }
}

const read = async <T>(path: string) => (await answerOf(path)).body as T

interface Counted {
  readonly completeUntil: string
  readonly buckets: readonly {
    readonly start: string
    readonly groups: readonly { readonly key: string | null; readonly count: number }[]
  }[]
}

/** Each number of a page that has a link, with the list it leads to: a path of the console. */
async function linkedNumbers(): Promise<{ readonly number: number; readonly path: string }[]> {
  const linked = await page.evaluate(() =>
    Array.from(document.querySelectorAll('main a[href*="since="], .figures a'), (link) => {
      const shown = link.closest('tr')?.querySelector('td')?.textContent ?? link.textContent ?? ''
      return { shown, path: link.getAttribute('href') ?? '' }
    }),
  )
  return linked.flatMap(({ shown, path }) => {
    // Sums of money lead to what they are the sum of.
    const [, digits] = /^([\d,]+)(?: [a-z]|$)/.exec(shown) ?? []
    return digits === undefined ? [] : [{ number: Number(digits.replaceAll(',', '')), path }]
  })
}

/** @returns how many rows the list of a page has */
async function countListed(path: string): Promise<number> {
  let count = 0
  let next = `${path.replace('/console', '').replace('/requests?', '/approval-requests?').replace('/deliveries?', '/webhook-events?')}&pageSize=100`
  while (next !== '') {
    const { body, link } = await answerOf(next)
    count += Object.values(body as object).find((member) => Array.isArray(member))?.length ?? 0
    next = /<([^>]+)>; rel="next"/.exec(link ?? '')?.[1] ?? ''
  }
  return count
}

const falls = (values: readonly number[]) => expect(values).toEqual(values.toSorted((a, b) => b - a))

describeInBrowser('npm run demo:console', () => {
  test('has a month of executions of every outcome, at the times at which they happened', async () => {
    const since = new Date(Date.now() - 31 * 86_400_000).toISOString()
    const path = `/statistics?bucket=day&by=status&since=${since}`
    const { buckets } = await until(
      async () => {
        const counted = await read<Counted>(path)
        const groups = counted.buckets.flatMap((bucket) => bucket.groups)
        const count = groups.reduce((sum, one) => sum + one.count, 0)
        // An execution counts as in doubt only once its connector's time is over.
        return count >= 240 && groups.some(({ key }) => key === 'in_doubt') ? counted : undefined
      },
      'the catalogue to have all of it',
      30_000,
    )
    expect(buckets.length).toBeGreaterThan(25)
    const outcomes = new Set(buckets.flatMap(({ groups }) => groups.map(({ key }) => key)))
    expect(outcomes).toEqual(new Set(['completed', 'failed', 'in_doubt', 'refused']))
  })

  test('has requests that ended in every way, changes, deliveries and two endpoints', async () => {
    const { requests } = await read<{ requests: { status: string }[] }>('/approval-requests?pageSize=100')
    const statuses = new Set(requests.map(({ status }) => status))
    expect(statuses).toEqual(
      new Set(['APPROVED', 'DECLINED', 'ENDED', 'EXPIRED', 'PENDING', 'USED', 'WITHDRAWN']),
    )
    const { changes } = await read<{ changes: { kind: string; status: string }[] }>('/changes?pageSize=100')
    expect(new Set(changes.map(({ status }) => status))).toEqual(
      new Set(['APPROVED', 'REJECTED', 'PENDING_APPROVAL']),
    )
    const { events } = await read<{ events: { outcome: string }[] }>('/webhook-events')
    expect(new Set(events.map(({ outcome }) => outcome))).toEqual(new Set(['confirmed', 'contradicted']))
    const { eventEndpoints } = await read<{ eventEndpoints: unknown[] }>('/event-endpoints')
    expect(eventEndpoints).toHaveLength(2)
  })

  test('has no event at an endpoint from before it was registered, and no answer due hours after its release', async () => {
    const { eventEndpoints } = await read<{
      eventEndpoints: { registeredAt: string; cursor?: string; state: string }[]
    }>('/event-endpoints')
    const failing = eventEndpoints.find(({ state }) => state !== 'delivering')
    const { events } = await read<{ events: { occurredAt: string }[] }>(
      `/events?limit=1&after=${failing?.cursor}`,
    )
    const SECONDS_MS = 5_000
    expect(Date.parse(events[0]!.occurredAt)).toBeGreaterThan(Date.parse(failing!.registeredAt) - SECONDS_MS)
    const { intents } = await read<{
      intents: { releasedAt: string; deadline: string }[]
    }>('/execution-intents/unfinalized')
    expect(intents.length).toBeGreaterThan(0)
    for (const { releasedAt, deadline } of intents)
      expect(Date.parse(deadline) - Date.parse(releasedAt)).toBeLessThan(60_000)
  })

  test('the Overview says what the service counts, and each number leads to its list', async () => {
    const figure = (name: string) => page.locator('.figures div', { hasText: name }).locator('a')
    await until(async () => {
      // A page that is open shows what is new after up to a minute, the list at once: it is opened anew, which asks seldom enough for a caller's budget too.
      await page.goto(`${origin()}/console?range=30d`)
      const numbers = await until(async () => {
        const linked = await linkedNumbers()
        return linked.length < 12 ? undefined : linked
      }, 'the numbers')
      const lists = await Promise.all(
        numbers.map(async ({ path }) => ({ path, number: await countListed(path) })),
      )
      return isDeepStrictEqual(
        lists,
        numbers.map(({ path, number }) => ({ path, number })),
      )
    }, 'each number to be that of its list')
    await until(async () => /^\d+$/.test((await figure('failed').textContent()) ?? ''), 'the counts')
    const refused = Number(await figure('refused').textContent())
    expect(refused).toBeGreaterThan(5)
    expect(Number(await figure('lacked approval').textContent())).toBeGreaterThan(0)
    await page.locator('.plot canvas').waitFor()
    await page.getByRole('link', { name: 'Policy customer-refund 3.0.0' }).waitFor()
    await page.getByText('As a table').click()
    const cells = await page.locator('.plot tbody td:nth-child(3)').allTextContents()
    expect(cells.reduce((sum, cell) => sum + Number(cell), 0)).toBe(refused)
    expect(await axeFindings(page)).toEqual([])

    await figure('in doubt').click()
    await page.getByRole('heading', { name: 'Executions' }).waitFor()
    await page.locator('tbody tr').first().waitFor()
    expect(new Set(await page.locator('tbody .badge').allTextContents())).toEqual(new Set(['in doubt']))
    await page.keyboard.press('i')
    await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    expect(watched.problems).toEqual([])
  })

  test('what a provider contradicts is marked in the list, and its page has both amounts and the very delivery', async () => {
    const { promise: told, resolve: tell } = Promise.withResolvers<void>()
    await page.route(/\/statistics\?.*contradicted=true/, async (route) => {
      await told
      await route.continue()
    })
    await page.goto(`${origin()}/console?range=30d`)
    const panel = page.locator('.panel', { hasText: 'Providers say otherwise' })
    const link = panel.getByRole('link', { name: /^\d+ executions?$/ })
    await panel.locator('li').first().waitFor()
    // A count that is not there yet is not shown as none.
    expect([await link.count(), await panel.getByText('of this time').count()]).toEqual([0, 0])
    tell()
    await link.waitFor()
    await page.unrouteAll()
    const count = Number.parseInt((await link.textContent()) ?? '', 10)
    expect(count).toBeGreaterThan(0)
    await link.click()
    await page.getByRole('heading', { name: 'Executions', exact: true }).waitFor()
    await page.getByText('Provider contradicts: yes').waitFor()
    await page.locator('tbody tr').first().waitFor()
    // Each has the mark beside how it ended, and there are no others.
    expect(await page.locator('tbody tr').count()).toBe(count)
    expect(await page.locator('tbody .badge', { hasText: 'contradicted' }).count()).toBe(count)
    expect(await axeFindings(page)).toEqual([])
    const { events } = await read<{ events: { businessTransactionId: string; webhookEventId: string }[] }>(
      '/webhook-events?outcome=contradicted',
    )
    const { businessTransactionId: id, webhookEventId } = events[0]!
    const { body } = await read<{ body: string }>(`/webhook-events/${webhookEventId}`)
    await page.goto(`${origin()}/console/executions?q=${id}`)
    await page.locator('tbody .badge', { hasText: 'contradicted' }).waitFor()
    await page.goto(`${origin()}/console/executions/${id}`)
    const { amount } = JSON.parse(body) as { amount: number }
    const { transaction } = await read<{ transaction: { intent: { parameters: { amount: number } } } }>(
      `/trust-records/${id}`,
    )
    const ours = transaction.intent.parameters.amount
    await page
      .getByText(`payload.amount is ${amount}; transaction.intent.parameters.amount is ${ours}`)
      .waitFor()
    const times = await page.locator('.timeline .exact').allTextContents()
    expect([times.length > 5, times]).toEqual([true, times.toSorted()])
    await page.getByRole('link', { name: 'delivery', exact: true }).click()
    await page.waitForURL(`**/deliveries/${webhookEventId}`)
    expect(watched.problems).toEqual([])
  })

  test('targets stand in the order of their sums, or of their counts where the address says so', async () => {
    const rows = async () => {
      await page.locator('.panel tbody tr').first().waitFor()
      const cells = await page.locator('.panel tbody tr').allInnerTexts()
      // All others together are one more row in a month with more than a hundred targets.
      const ofOne = cells.filter((text) => !text.startsWith('all others'))
      return ofOne.map((text) => {
        const [name = '', sums = '', count = ''] = text.split('\t')
        const eur = /([\d,.]+) EUR/.exec(sums)?.[1] ?? '-1'
        return { name, eur: Number(eur.replaceAll(',', '')), count: Number(count.replaceAll(',', '')) }
      })
    }
    await page.goto(`${origin()}/console/targets`)
    await page.getByText('Ordered by the sums in EUR.').waitFor()
    const bySum = await rows()
    expect(bySum.length).toBeGreaterThan(5)
    falls(bySum.map(({ eur }) => eur))
    expect(await axeFindings(page)).toEqual([])
    await page.getByRole('link', { name: 'most executions' }).click()
    await page.waitForURL('**/targets?order=count')
    await page.getByText('Ordered by the sums in EUR.').waitFor({ state: 'detached' })
    const byCount = await rows()
    falls(byCount.map(({ count }) => count))
    expect(byCount.map(({ name }) => name)).not.toEqual(bySum.map(({ name }) => name))
    expect(watched.problems).toEqual([])
  })

  test('a caller in a list leads to what it did, and a target to who did it', async () => {
    await page.goto(`${origin()}/console/executions?callerId=paying-agent`)
    await page.getByRole('link', { name: 'paying-agent' }).first().click()
    await page.getByRole('heading', { name: 'Caller paying-agent' }).waitFor()
    await page.locator('.bars').getByRole('link', { name: 'vendor:pay' }).waitFor()
    await page.locator('.panel', { hasText: 'Approval requests' }).locator('tbody tr').first().waitFor()
    await page
      .locator('.panel', { hasText: 'Newest executions' })
      .getByRole('row')
      // A target on which nothing was completed has no sums.
      .filter({ hasText: 'completed' })
      .getByRole('link', { name: /^vendor-/ })
      .first()
      .click()
    await page.getByRole('heading', { name: /^Target vendor-/ }).waitFor()
    await page.locator('.panel', { hasText: 'Callers, completed' }).getByRole('link').first().waitFor()
    expect(await axeFindings(page)).toEqual([])
    expect(watched.problems).toEqual([])
  })

  test('a policy says how often each rule decided, what its versions changed, and what it would decide', async () => {
    await page.goto(`${origin()}/console/policies/customer-refund/3.0.0`)
    const rule = (id: string) =>
      page.locator('.rules li').filter({ has: page.locator('strong', { hasText: id }) })
    const link = rule('small').getByRole('link')
    const [, times] = /decided ([\d,]+) times/.exec((await link.textContent()) ?? '') ?? []
    const { buckets } = await read<Counted>(
      `/statistics?rule=small&policy=customer-refund&policyVersion=3.0.0&since=${new Date(Date.now() - 30 * 86_400_000).toISOString()}`,
    )
    expect(Number(times)).toBe(buckets[0]!.groups[0]!.count)
    await rule('customer')
      .getByText(/^never decided (in 30 days|since it is in effect)/)
      .waitFor()
    await page.getByLabel('From').selectOption('2.0.0')
    await page.locator('.text-diff').getByText('Refund').first().waitFor()
    expect(new URL(page.url()).searchParams.get('from')).toBe('2.0.0')
    await page.getByRole('link', { name: 'approved by dana' }).waitFor()
    const action = page.getByLabel('An action, as JSON')
    const given = JSON.parse(await action.inputValue()) as { parameters: object }
    const parameters = { amount: 20, currency: 'EUR', customerId: 'customer-1', orderAmount: 0 }
    await action.fill(JSON.stringify({ ...given, parameters }))
    await page.getByRole('button', { name: 'Decide' }).click()
    await page.getByText("More than the order's amount, with what is refunded already.").last().waitFor()
    await action.fill('{')
    await page.getByRole('button', { name: 'Decide' }).click()
    await page.getByText(/^This is no JSON: /).waitFor()
    expect(await axeFindings(page)).toEqual([])
    expect(watched.problems).toEqual([])
  })

  test('without a catalogue the pages say so, and what still works', async () => {
    const auditor = aCaller('auditor', { readAll: true })
    const service = await startService({
      databaseUrl: database.url,
      callers: [auditor.entry],
      env: { CATALOGUE: 'off', CONSOLE_ORIGIN: 'http://localhost:0' },
    })
    const at = service.url.replace('127.0.0.1', 'localhost')
    const other = await logIn(`${at}/console`, auditor.key)
    for (const path of ['', '/executions', '/callers/tester', '/targets/sandbox']) {
      await other.page.goto(`${at}/console${path}`)
      await other.page.getByText('This service keeps no catalogue of its executions').first().waitFor()
    }
    await other.page.goto(`${at}/console?range=now`)
    await other.page.getByText('executions in the last second').waitFor()
    // A log that has just begun has no checkpoint yet, which the page says; Chromium calls the 404 an error.
    expect(other.problems.filter((problem) => !/status of 404/.test(problem))).toEqual([])
    await other.page.context().close()
    expect(await service.stop()).toBe(0)
  })

  test.each([
    [['--size', 'huge'], /^--size must be full or small\.\nusage: /],
    [['--seed', 'x'], /^--seed must be a whole number\.\nusage: /],
    [['--passkey', 'no-such-file'], /^--passkey must name a file with the JSON .*\nusage: /],
    [['--port', '70000'], /^--port must be a whole number from 0 to 65535\.\nusage: /],
    [['--prot', '1'], /^Unknown option '--prot'.*\nusage: /s],
  ])('ends with a sentence for %s', async (args, sentence) => {
    const before = output
    output = ''
    const [code] = (await once(start(args), 'close')) as [number]
    const said = output
    output = before
    expect(said).toMatch(sentence)
    expect(code).toBe(1)
  })

  test('leaves nothing behind', async () => {
    demo.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    expect(readdirSync(folder)).toEqual([])
  })
})
