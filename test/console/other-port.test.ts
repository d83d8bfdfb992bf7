// A cookie is sent to every port of its host: what another server there, and its pages, can do with the session of the console in Chromium.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ApprovalRequest } from '../../src/formats/schemas/approval-request.ts'
import { aHuman, anApprover, enrolled } from '../authority.ts'
import { describeInBrowser, launchChromium } from '../browser/chromium.ts'
import { atConsole } from '../console.ts'
import { addPolicy } from '../policies.ts'
import type { TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

const BY_ONE = { name: 'by-one', version: '1.0.0', capability: 'sandbox:echo' }
const [dana, erin] = [aHuman('dana', { approverId: 'dana' }), aHuman('erin', { approverId: 'erin' })]

describeInBrowser('the console', () => {
  let service: TestService
  let browser: Browser
  let context: BrowserContext
  let page: Page
  /** The origin of the console. */
  let at: string
  let asked: ApprovalRequest
  let executed: string

  withService((made) => ({ service } = made), {
    callers: [dana.entry, erin.entry],
    env: { CONSOLE_ORIGIN: 'http://localhost:0' },
    addPolicies: (folder) =>
      addPolicy(folder, { ...BY_ONE, verify: { approved: { by: 'approval', quorum: 1 } } }),
  })
  beforeAll(async () => {
    at = `http://localhost:${new URL(service.url).port}`
    await enrolled(service, { maker: erin, checker: dana }, anApprover('dana'))
    const transaction = aTransaction({ intent: { target: 'orders/1093' } })
    expect((await service.post('/execute', transaction)).status).toBe(200)
    executed = transaction.businessTransactionId
    const answer = await service.post('/approval-requests', {
      transaction: aTransaction({ policy: BY_ONE, intent: { target: 'orders/1094' } }),
    })
    expect(answer.status, answer.text).toBe(201)
    asked = answer.body as ApprovalRequest
    browser = await launchChromium()
  })
  afterAll(() => browser?.close())

  beforeEach(async () => {
    context = await browser.newContext()
    context.setDefaultTimeout(120_000)
    page = await context.newPage()
    await page.goto(`${at}/console`)
    await logIn(dana.key)
  })
  afterEach(async () => {
    await context.close()
    // After each attempt, the request is still undecided.
    const { body } = await service.get(asked.url, dana)
    expect((body as ApprovalRequest).status).toBe('PENDING')
  })

  async function logIn(key: string): Promise<void> {
    await page.getByLabel('Your key').fill(key)
    await page.getByRole('button', { name: 'Log in', exact: true }).click()
    await page.getByLabel('Your key').waitFor({ state: 'detached' })
    await page.getByRole('heading', { level: 1 }).waitFor()
  }

  const withoutSecret = () => page.evaluate(() => localStorage.clear())
  const withAnother = () =>
    page.evaluate(() => {
      for (const name of Object.keys(localStorage)) localStorage.setItem(name, 'A'.repeat(43))
    })

  /** The page of the login, which shows nothing of what the session may see. */
  async function expectLogin(): Promise<void> {
    await page.getByLabel('Your key').waitFor()
    const text = (await page.locator('body').textContent()) ?? ''
    for (const shown of ['orders/', 'dana', executed, asked.actionCode, 'refused'])
      expect(text).not.toContain(shown)
    expect(await page.getByRole('alert').allTextContents()).toEqual([])
  }

  /** Paths, and what each shows. */
  const pages = (): [string, string][] => [
    ['/console/inbox', 'Inbox'],
    [`/console/executions/${executed}`, 'orders/1093'],
    [`/console/requests/${asked.request.requestId}`, asked.actionCode],
  ]

  const sessionCookie = async () => {
    const [cookie] = await context.cookies(at)
    return `${cookie?.name}=${cookie?.value}`
  }

  /** The session is that of before, and shows what it showed. */
  async function expectSession(): Promise<void> {
    await page.goto(`${at}/console/executions/${executed}`)
    await page.getByText('orders/1093').first().waitFor()
  }

  // proves abuse: Another server on the console’s host name
  describe.each([
    ['without its secret', withoutSecret],
    ['with the secret of another session', withAnother],
  ])('a page with the cookie of a session and %s is the login', (_, change) => {
    test('when it is opened; a login leads on at the same page', async () => {
      for (const [path, shown] of pages()) {
        await page.goto(at + path)
        await page.getByText(shown).first().waitFor()
        await change()
        await page.reload()
        await expectLogin()
        expect(await context.cookies(at)).toHaveLength(1)
        await logIn(dana.key)
        await page.getByText(shown).first().waitFor()
        expect(page.url()).toBe(at + path)
      }
    })

    test('when it stays open, at its next request', async () => {
      await change()
      // The page polls: that request may be the next one, and the login may take the link away before the click.
      const link = page.getByRole('link', { name: 'Evidence' }).first()
      await Promise.race([link.click(), page.getByLabel('Your key').waitFor()])
      await expectLogin()
    })
  })

  describe('and another server on its host', () => {
    let other: Server
    let origin: string
    let received: IncomingHttpHeaders[] = []
    let setCookie: string | undefined

    beforeAll(async () => {
      other = createServer((request, reply) => {
        received.push(request.headers)
        if (setCookie !== undefined) reply.setHeader('Set-Cookie', setCookie)
        reply.setHeader('Content-Type', 'text/html').end('<!doctype html><title>other</title>')
      })
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
      origin = `http://localhost:${(other.address() as AddressInfo).port}`
    })
    afterAll(() => {
      other?.closeAllConnections()
      other?.close()
    })
    beforeEach(() => {
      received = []
      setCookie = undefined
    })

    // proves abuse: Another server on the console’s host name
    test('that replays the cookie that it is sent reads nothing and does nothing', async () => {
      await page.goto(origin)
      const cookie = received[0]?.cookie
      expect(cookie).toBe(await sessionCookie())
      const replay = (method: string, path: string, headers: object) =>
        atConsole(service, method, path, {
          headers: { host: new URL(at).host, origin: at, cookie, ...headers },
          ...(method === 'POST' ? { body: { reason: 'No.' } } : {}),
        })
      for (const secret of [undefined, 'login', '', '1', cookie, cookie?.split('=')[1]])
        for (const [method, path] of [
          ['GET', '/console/me'],
          ['GET', '/transactions'],
          ['GET', `/trust-records/${executed}`],
          ['GET', asked.url],
          ['GET', '/events'],
          ['POST', `${asked.url}/decline`],
          ['POST', `${asked.url}/withdraw`],
          ['POST', '/approvals'],
          ['POST', '/execute'],
          ['POST', '/console/logout'],
        ] as const) {
          const { status, body, text } = await replay(method, path, { 'x-countersign-console': secret })
          expect([path, status, body.code]).toEqual([path, 403, 'CONSOLE_REFUSED'])
          expect(text).not.toContain('orders/')
        }
      await expectSession()
    })

    // proves abuse: Another site’s page; abuse: Another server on the console’s host name
    test('has a page that reads nothing and does nothing, whatever it sends', async () => {
      await page.goto(origin)
      expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([])
      const sent: string[] = []
      const answered: [string, number][] = []
      page.on('request', (request) => sent.push(new URL(request.url()).pathname))
      page.on('response', (response) => answered.push([new URL(response.url()).pathname, response.status()]))
      const read = await page.evaluate(
        async ({ paths, decline }) => {
          const tried: { mode?: RequestMode; headers?: Record<string, string> }[] = [
            {},
            { mode: 'no-cors' },
            { headers: { 'X-Countersign-Console': 'login' } },
          ]
          const posts: RequestInit[] = ['text/plain', 'application/json'].flatMap((type) =>
            tried.map((init) => ({
              ...init,
              method: 'POST',
              body: '{"reason":"No."}',
              headers: { ...init.headers, 'Content-Type': type },
            })),
          )
          const calls = [
            ...paths.flatMap((path) => tried.map((init) => ({ path, init }))),
            ...posts.map((init) => ({ path: decline, init })),
          ]
          const texts: string[] = []
          for (const { path, init } of calls) {
            const given = { credentials: 'include', ...init } as const
            texts.push(
              await fetch(path, given).then(
                (reply) => reply.text(),
                () => '',
              ),
            )
          }
          return texts
        },
        {
          paths: ['/console/me', '/transactions', `/trust-records/${executed}`].map((path) => at + path),
          decline: `${at}${asked.url}/decline`,
        },
      )
      expect(new Set(read)).toEqual(new Set(['']))
      expect(new Set(sent)).toContain('/transactions')

      // A form of it, and a link: the browser sends the cookie with both.
      for (const [method, path] of [
        ['post', `${asked.url}/decline`],
        ['post', '/console/logout'],
        ['get', '/transactions'],
        ['get', `/trust-records/${executed}`],
      ] as const) {
        await page.goto(origin)
        const answer = page.waitForResponse((response) => new URL(response.url()).pathname === path)
        await page.evaluate(
          ({ form, action }) => {
            document.body.innerHTML = `<form method="${form}" action="${action}" enctype="text/plain"><input name='{"reason":"' value='"}'></form>`
            document.forms[0]!.submit()
          },
          { form: method, action: at + path },
        )
        const reply = await answer
        await page.waitForURL((url) => url.pathname === path)
        const headers = await reply.request().allHeaders()
        expect([path, reply.status(), headers['cookie']]).toEqual([path, 403, await sessionCookie()])
      }
      expect(answered.filter(([path, status]) => path !== '/' && status < 400)).toEqual([])
      await expectSession()
    })

    // proves abuse: Another server on the console’s host name
    test('that frames the console gets an empty frame', async () => {
      await page.goto(origin)
      await page.evaluate((src) => {
        document.body.innerHTML = `<iframe src="${src}"></iframe>`
      }, `${at}/console`)
      const failed = await page.waitForEvent('requestfailed')
      expect(failed.failure()?.errorText).toContain('BLOCKED_BY_RESPONSE')
    })

    // proves abuse: Another server on the console’s host name
    test('that sets the cookie of its own session puts nobody into it', async () => {
      const [own] = await context.cookies(at)
      const erins = await browser.newContext()
      const theirs = await erins.newPage()
      await theirs.goto(`${at}/console`)
      await theirs.getByLabel('Your key').fill(erin.key)
      await theirs.getByRole('button', { name: 'Log in', exact: true }).click()
      await theirs.locator('.who span', { hasText: 'erin' }).waitFor()
      const [cookie] = await erins.cookies(at)
      await erins.close()
      expect(cookie?.value).not.toBe(own?.value)

      setCookie = `${cookie?.name}=${cookie?.value}; Path=/; HttpOnly`
      const tab = await context.newPage()
      await tab.goto(origin)
      expect(await sessionCookie()).toBe(`${cookie?.name}=${cookie?.value}`)
      await page.getByRole('link', { name: 'Evidence' }).first().click()
      await expectLogin()
      await page.reload()
      await expectLogin()
    })
  })
})
