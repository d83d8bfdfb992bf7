// Every page of the console in Chromium, with what a company and an attacker would have written there: what axe finds in light, dark and
// print, what does not fit a screen, and whether a stranger's words do anything but stand there.
import { randomUUID } from 'node:crypto'
import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { axeFindings } from '../browser/axe.ts'
import { describeInBrowser, launchChromium, openPage, type WatchedPage } from '../browser/chromium.ts'
import { until } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { SHORT_HOSTILE, startWorld, type World } from './world.ts'

const WIDTHS_PX = [360, 900, 1440] as const

const MODES = {
  light: { colorScheme: 'light', media: 'screen' },
  dark: { colorScheme: 'dark', media: 'screen' },
  print: { colorScheme: 'light', media: 'print' },
} as const

/** Characters that turn text round, have no width, or speak to a terminal. */
// oxlint-disable-next-line no-control-regex -- they are what must not be there
const UNSEEN = /[\u200B-\u200F\u202A-\u202E\u2066-\u2069\uFEFF\u001B\u0007]/

const paths: Readonly<Record<string, (world: World) => string>> = {
  overview: () => '/console?range=30d',
  'overview of now': () => '/console?range=now',
  inbox: () => '/console/inbox',
  caller: () => '/console/callers/payables-agent',
  targets: () => '/console/targets',
  target: () => `/console/targets/${encodeURIComponent('Acme GmbH')}`,
  requests: () => '/console/requests',
  request: ({ payment }) => `/console/requests/${payment.request.requestId}`,
  'hostile request': ({ hostile }) => `/console/requests/${hostile.request.requestId}`,
  changes: () => '/console/changes',
  'change of a policy': ({ policyChange }) => `/console/changes/policy/${policyChange}`,
  enrolment: ({ enrolment }) => `/console/changes/approver/${enrolment}`,
  'in doubt': () => '/console/in-doubt',
  executions: () => '/console/executions',
  execution: ({ executed }) => `/console/executions/${executed}`,
  'hostile execution': ({ hostileExecuted }) => `/console/executions/${hostileExecuted}`,
  'execution of a caller by token': ({ executedByToken }) => `/console/executions/${executedByToken}`,
  'execution in doubt': ({ inDoubt }) => `/console/executions/${inDoubt}`,
  refusals: () => '/console/refusals',
  refusal: ({ refused }) => `/console/refusals/${refused}`,
  audit: () => '/console/audit',
  policies: () => '/console/policies',
  policy: () => '/console/policies/sandbox-echo/1.0.0',
  'proposal of a policy version': () => '/console/policies/propose?name=vendor-payment&version=2.0.0',
  approvers: () => '/console/approvers',
  passkey: () => '/console/passkey',
  deliveries: () => '/console/deliveries',
  'hostile delivery': ({ hostileDelivery }) => `/console/deliveries/${hostileDelivery}`,
  search: () => '/console/search?q=sandbox%3Aecho',
  'search without a hit': () => `/console/search?${new URLSearchParams({ q: SHORT_HOSTILE })}`,
  'no page': () => '/console/nowhere',
}

const retired = (name: string, version: string) => ({ name, version, status: 'RETIRED' })

