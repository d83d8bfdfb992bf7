// GET /documentation, GET /reference and GET /handbook as a browser shows them: everything from our origin, nothing that
// their policy forbids, and a key that stays where it was typed (decisions §11).
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { chapters } from '../handbook.ts'
import { until, type TestService } from '../service.ts'
import { axeFindings } from './axe.ts'
import { describeInBrowser, launchChromium, openPage, type WatchedPage } from './chromium.ts'
import { withDatabase } from '../with-service.ts'

let service: TestService
let browser: Browser
/** Swagger UI takes seconds to render, so the tests of a path share one page, and none of them leaves it. */
const opened = new Map<string, Promise<WatchedPage>>()

interface Operation {
  readonly summary: string
}
type OpenApi = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> }

describeInBrowser('in a browser', () => {
  withDatabase(async ({ start }) => {
    service = await start()
    browser = await launchChromium()
  })

  afterAll(async () => {
    await browser.close()
  })

  test.each(['/signer', '/verifier'])('%s is no wider than a narrow screen', async (path) => {
    const { page } = await openPage(browser, service.url + path)
    await page.setViewportSize({ width: 360, height: 800 })
    await page.locator('input[type=file]').first().waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
  })

  test.each([360, 800, 1280])(
    'at %i pixels the page at / leads to the others, in light and dark, and breaks none of its rules',
    async (width) => {
      const backgrounds = new Set<string>()
      const { page, problems } = await openPage(browser, service.url)
      await page.setViewportSize({ width, height: 800 })
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await page.reload()
        const fits = await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)
        expect(fits).toBe(true)
        backgrounds.add(await page.evaluate(() => getComputedStyle(document.body).backgroundColor))
      }
      expect(backgrounds.size).toBe(2)
      // Chromium reports the status that the contract gives this page.
      expect(problems.filter((problem) => !problem.includes('status of 401'))).toEqual([])
      await page
        .locator('main')
        .getByRole('link', { name: /^Handbook/ })
        .click()
      await page.waitForURL(`${service.url}/handbook`)
    },
  )

  test('documentation, reference and verifier link to each other', async () => {
    for (const [from, name] of [
      ['/documentation', 'Reference'],
      ['/reference', 'Verifier'],
      ['/verifier', 'Documentation'],
    ] as const) {
      const { page } = await pageAt(from)
      const link = page.getByRole('link', { name, exact: true }).first()
      expect(await link.evaluate((anchor: HTMLAnchorElement) => anchor.href)).toBe(
        `${service.url}/${name.toLowerCase()}`,
      )
    }
  })

  // proves §4.1 GET /documentation · none
  test('the documentation shows every operation, and the page breaks none of its rules', async () => {
    const { page, problems } = await pageAt('/documentation')
    await page.locator('.opblock').first().waitFor()
    const shown = await page.locator('.opblock-summary-description').allInnerTexts()
    expect(shown.toSorted()).toEqual((await summaries()).toSorted())
    expect(problems).toEqual([])
  })

  // proves §4.1 GET /documentation · none
  test('the documentation executes GET /health, which needs no key', async () => {
    const { page, problems } = await pageAt('/documentation')
    expect(await tryOut(page, '/health')).toEqual({ status: '200', body: { status: 'UP' } })
    expect(problems).toEqual([])
  })

  test('a key typed into the documentation goes with its requests, and is forgotten with the page', async () => {
    const { page, problems } = await pageAt('/documentation')
    await page.locator('.auth-wrapper > .authorize').click()
    await page.locator('.auth-container input').fill(service.key)
    await page.locator('.auth-btn-wrapper .authorize').click()
    await page.locator('.auth-btn-wrapper .btn-done').click()
    const { status, body } = await tryOut(page, '/version')
    expect(status).toBe('200')
    expect(body).toEqual((await service.get('/version')).body)
    expect(problems).toEqual([])

    const kept = await page.context().storageState()
    expect(JSON.stringify(kept)).not.toContain(service.key)
    await page.reload()
    await page.locator('.auth-wrapper > .authorize.unlocked').waitFor()
  })

  test.each(['/documentation', '/reference', '/handbook'])(
    'a script on %s could send nothing to another origin',
    async (path) => {
      const { page, problems } = await pageAt(path)
      const sent = await page.evaluate(() => fetch('https://elsewhere.example/').then(String, String))
      expect(sent).toContain('TypeError')
      await until(
        () =>
          problems.some((problem) => problem.includes('violation of connect-src: https://elsewhere.example')),
        'the violation',
      )
      expect(problems.splice(0).filter((problem) => problem.startsWith('request to'))).toEqual([])
    },
  )

  // proves §4.1 GET /reference · none
  test('the reference shows every operation to read: nothing can be tried, and nothing asks for a key', async () => {
    const { page, problems } = await pageAt('/reference')
    await page.locator('.opblock').first().waitFor()
    const shown = await page.locator('.opblock-summary-description').allInnerTexts()
    expect(shown.toSorted()).toEqual((await summaries()).toSorted())
    await openOperation(page, '/health')
    expect(await page.locator('.try-out__btn, .authorize, .authorization__btn').count()).toBe(0)
    expect(problems).toEqual([])
  })

  test.each(['/documentation', '/reference'])(
    '%s follows the system into dark, and axe finds nothing',
    async (path) => {
      const { page, problems } = await pageAt(path)
      await page.locator('.opblock').first().waitFor()
      await openOperation(page, '/execute')
      const authorize = page.locator('.auth-wrapper > .authorize')
      if (path === '/documentation') await authorize.click()
      const backgrounds = new Set<string>()
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await page.locator(colorScheme === 'dark' ? 'html.dark-mode' : 'html:not(.dark-mode)').waitFor()
        backgrounds.add(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor))
      }
      expect(backgrounds.size).toBe(2)
      // A closed operation looks like the next, and a hundred of them take long: two of each section of the one page stand for them, which is made
      // by the same library as the other.
      const closed =
        path === '/reference'
          ? '.opblock:not(.is-open)'
          : '.operation-tag-content > span:nth-child(n + 3) > .opblock:not(.is-open)'
      expect(await axeFindings(page, { elements: closed })).toEqual([])
      expect(problems).toEqual([])
    },
  )

  test('a search finds a section of the handbook as one types, errors of typing included, by keyboard alone', async () => {
    const { page, problems } = await openPage(browser, `${service.url}/handbook`)
    await page.getByRole('searchbox', { name: 'Search the handbook' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('fork evidense')
    const first = page.locator('#found a').first()
    await first.waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press('ArrowDown')
    expect(await first.evaluate((link) => link === document.activeElement)).toBe(true)
    const { pathname, hash } = new URL((await first.getAttribute('href'))!, service.url)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${service.url}${pathname}${hash}`)
    expect(hash === '' || (await page.locator(hash).count()) === 1).toBe(true)
    await page.getByRole('searchbox').fill('xyzzyxyzzy')
    await page.getByText('Nothing in the handbook has these words.').waitFor()
    expect(problems).toEqual([])
  })

  test('the handbook is read from its contents to its last chapter without an objection, and axe finds nothing', async () => {
    const { page, problems } = await openPage(browser, `${service.url}/handbook`)
    const axe = async () => {
      // Where tables and code are wider than the screen.
      await page.setViewportSize({ width: 390, height: 844 })
      // All chapters have the colours of the contents, and contrast takes most of the time.
      const findings = await axeFindings(page, {
        rules: page.url().endsWith('/handbook') ? [] : ['color-contrast'],
      })
      await page.setViewportSize({ width: 1280, height: 900 })
      return findings.map((finding) => `${page.url()} ${finding}`)
    }
    const found = await axe()
    const titles = await page.locator('main h2').allInnerTexts()
    expect(titles).toHaveLength(chapters.size)
    for (const title of titles) {
      await page
        .getByRole('navigation', { name: 'Chapters' })
        .getByRole('link', { name: title, exact: true })
        .click()
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
      expect(await page.locator('.book nav [aria-current=page]').innerText()).toBe(title)
      // Beside the text, by the page's own style sheet.
      expect(await page.locator('.book').evaluate((book) => getComputedStyle(book).display)).toBe('grid')
      found.push(...(await axe()))
    }
    expect(found).toEqual([])
    expect(problems).toEqual([])
  })
})

function pageAt(path: string): Promise<WatchedPage> {
  const page = opened.get(path) ?? openPage(browser, service.url + path)
  opened.set(path, page)
  return page
}

/** Opens the first operation of a path, and waits for its responses. */
async function openOperation(page: Page, path: string): Promise<Locator> {
  const operation = page.locator('.opblock', { has: page.locator(`[data-path="${path}"]`) }).first()
  await operation.locator('.opblock-summary-control').click()
  await operation.locator('.responses-table').first().waitFor()
  return operation
}

/** "Try it out" and "Execute" of a GET operation; what the page then shows as the answer. */
async function tryOut(page: Page, path: string): Promise<{ status: string; body: unknown }> {
  const operation = await openOperation(page, path)
  await operation.locator('.try-out__btn').click()
  await operation.locator('.execute').click()
  const answer = operation.locator('.live-responses-table tbody tr').first()
  const status = await answer.locator('.response-col_status').innerText()
  return {
    status: status.trim(),
    body: JSON.parse(await answer.locator('.highlight-code code').first().innerText()),
  }
}

/** Reads the summary of every operation of the document. */
async function summaries(): Promise<string[]> {
  const { paths } = (await service.get('/openapi.json')).body as OpenApi
  return Object.values(paths).flatMap((operations) => Object.values(operations).map(({ summary }) => summary))
}
