// A human decides on an approval request in Chromium: by keyboard alone, and with a service that shows another request than it names.
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeInBrowser, launchChromium, openPage, type WatchedPage } from '../browser/chromium.ts'
import { until } from '../service.ts'
import { startWorld, type World } from './world.ts'

describeInBrowser('the console', () => {
  let world: World
  let browser: Browser
  let watched: WatchedPage
  let page: Page

  beforeAll(async () => {
    browser = await launchChromium()
    world = await startWorld()
  })
  afterAll(async () => {
    await browser?.close()
    await world?.stop()
  })

  async function loggedIn(key: string): Promise<void> {
    watched = await openPage(browser, `${world.origin}/console`)
    ;({ page } = watched)
    // Asking who is logged in is answered 401 where nobody is, and Chromium logs each of those.
    await page.getByLabel('Your key').fill(key)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor()
    watched.problems.splice(0)
  }

  beforeEach(() => loggedIn(world.dana.key))
  afterEach(() => page.context().close())

  test('from the inbox to a decline by keyboard alone', async () => {
    const { request } = world.payment
    await until(async () => (await page.locator('[data-row]').count()) >= 3, 'the rows of the inbox')
    const row = page.locator(`a[href="/console/requests/${request.requestId}"]`)
    await page.keyboard.press('j')
    await until(async () => {
      if (await row.evaluate((element) => element === document.activeElement)) return true
      await page.keyboard.press('j')
      return false
    }, 'the row of the payment')
    await page.keyboard.press('Enter')
    await page.getByText(world.payment.actionCode).first().waitFor()
    expect(new URL(page.url()).pathname).toBe(`/console/requests/${request.requestId}`)
    expect(await page.title()).not.toContain('Inbox')

    // No key of its own does it: it takes the way to the button, and a reason.
    const button = page.getByRole('button', { name: 'Decline…' })
    await until(async () => {
      if (await button.evaluate((element) => element === document.activeElement)) return true
      await page.keyboard.press('Tab')
      return false
    }, 'the button to decline')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type('Paid last week.')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByText('Paid last week.').waitFor()
    const { body } = await world.service.get(world.payment.url, world.dana)
    expect(body.closed).toMatchObject({ status: 'DECLINED', by: 'dana', reason: 'Paid last week.' })
    await page.keyboard.press('g')
    await page.keyboard.press('i')
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor()
    expect(watched.problems).toEqual([])
  })

  // proves abuse: A service, or somebody between, that shows an approver
  test.each(['requestHash', 'actionCode', 'amount'])(
    'a service that lies about the %s gets nothing signed',
    async (lie) => {
      const { url, request } = world.hostile
      await page.route(`**${url}`, (route) => {
        const lies: Record<string, object> = {
          requestHash: { requestHash: '0'.repeat(64) },
          actionCode: { actionCode: '0000-0000-0000' },
          amount: { request: { ...request, parameters: { amount: 41 } } },
        }
        return route.fulfill({ json: { ...world.hostile, ...lies[lie] } })
      })
      await page.goto(`${world.origin}/console/requests/${request.requestId}`)
      await page.getByRole('heading', { level: 1, name: 'Do not sign this' }).waitFor()
      const text = await page.locator('main').textContent()
      expect(text).not.toContain('sign-request')
      expect(await page.getByRole('button', { name: 'Decline…' }).count()).toBe(0)
    },
  )
})