describeInBrowser('the console', () => {
  let world: World
  let browser: Browser
  let watched: WatchedPage
  let page: Page

  beforeAll(async () => {
    browser = await launchChromium()
    world = await startWorld()
    watched = await openPage(browser, `${world.origin}/console/inbox`)
    ;({ page } = watched)
    expect(await axeFindings(page)).toEqual([])
    await page.getByLabel('Your key').fill(world.dana.key)
    await page.getByRole('button', { name: 'Log in', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor()
  })
  afterAll(async () => {
    await browser?.close()
    await world?.stop()
  })

  /** The page has shown what it loads. */
  async function shown(path: string): Promise<void> {
    await page.emulateMedia(MODES.light)
    await page.goto(world.origin + path)
    await page.locator('main h1').first().waitFor()
    await until(
      async () => (await page.getByText(/^(Loading|Verifying|Checking)…$/).count()) === 0,
      `${path} to be loaded`,
    )
  }

  /** By width: what is wider than the screen, what does not stand where it belongs, and what is split over lines without need. */
  async function misfits(): Promise<Record<string, unknown>> {
    const found: Record<string, unknown> = {}
    for (const width of WIDTHS_PX) {
      await page.setViewportSize({ width, height: 900 })
      const here = await page.evaluate((inner) => {
        // oxlint-disable-next-line unicorn/consistent-function-scoping -- it runs in the browser, where nothing of the file is
        const all = (selector: string) => Array.from(document.querySelectorAll(selector))
        const problems: Record<string, Element[]> = {
          'is wider than the screen': all('html').filter(({ scrollWidth }) => scrollWidth > inner),
          'runs into its value': all('.members > div').filter((row) => {
            const [name, value] = Array.from(row.children, (part) => part.getBoundingClientRect())
            return name!.bottom > value!.top && name!.right >= value!.left
          }),
          'stands as if it were outside': all('.members .members').filter((list) => {
            const [inside, outside] = [list, list.parentElement!.closest('.members')!].map((one) =>
              one.querySelector('dt')!.getBoundingClientRect(),
            )
            return inside!.left <= outside!.left
          }),
          'is split': all('td time, td code').filter((part) => {
            const lines = new Set(Array.from(part.getClientRects(), ({ top }) => top))
            return lines.size > 1 && part.textContent.length <= 30 && part.checkVisibility()
          }),
        }
        return Object.entries(problems).flatMap(([problem, elements]) =>
          elements.map(({ textContent }) => `${problem}: ${textContent.slice(0, 40)}`),
        )
      }, width)
      if (here.length > 0) found[`${width} px`] = here
    }
    return found
  }

  test('a delivery says what became of it, and shows its body as it came', async () => {
    await shown(paths['hostile delivery']!(world))
    await page.getByText('No rule matches.', { exact: true }).waitFor()
    expect(await page.locator('pre.bytes').textContent()).toMatch(/^\{"event":"other","ids":\[\]/)
  })

  test('the tab of a browser names what the page shows, and how many requests wait', async () => {
    await shown(paths['enrolment']!(world))
    const waiting = await page.locator('.top nav .count:not(:empty)').first().innerText()
    await expect.poll(() => page.title()).toBe(`(${waiting}) Add approver frank:k1 · Countersign`)
  })

  test('the warnings of the service fit every screen', async () => {
    const { signingKeyDir } = world.service
    const name = readdirSync(signingKeyDir).find((one) => one.endsWith('.private.pem'))!
    chmodSync(join(signingKeyDir, name), 0o644)
    await shown('/console')
    const banner = page.getByRole('complementary', { name: 'Warnings of the service' })
    await banner.getByText('1 warning of the service').click()
    expect(await banner.getByRole('listitem').allTextContents()).toEqual([
      expect.stringContaining(`"$SIGNING_KEY_DIR"/${name} can be read by others (mode 0644)`),
    ])
    expect({ ...(await misfits()), axe: await axeFindings(page) }).toEqual({ axe: [] })
    chmodSync(join(signingKeyDir, name), 0o600)
  })

  test('the palette goes to pages and to what the service finds, by keyboard alone, and axe finds nothing', async () => {
    await shown('/console')
    await page.keyboard.press('Control+k')
    const field = page.getByRole('dialog').getByRole('combobox')
    const options = page.getByRole('option')
    await field.fill('audit')
    // Results from the service come between these two.
    const found = await options.allInnerTexts()
    expect(found[0]).toMatch(/^Audit\s+g u$/)
    expect(found.at(-1)).toBe('Search for audit')
    await field.fill('propose')
    expect((await options.allInnerTexts())[0]).toBe('Propose a policy version')
    await field.fill(SHORT_HOSTILE.slice(0, 200))
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await axeFindings(page)).toEqual([])
    }
    await page.emulateMedia(MODES.light)
    await field.fill('orders/1093')
    await options.filter({ hasText: 'Executions on orders/1093' }).waitFor()
    const selected = page.locator('[role=option][aria-selected=true]')
    const count = await options.count()
    await page.keyboard.press('ArrowUp')
    expect(await selected.innerText()).toBe('Search for orders/1093')
    expect(await field.getAttribute('aria-activedescendant')).toBe(`palette-${count - 1}`)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${world.origin}/console/executions?target=orders%2F1093`)
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.keyboard.press('/')
    await page.keyboard.press('Escape')
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  test('every version of a policy is shown, however many policies there are', async () => {
    await page.route('**/policies?*', async (route) => {
      const { searchParams } = new URL(route.request().url())
      const first = searchParams.get('page') === null
      const policies = first
        ? Array.from({ length: 100 }, (_, i) => retired('another', `1.0.${i}`))
        : [retired('sandbox-echo', '0.9.0'), retired('sandbox-echo', '1.0.0')]
      await route.fulfill({ json: { policies } })
    })
    await page.goto(`${world.origin}/console/policies/sandbox-echo/1.0.0`)
    await page.getByRole('link', { name: '0.9.0', exact: true }).waitFor()
    await page.unrouteAll()
  })

  test('a load that fails is not taken for an answer, and is asked for again', async () => {
    let isAway = true
    await page.route('**/refusal/*', async (route) => {
      if (isAway) await route.fulfill({ status: 503, json: { error: 'Away for a moment.' } })
      else await route.continue()
    })
    await page.goto(`${world.origin}/console/executions/${randomUUID()}`)
    await page.getByRole('alert').getByText('Away for a moment.').waitFor()
    await page.getByText('Not all of this page could be loaded.').waitFor()
    const none = page.getByText('There is no execution with this id')
    expect(await none.count()).toBe(0)
    isAway = false
    await none.waitFor()
    await page.getByText('Not all of this page could be loaded.').waitFor({ state: 'detached' })
    await page.unrouteAll()
  })

  test('what is typed into a filter and taken back with Escape filters nothing', async () => {
    await shown('/console/executions')
    const target = page.getByRole('group', { name: 'Filters' }).locator('details', { hasText: 'Target' })
    await target.locator('summary').click()
    await page.keyboard.type('acme')
    await page.keyboard.press('Escape')
    await target.locator('summary').click()
    expect(await target.locator('input').inputValue()).toBe('')
    await page.keyboard.press('Escape')
    expect(new URL(page.url()).search).toBe('')
  })

  test('who may not propose a policy is told so in the place of the form', async () => {
    const { page: other } = await openPage(
      browser,
      `${world.origin}${paths['proposal of a policy version']!(world)}`,
    )
    await other.getByLabel('Your key').fill(world.auditor.key)
    await other.getByRole('button', { name: 'Log in', exact: true }).click()
    await other.getByText('Only a human proposes a policy').waitFor()
    expect(await other.locator('textarea').count()).toBe(0)
    // Nor is an auditor shown how much waits for others.
    await other.waitForLoadState('networkidle')
    expect(await other.locator('.top nav .count').count()).toBe(0)
    await other.context().close()
  })

  test('filters are chips in the address, kept under a name and exported as they are', async () => {
    const chip = (name: string) =>
      page.getByRole('group', { name: 'Filters' }).locator('summary', { hasText: name })
    const rows = page.getByRole('region', { name: 'Executions, newest first' }).locator('tbody tr')
    await shown('/console/executions')
    await chip('Status').click()
    await page.getByLabel('Status').selectOption('completed')
    await page.waitForURL(`${world.origin}/console/executions?status=completed`)
    await chip('Target').focus()
    await page.keyboard.press('Enter')
    await page.keyboard.type('orders/1093')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${world.origin}/console/executions?status=completed&target=orders%2F1093`)
    await expect.poll(() => rows.count()).toBe(1)
    expect(await chip('Target').evaluate((summary) => summary === document.activeElement)).toBe(true)
    expect(await axeFindings(page)).toEqual([])

    await chip('Since').click()
    await page.getByLabel('Since').fill('2026-01-02T03:04:05')
    await page.keyboard.press('Enter')
    const since = await page.evaluate(() => new Date('2026-01-02T03:04:05').toISOString().slice(0, 19))
    await expect.poll(() => new URL(page.url()).searchParams.get('since')).toBe(`${since}Z`)
    await expect.poll(() => rows.count()).toBe(1)

    await chip('Views').click()
    await page.getByLabel('Keep these filters as').fill('Order 1093')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Order 1093' }).waitFor()
    const kept = page.url()
    for (const [label, line] of [
      ['CSV', /^businessTransactionId,status,[^]*\r\n[^\r]*orders\/1093[^\r]*\r\n$/],
      ['NDJSON', /^\{.*"target":"orders\/1093".*\}\n\{"exportEnd":.*"count":1.*\}\n$/],
    ] as const) {
      const saving = page.waitForEvent('download')
      await page.getByRole('button', { name: label, exact: true }).click()
      expect(readFileSync(await (await saving).path(), 'utf8')).toMatch(line)
    }
    await shown('/console/executions')
    await chip('Views').click()
    await page.getByRole('link', { name: 'Order 1093' }).click()
    expect(page.url()).toBe(kept)
    await chip('Target').click()
    await page.getByRole('button', { name: 'Remove' }).click()
    await expect.poll(() => rows.count()).toBeGreaterThan(1)
  })

  test('how much went to whom is a file, too, and each sum leads to its executions', async () => {
    await shown('/console/targets')
    const saving = page.waitForEvent('download')
    await page.getByRole('button', { name: 'CSV', exact: true }).click()
    const file = readFileSync(await (await saving).path(), 'utf8')
    expect(file).toMatch(/^target,executions,amount,currency\r\n[^]*\r\norders\/1093,1,,\r\n/)
    const row = page.getByRole('row').filter({ hasText: 'orders/1093' })
    await row.getByRole('link', { name: '1', exact: true }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('target')).toBe('orders/1093')
    expect(new URL(page.url()).searchParams.get('status')).toBe('completed')
  })

  test('an execution that is new comes into the list by itself', async () => {
    const target = `orders/${randomUUID()}`
    const waits = page.waitForRequest(
      (sent) => sent.url().includes('/executions?') && sent.headers()['prefer'] === 'wait=25',
    )
    await page.goto(`${world.origin}/console/executions?${new URLSearchParams({ target }).toString()}`)
    await page.getByText('No execution fits all of these filters.').waitFor()
    await waits
    const executed = await world.service.post('/execute', aTransaction({ intent: { target } }))
    expect(executed.status, executed.text).toBe(200)
    await page.getByRole('link', { name: target }).first().waitFor()
  })

  test('refusals and requests have the filters of what they are, and files of what they show', async () => {
    for (const [path, filter, csv] of [
      [
        '/console/refusals?rule=too-large',
        'Rule: too-large',
        /^businessTransactionId,status,[^]*,refused,[^]*too-large/,
      ],
      [
        '/console/requests?target=Umbrella',
        'Target: Umbrella',
        /^requestId,status,[^]*,DECLINED,[^]*,Umbrella,/,
      ],
    ] as const) {
      await shown(path)
      await page.getByText(filter, { exact: true }).waitFor()
      expect(await page.locator('tbody tr').count()).toBe(1)
      const saving = page.waitForEvent('download')
      await page.getByRole('button', { name: 'CSV' }).click()
      const text = readFileSync(await (await saving).path(), 'utf8')
      expect(text).toMatch(csv)
      expect(text.split('\r\n')).toHaveLength(3)
    }
  })

  test('requests are listed by their end where their filter says so, and the file has the same order', async () => {
    await shown('/console/requests?status=PENDING')
    const lists = (order: string) =>
      page.getByRole('region', { name: `Approval requests, ${order} first` }).locator('tbody tr')
    expect(await lists('newest').count()).toBeGreaterThan(2)
    const endsFirst = lists('what ends soon')
    const filters = page.getByRole('group', { name: 'Filters' })
    await filters.locator('summary', { hasText: 'First' }).click()
    await filters.getByLabel('First').selectOption('ending_soon')
    await page.waitForURL(`${world.origin}/console/requests?status=PENDING&order=ending_soon`)
    await expect.poll(() => endsFirst.first().textContent()).toContain('Globex Corporation')
    expect(await axeFindings(page)).toEqual([])
    const saving = page.waitForEvent('download')
    await page.getByRole('button', { name: 'CSV' }).click()
    const [, line] = readFileSync(await (await saving).path(), 'utf8').split('\r\n')
    expect(line).toContain('Globex Corporation')
  })

  test('the audit groups equal events, leads to what they speak of, and is walked by j and k', async () => {
    await shown('/console/audit?type=intent.in_doubt')
    const alike = page.locator('summary', { hasText: '2 alike' })
    await page.keyboard.press('j')
    expect(await alike.evaluate((summary) => summary === document.activeElement)).toBe(true)
    await page.keyboard.press('Enter')
    expect(await page.locator('.alike').count()).toBe(2)
    await page.locator(`.alike a[href="/console/executions/${world.inDoubt}"]`).click()
    await page.waitForURL(`${world.origin}/console/executions/${world.inDoubt}`)
    await shown('/console/audit')
    await page.getByRole('link', { name: 'governance.proposed' }).first().click()
    await page.waitForURL(`${world.origin}/console/audit?type=governance.proposed`)
    const href = await page.getByRole('link', { name: 'change', exact: true }).first().getAttribute('href')
    expect(href).toMatch(/^\/console\/changes\/\w[\w-]*\/[0-9a-f-]{36}$/)
  })

  test('on a phone a finger has 44 pixels for whatever stands alone', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    for (const path of [
      '/console',
      '/console/requests',
      '/console/executions',
      '/console/audit',
      paths['proposal of a policy version']!(world),
    ]) {
      await shown(path)
      if (path.includes('propose')) await page.getByText('No mistake.').waitFor()
      // Chips would fill the first screen: they open where they are asked for.
      if (path === '/console/executions') {
        const chips = page.locator('.filters .chip')
        expect(await chips.first().isVisible()).toBe(false)
        await page.getByRole('button', { name: 'Filters', exact: true }).click()
        expect(await chips.first().isVisible()).toBe(true)
      }
      const small = await page
        // The button that copies a hash stands within its line.
        .locator(
          'main button:not(.copy), main summary, main select, main tbody tr.link, .top button, .top nav a',
        )
        .evaluateAll((all) =>
          all
            .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 43.5)
            .map((one) => `${one.tagName} ${one.textContent.slice(0, 40)}`),
        )
      expect([path, small]).toEqual([path, []])
    }
    await page.setViewportSize({ width: 1280, height: 900 })
  })

  test('g and a letter go to every page of the navigation, and the help lists them', async () => {
    await shown('/console/policies')
    await page.keyboard.press('?')
    const keys = await page.getByRole('dialog').locator('kbd').allInnerTexts()
    await page.keyboard.press('Escape')
    const goes = keys.filter((key) => key.startsWith('g '))
    const seen = new Set<string>()
    for (const key of goes) {
      await page.keyboard.press('g')
      await page.keyboard.press(key.slice(2))
      seen.add(new URL(page.url()).pathname)
    }
    expect(seen.size).toBe(goes.length)
    const listed = new Set<string>()
    for (const group of await page.locator('.top nav ul').first().getByRole('link').all()) {
      await group.click()
      for (const link of await page.locator('.top nav ul').last().getByRole('link').all())
        listed.add(new URL((await link.getAttribute('href'))!, world.origin).pathname)
    }
    expect([...seen].toSorted()).toEqual([...listed].toSorted())
  })

  // proves abuse: Markup, changes of direction
  test.each(Object.keys(paths))(
    '%s: axe finds nothing, it fits every screen, and strangers’ words only stand there',
    async (name) => {
      watched.problems.splice(0)
      await shown(paths[name]!(world))
      if (name === 'change of a policy') {
        await page.getByRole('button', { name: 'Run', exact: true }).click()
        await page.getByRole('button', { name: 'Run again' }).waitFor()
      }
      const found: Record<string, unknown> = {}
      // The colours of print are those of all pages; these are what is printed.
      const isPrinted = ['execution', 'hostile execution', 'request', 'audit'].includes(name)
      for (const [mode, emulated] of Object.entries(MODES)) {
        if (mode === 'print' && !isPrinted) continue
        await page.emulateMedia(emulated)
        const here = await axeFindings(page)
        if (here.length > 0) found[mode] = here
      }
      await page.emulateMedia(MODES.light)
      expect({ ...found, ...(await misfits()) }).toEqual({})

      const seen = await page.evaluate(() => ({
        title: document.title,
        inserted: document.querySelectorAll('main img, main script, a[href^="javascript:"]').length,
        text: [
          document.body.textContent,
          document.title,
          ...Array.from(document.querySelectorAll('[title], [aria-label]'), (element) =>
            [element.getAttribute('title'), element.getAttribute('aria-label')].join(' '),
          ),
        ].join('\n'),
      }))
      expect(seen.title).not.toBe('owned')
      expect(seen.inserted).toBe(0)
      expect(seen.text).not.toMatch(UNSEEN)
      // The page asks for each piece of an execution without a record, and Chromium logs what is not there.
      expect(watched.problems.filter((problem) => !/status of 404/.test(problem))).toEqual([])
    },
  )
})
