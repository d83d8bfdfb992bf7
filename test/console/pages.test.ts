// Every page of the console in Chromium, with what a company and an attacker would have written there: what axe finds in light, dark and
// print, what does not fit a screen, and whether a stranger's words do anything but stand there.
import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, launchChromium, openPage, type WatchedPage } from '../browser/chromium.ts'
import { until } from '../service.ts'
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
  'execution in doubt': ({ inDoubt }) => `/console/executions/${inDoubt}`,
  refusals: () => '/console/refusals',
  refusal: ({ refused }) => `/console/refusals/${refused}`,
  audit: () => '/console/audit',
  policies: () => '/console/policies',
  policy: () => '/console/policies/sandbox-echo/1.0.0',
  approvers: () => '/console/approvers',
  passkey: () => '/console/passkey',
  deliveries: () => '/console/deliveries',
  'hostile delivery': ({ hostileDelivery }) => `/console/deliveries/${hostileDelivery}`,
  search: () => '/console/search?q=sandbox%3Aecho',
  'search without a hit': () => `/console/search?${new URLSearchParams({ q: SHORT_HOSTILE })}`,
  'no page': () => '/console/nowhere',
}

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
    const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze()
    expect(violations.map(({ id }) => id)).toEqual([])
    await page.getByLabel('Your key').fill(world.dana.key)
    await page.getByRole('button', { name: 'Log in' }).click()
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
      async () => (await page.getByText(/^(Loading|Verifying)…$/).count()) === 0,
      `${path} to be loaded`,
    )
  }

  async function findings(): Promise<string[]> {
    const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze()
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary ?? ''}`),
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

  test('the tab of a browser names what the page shows', async () => {
    await shown(paths['enrolment']!(world))
    expect(await page.title()).toBe('Add approver frank:k1 · Countersign')
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
    expect({ ...(await misfits()), axe: await findings() }).toEqual({ axe: [] })
    chmodSync(join(signingKeyDir, name), 0o600)
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
      for (const [mode, emulated] of Object.entries(MODES)) {
        await page.emulateMedia(emulated)
        const here = await findings()
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
