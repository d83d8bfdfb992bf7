// A human makes a passkey, has it enrolled, resolves a change with another one and approves with it, in Chromium with its virtual
// authenticator. A proxy stands in front: the passkey that resolves changes is configured with its origin before the service starts.
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFileSync, rmSync } from 'node:fs'
import type { Browser, CDPSession, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { actionCode } from '../../src/formats/approval-requests/action-code.ts'
import { requestHash } from '../../src/formats/approval-requests/request-hash.ts'
import type { ApprovalRequest } from '../../src/formats/schemas/approval-request.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { verifyEvidence } from '../../src/formats/verifier/index.ts'
import { aHuman, aKeyPair, resolved as resolvedBy, type Change } from '../authority.ts'
import { axeFindings } from '../browser/axe.ts'
import { describeInBrowser, launchChromium, openPage, type WatchedPage } from '../browser/chromium.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { putInDoubt } from '../intents.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { aCaller, startService, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'

const DESKTOP = { width: 1280, height: 900 }
const DESKTOP_WITH_TOUCH = { viewport: DESKTOP, hasTouch: true }

const BY_ONE = { name: 'by-one', version: '1.0.0', capability: 'sandbox:echo' }

describeInBrowser('passkeys in the console', () => {
  const stepUp = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const stepUpId = randomBytes(16)
  const erin = aHuman('erin')
  const agent = aCaller('agent')
  const policyDir = aPolicyFolder(['sandbox-echo'])
  addPolicy(policyDir, { ...BY_ONE, verify: { approved: { by: 'approval', quorum: 1 } } })
  let proxy: Server
  let origin: string
  let database: TestDatabase
  let service: TestService
  let browser: Browser
  let watched: WatchedPage
  let page: Page
  let cdp: CDPSession
  let authenticatorId: string
  let danasKey: string

  beforeAll(async () => {
    proxy = createServer((incoming, reply) => {
      const { port } = new URL(service.url)
      const { method, url: path, headers } = incoming
      incoming.pipe(
        request({ port, method, path, headers, agent: false }, (answer) => {
          reply.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(reply)
        }).on('error', () => reply.destroy()),
      )
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    origin = `http://localhost:${(proxy.address() as AddressInfo).port}`
    const dana = aHuman('dana', {
      approverId: 'dana',
      stepUpPublicKey: undefined,
      stepUpPasskey: {
        publicKeyPem: stepUp.publicKey.export({ type: 'spki', format: 'pem' }),
        rpId: 'localhost',
        origins: [origin],
        backupEligible: false,
        credentialId: stepUpId.toString('base64url'),
      },
    })
    danasKey = dana.key
    database = await createDatabase()
    service = await startService({
      databaseUrl: database.url,
      callers: [dana.entry, erin.entry, agent.entry],
      env: { POLICY_DIR: policyDir, CONSOLE_ORIGIN: origin },
    })
    browser = await launchChromium()
    watched = await openPage(browser, `${origin}/console/inbox`, DESKTOP_WITH_TOUCH)
    ;({ page } = watched)
    cdp = await page.context().newCDPSession(page)
    await cdp.send('WebAuthn.enable')
    ;({ authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    }))
    await cdp.send('WebAuthn.addCredential', {
      authenticatorId,
      credential: {
        credentialId: stepUpId.toString('base64'),
        isResidentCredential: true,
        rpId: 'localhost',
        privateKey: stepUp.privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
        userHandle: randomBytes(8).toString('base64'),
        signCount: 0,
      },
    })
    await page.getByLabel('Your key').fill(danasKey)
    await page.getByRole('button', { name: 'Log in', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor()
    watched.problems.splice(0)
  })

  afterAll(async () => {
    await browser?.close()
    expect(await service?.stop()).toBe(0)
    proxy?.closeAllConnections()
    proxy?.close()
    await database?.drop()
    rmSync(policyDir, { recursive: true })
  })

  /** Makes a passkey on the page, and has it proposed. */
  async function proposedPasskey(keyId: string) {
    if (new URL(page.url()).pathname !== '/console/passkey') await page.goto(`${origin}/console/passkey`)
    await page.getByLabel('A name for it').fill(keyId)
    await page.getByRole('button', { name: 'Make a passkey' }).click()
    await page.getByRole('heading', { name: 'Have it enrolled' }).waitFor()
    expect(await page.locator('.command pre').first().textContent()).toBe(
      `bin/countersign changes propose approver passkey-${keyId}.json --url ${origin}`,
    )
    // A reload on the way loses nothing, and the file is what the command sends.
    await page.reload()
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: `Save passkey-${keyId}.json` }).click()
    const proposal = JSON.parse(readFileSync(await (await saved).path(), 'utf8')) as { publicKeyPem: string }
    const proposed = await service.post('/approvers/changes', proposal, erin)
    expect(proposed.status, proposed.text).toBe(201)
    return { proposal, changeId: (proposed.body as Change).changeId }
  }

  async function approveChange(changeId: string): Promise<void> {
    await page.goto(`${origin}/console/changes/approver/${changeId}`)
    await page.getByRole('button', { name: 'Approve with your passkey…' }).click()
    await page.locator('h1 + .badge', { hasText: 'approved' }).waitFor()
  }

  /** Opens the page of a new request by the agent. */
  async function aRequest() {
    const transaction = aTransaction({
      policy: BY_ONE,
      authority: { principalId: 'agent' },
      intent: { target: `orders/${randomUUID()}` },
      signals: { approved: true },
    })
    const { status, text, body } = await service.post('/approval-requests', { transaction }, agent)
    expect(status, text).toBe(201)
    const asked = body as ApprovalRequest
    await page.goto(`${origin}/console/requests/${asked.request.requestId}`)
    return { transaction, asked }
  }

  /** Once it is signed, the page shows what waits next, and leads back to what was signed. */
  async function goneOn({ request: { requestId } }: ApprovalRequest): Promise<void> {
    const back = page.getByRole('status').getByRole('link', { name: 'Signed:' })
    await back.waitFor()
    expect(new URL(page.url()).pathname).not.toBe(`/console/requests/${requestId}`)
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')
    await back.click()
    await page.locator('h1 + .badge', { hasText: 'approved' }).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/console/requests/${requestId}`)
  }

  const sign = () => page.getByRole('button', { name: 'Sign with passkey phone…' })

  test('made, enrolled by two humans, and an action is approved with it', async () => {
    await page.goto(`${origin}/console/passkey`)
    const make = page.getByRole('button', { name: 'Make a passkey' })
    await make.click()
    await page.getByRole('alert').getByText('Give the passkey a name first').waitFor()
    const { changeId } = await proposedPasskey('phone')
    await approveChange(changeId)
    await page.goto(`${origin}/console/passkey`)
    await page.getByLabel('A name for it').fill('phone')
    await make.click()
    await page.getByRole('alert').getByText('You have a key named phone already').waitFor()
    const signing = page.getByRole('region', { name: 'Your passkeys that sign' })
    expect(await signing.getByText('to approve actions, as dana').count()).toBe(1)
    expect(await signing.getByText('to resolve changes, close doubts').count()).toBe(1)
    const resolved = await service.get(`/approvers/changes/${changeId}`, erin)
    expect(resolved.body).toMatchObject({ status: 'APPROVED', resolvedBy: 'dana' })

    const { transaction, asked } = await aRequest()
    await page.getByLabel('Why you approve').fill('Matches the invoice.')
    await sign().click()
    await page.locator('h1 + .badge', { hasText: 'approved' }).waitFor()
    const executed = await service.post('/execute', transaction, agent)
    expect(executed.status, executed.text).toBe(200)
    const keys = await Promise.all(
      ['/.well-known/jwks.json', '/keys/dana%3Aphone'].map((path) => service.get(path, { key: null })),
    )
    const report = verifyEvidence(
      executed.text,
      keys.map(({ text }) => text),
    )
    expect(report.verdict, JSON.stringify(report.checks)).toBe('valid')
    expect(report.keys.map(({ keyId }) => keyId)).toContain('dana:phone')
    await page.locator('h1 + .badge', { hasText: 'used' }).waitFor()
    expect((await service.get(asked.url, agent)).body.approvals).toMatchObject([
      { keyId: 'phone', reason: 'Matches the invoice.' },
    ])
    // Chromium would like RSA to be asked for too, which signs nothing here.
    expect(watched.problems.filter((problem) => !problem.includes('pubKeyCredParams'))).toEqual([])
  })

  test('on a phone all that a decision needs is on the first screen, and the focus goes to what came of it', async () => {
    onTestFinished(() => page.setViewportSize(DESKTOP))
    await page.setViewportSize({ width: 390, height: 844 })
    const hasFocus = (text: string) =>
      until(
        () => page.evaluate((said) => document.activeElement?.textContent?.includes(said) === true, text),
        `the focus on "${text}"`,
      )
    const [first, second] = [(await aRequest()).asked, (await aRequest()).asked]
    await page.goto(`${origin}/console/requests/${first.request.requestId}`)
    const odd = page.getByText('First time on this target, by anybody')
    const verdict = page.getByText('Rule approved approves it once you sign')
    for (const one of [page.getByRole('heading', { level: 1 }), odd, verdict, sign()]) await one.waitFor()
    const bar = (await page.locator('.deciding').boundingBox())!
    expect(bar.y + bar.height).toBeLessThanOrEqual(844)
    for (const one of [page.getByRole('heading', { level: 1 }), odd, verdict]) {
      const box = (await one.boundingBox())!
      expect(box.y).toBeGreaterThan(0)
      expect(box.y + box.height).toBeLessThanOrEqual(bar.y)
    }
    for (const name of ['Sign with passkey phone…', 'Decline…'])
      expect((await page.getByRole('button', { name }).boundingBox())!.height).toBeGreaterThanOrEqual(44)
    expect(await axeFindings(page)).toEqual([])

    await sign().tap()
    await page.waitForURL(`${origin}/console/requests/${second.request.requestId}`)
    await page.getByRole('status').getByRole('link', { name: 'Signed:' }).waitFor()
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')

    await sign().focus()
    await page.keyboard.press('Enter')
    await hasFocus('You have signed.')
    const { asked: third } = await aRequest()
    await page.getByRole('button', { name: 'Decline…' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type('Nobody ordered this.')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await hasFocus('This request is over: declined.')
    expect((await service.get(third.url, agent)).body.status).toBe('DECLINED')
  })

  test('nothing takes the place of a button while it is not known who can sign here, or cannot be found out', async () => {
    onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }))
    const answered = Promise.withResolvers<void>()
    let isAway = true
    await page.route('**/approvers', async (route) => {
      await answered.promise
      if (isAway) await route.fulfill({ status: 503, json: { error: 'Away for a moment.' } })
      else await route.continue()
    })
    const { asked } = await aRequest()
    const decline = page.getByRole('button', { name: 'Decline…' })
    await decline.waitFor()
    await page.getByText('Rule approved approves it once you sign').waitFor()
    const before = await decline.boundingBox()
    expect(await page.getByRole('button', { name: 'Sign with passkey…' }).isDisabled()).toBe(true)
    answered.resolve()
    await page.getByRole('alert').getByText('Away for a moment.').waitFor()
    await page.getByRole('status').getByText('What is missing is asked for again.').waitFor()
    expect(await page.getByText('make a passkey').count()).toBe(0)
    isAway = false
    await sign().waitFor()
    await page.getByText('What is missing is asked for again.').waitFor({ state: 'detached' })
    expect(await decline.boundingBox()).toEqual(before)
    expect(
      (await service.post(`/approval-requests/${asked.request.requestId}/withdraw`, {}, agent)).status,
    ).toBe(200)
    const others = watched.problems.splice(0).filter((one) => !/pubKeyCredParams|status of 503/.test(one))
    expect(others).toEqual([])
  })

  test('a request that is signed before the page knows what else waits leads to the next one', async () => {
    const held: Route[] = []
    let isSigned = false
    onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }))
    await page.route('**/approval-requests?*', async (route) => {
      if (isSigned) await route.continue()
      else held.push(route)
    })
    await page.route('**/approvals', async (route) => {
      isSigned = true
      await route.continue()
    })
    const { asked: next } = await aRequest()
    const { asked } = await aRequest()
    await sign().click()
    await goneOn(asked)
    expect(held.length).toBeGreaterThan(0)
    expect((await service.get(next.url, agent)).body.status).toBe('PENDING')
    // Nothing waits for the tests that follow.
    expect((await service.post(`${next.url}/withdraw`, {}, agent)).status).toBe(200)
  })

  test('a policy is approved with the report of what it would have changed, and the page shows what was signed', async () => {
    const executed = await service.post(
      '/execute',
      aTransaction({ authority: { principalId: 'agent' } }),
      agent,
    )
    expect(executed.status, executed.text).toBe(200)
    const proposedContent = {
      policyId: 'sandbox-echo',
      policyVersion: '1.0.1',
      schemaVersion: '1.0.0',
      description: 'Smaller amounts.',
      capabilities: ['sandbox:echo'],
      signals: { approved: 'boolean', amount: 'number' },
      bindings: { amount: 'intent.parameters.amount' },
      rules: [
        { id: 'too-large', when: 'signals.amount > 1.0', outcome: 'reject', reason: 'Amount above 1.' },
        { id: 'approved', when: 'signals.approved', outcome: 'approve', reason: 'Approved.' },
      ],
    }
    const place = '/policies/sandbox-echo/1.0.1/pending-changes'
    const proposed = await service.post(place, { reason: 'Less risk.', proposedContent }, erin)
    expect(proposed.status, proposed.text).toBe(201)
    const { changeId } = proposed.body as Change
    await page.goto(`${origin}/console/changes/policy/${changeId}`)
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText(/1 decision of \d+ would differ/).waitFor()
    // An execution is shown by its action and amount, in place of an id.
    await page.getByText('1 approved would be rejected (42), 0 rejected would be approved.').waitFor()
    await page.getByRole('link', { name: 'sandbox:echo → test' }).waitFor()
    await page.getByLabel('covers the report').waitFor()
    await page.getByRole('button', { name: 'Approve with your passkey…' }).click()
    await page.getByRole('heading', { name: 'What the checker saw' }).waitFor()
    expect(await page.getByText(/1 decision of \d+ would differ/).count()).toBe(1)
    const { text, body } = await service.get(`/policies/pending-changes/${changeId}`, erin)
    expect(body.impactReport).toMatchObject({
      changeId,
      approvedToRejected: 1,
      flips: [{ businessTransactionId: executed.body.businessTransactionId }],
    })
    const keys = await service.get('/.well-known/jwks.json', { key: null })
    expect(verifyEvidence(text, keys.text).checks).toContainEqual({ name: 'impact report' })
  })

  test('a policy version is written, checked, tried and proposed by passkey; another human approves it, and it decides', async () => {
    const text = () => page.getByLabel('Policy, as YAML')
    const propose = () => page.getByRole('button', { name: 'Propose with your passkey…' })
    const says = (pattern: string | RegExp) => page.locator('#check').getByText(pattern).first().waitFor()
    await page.goto(`${origin}/console/policies/sandbox-echo/1.0.0`)
    // A request that does not reach the service is sent again.
    const lost: string[] = []
    for (const path of ['/policies?pageSize=100', '/sandbox/policies/check'])
      await page.route(
        `${origin}${path}`,
        async (route) => {
          lost.push(path)
          await route.abort()
        },
        { times: 1 },
      )
    await page.getByRole('link', { name: 'Propose a version…' }).click()
    await says('No mistake.')
    expect(lost).toEqual(['/policies?pageSize=100', '/sandbox/policies/check'])
    const begun = await text().inputValue()
    const version = /^policyVersion: (.*)$/m.exec(begun)?.[1] ?? ''
    expect(version).toMatch(/^1\.[1-9]\d*\.0$/)
    // A mistake is named with its line, which is one touch away.
    await text().fill(begun.replace('signals.approved\n', 'signals.aproved\n'))
    await says(/1 mistake/)
    await page
      .locator('#check')
      .getByRole('button', { name: /^line \d+/ })
      .click()
    const selected = await text().evaluate((field: HTMLTextAreaElement) =>
      field.value.slice(field.selectionStart, field.selectionEnd),
    )
    expect(selected).toContain('signals.aproved')
    expect(await propose().count()).toBe(0)
    for (const [broken, said] of [
      [`${begun}rules: []\n`, /Map keys must be unique/],
      [begun.replace('\n  - id', '\n\t- id'), /Tabs cannot indent/],
      ['no: policy', /policyId/],
      ['#'.repeat(65_537), /may have at most 65536/],
      [begun.replace(`policyVersion: ${version}`, 'policyVersion: 1.0.0'), /never changes/],
    ] as const) {
      await text().fill(broken)
      await says(said)
      expect(
        await propose()
          .isEnabled({ timeout: 1_000 })
          .catch(() => false),
      ).toBe(false)
    }
    await page.setInputFiles('input[type=file] >> nth=0', {
      name: 'large.yaml',
      mimeType: 'application/yaml',
      buffer: Buffer.alloc(300_000, '#'),
    })
    await page.getByText('large.yaml has 300000 bytes').waitFor()
    // Typed text survives a reload and a new login, and no other human gets it.
    const mended = begun.replace(/^description: .*$/m, 'description: Written in the console.')
    await text().fill(mended)
    await page.getByLabel('Why, for whoever approves it').fill('A better description.')
    await page.context().clearCookies()
    await page.reload()
    await page.getByLabel('Your key').fill(erin.key)
    await page.getByRole('button', { name: 'Log in', exact: true }).click()
    await page
      .getByText('Nothing yet: begin with a version')
      .or(page.locator('#check').getByText('No mistake.'))
      .first()
      .waitFor()
    expect(await text().inputValue()).not.toContain('Written in the console.')
    expect(await page.evaluate(() => Object.values(sessionStorage).join())).not.toContain(
      'Written in the console.',
    )
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('Your key').fill(danasKey)
    await page.getByRole('button', { name: 'Log in', exact: true }).click()
    await text().fill(mended)
    await page.getByLabel('Why, for whoever approves it').fill('A better description.')
    await page.getByLabel('Retire 1.0.0').check()
    await page.context().clearCookies()
    await page.reload()
    // The choice of versions to retire survives while the list of versions is loading.
    const listed = Promise.withResolvers<void>()
    await page.route('**/policies?*', async (route) => {
      await listed.promise
      await route.continue()
    })
    await page.getByLabel('Your key').fill(danasKey)
    await page.getByRole('button', { name: 'Log in', exact: true }).click()
    await says('No mistake.')
    expect([await text().inputValue(), await propose().count()]).toEqual([mended, 0])
    listed.resolve()
    await propose().waitFor()
    expect(await page.getByLabel('Retire 1.0.0').isChecked()).toBe(true)
    await page.unrouteAll()
    // Cases that do not hold are not proposed.
    await page.getByText('Cases that it has to pass').click()
    await page.getByLabel('Cases, as YAML').fill('cases: 1')
    await says(/The cases do not hold/)
    expect(await propose().isDisabled()).toBe(true)
    await page.getByLabel('Cases, as YAML').fill('')
    await page.locator('.text-diff ins', { hasText: 'Written' }).first().waitFor()
    await page.getByLabel('Retire 1.0.0').uncheck()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText(/\d+ decisions? of \d+ would differ/).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await propose().click()
    await page.waitForURL(/\/console\/changes\/policy\//)
    await page
      .getByRole('heading', { level: 1, name: `Put policy sandbox-echo ${version} in effect` })
      .waitFor()
    await page.getByText('You proposed this change, so another human must').waitFor()
    expect(await page.evaluate(() => Object.keys(sessionStorage))).toEqual([])
    const changeId = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    // Another tab that proposes the same is led to what is open.
    await page.goto(`${origin}/console/policies/propose`)
    await text().fill(mended)
    await page.locator('#check').getByRole('link', { name: 'have it approved or rejected' }).waitFor()
    expect(await propose().isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'take the next version that is free' }).click()
    await says('No mistake.')
    await page
      .locator('#check')
      .getByRole('link', { name: 'have it approved' })
      .waitFor({ state: 'detached' })
    expect(await text().inputValue()).not.toContain(`policyVersion: ${version}\n`)
    await page.getByRole('button', { name: 'Discard' }).click()
    const { body: change } = await service.get(`/policies/pending-changes/${changeId}`, erin)
    expect(change).toMatchObject({ proposedBy: 'dana', reason: 'A better description.' })
    const approved = await resolvedBy(service, erin, change as Change, 'approve')
    expect(approved.status, approved.text).toBe(200)
    const decided = await service.post(
      '/execute',
      aTransaction({ authority: { principalId: 'agent' }, policy: { name: 'sandbox-echo', version } }),
      agent,
    )
    expect(decided.status, decided.text).toBe(200)
    // Sessions that are over are answered 401.
    expect(
      watched.problems
        .splice(0)
        .filter((problem) => !/status of (401|403)|ERR_FAILED|pubKeyCredParams/.test(problem)),
    ).toEqual([])
  })

  // proves abuse: A service, or somebody between, that shows another action
  test('an execution in doubt is closed by what the human signs, and not where another action is shown', async () => {
    const transaction = aTransaction({ authority: { principalId: 'agent' }, intent: { target: 'orders/7' } })
    const { businessTransactionId: id } = transaction
    expect((await service.post('/execute', transaction, agent)).status).toBe(200)
    await putInDoubt(database, id)
    await page.goto(`${origin}/console/in-doubt`)
    await page.getByText(/^overdue \d+ (s|min)$/).waitFor()
    await page.getByRole('link', { name: 'sandbox:echo → orders/7' }).waitFor()

    const shown = (await service.get(`/transactions/${id}`, erin)).body as typeof transaction
    const other = { ...shown, intent: { ...shown.intent, target: 'orders/8' } }
    await page.route(`**/transactions/${id}`, (route) => route.fulfill({ json: other }))
    await page.goto(`${origin}/console/executions/${id}`)
    await page.getByRole('heading', { name: 'Do not sign this' }).waitFor()
    expect(await page.getByRole('button', { name: /passkey/ }).count()).toBe(0)
    await page.unroute(`**/transactions/${id}`)

    await page.goto(`${origin}/console/executions/${id}`)
    await page.getByRole('heading', { level: 1, name: 'sandbox:echo → orders/7' }).waitFor()
    await page.getByText('Close it by a command that signs').click()
    await page.getByText(`bin/countersign intents resolve ${id} not-executed`).waitFor()
    await page.getByLabel('It was not executed').check()
    await page.getByLabel('How you know').fill('The provider has no such order (ticket 4711).')
    await page.getByText('What your signature covers').click()
    await page.locator('.members', { hasText: 'businessTransactionHash' }).last().waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Close it with your passkey…' }).click()
    await page.locator('h1 + .badge', { hasText: 'closed as not executed' }).waitFor()
    await page.getByText('who signed it').waitFor()
    const { body } = await service.get(`/execution-intents/${id}`, erin)
    expect(body).toMatchObject({
      state: 'RESOLVED',
      resolution: 'NOT_EXECUTED',
      transitions: [
        {
          transition: {
            by: 'dana',
            stepUpAuthorization: { payload: { businessTransactionId: id, resolution: 'NOT_EXECUTED' } },
          },
        },
      ],
    })
    // Nothing is asked for that is known not to be there: Chromium would log each 404.
    const others = watched.problems.filter((problem) => !/pubKeyCredParams/.test(problem))
    expect(others).toEqual([])
  })

  // proves abuse: A session used as authority
  test('an event endpoint that fails is explained, tried again, and has events skipped, by signatures alone', async () => {
    const receiver = createServer((incoming, reply) => {
      incoming.resume()
      incoming.on('end', () => reply.writeHead(503).end())
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void receiver.close())
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`
    const body = { action: 'register', url, types: ['execution.completed'], reason: 'The warehouse.' }
    const proposed = await service.post('/event-endpoints/changes', body, erin)
    expect(proposed.status, proposed.text).toBe(201)
    const { changeId } = proposed.body as Change
    await page.goto(`${origin}/console/changes/event-endpoint/${changeId}`)
    await page.getByRole('button', { name: 'Approve with your passkey…' }).click()
    await page.locator('h1 + .badge', { hasText: 'approved' }).waitFor()
    const executed = await service.post(
      '/execute',
      aTransaction({ authority: { principalId: 'agent' } }),
      agent,
    )
    expect(executed.status, executed.text).toBe(200)
    const shown = async () =>
      (
        (await service.get('/event-endpoints', erin)).body as {
          eventEndpoints: { state: string; cursor?: string; hasSecret: boolean }[]
        }
      ).eventEndpoints[0]
    await until(async () => (await shown())?.state === 'failing', 'the endpoint to fail')
    const { cursor } = (await shown())!

    await page.goto(`${origin}/console/deliveries`)
    await page.getByRole('link', { name: url }).click()
    await page.getByText('the endpoint answered 503.').waitFor()
    const marked = page
      .getByRole('navigation', { name: 'Console' })
      .locator('[aria-current=true], [aria-current=page]')
    expect(await marked.allInnerTexts()).toEqual(['System', 'Deliveries'])
    await page.getByText(/^1 event behind, \d+ minutes?\.$/).waitFor()
    expect(await axeFindings(page)).toEqual([])
    const [path, headers] = [`/event-endpoints/${changeId}/redeliver`, { 'Content-Type': 'application/json' }]
    const unsigned = await page.evaluate(
      async ([to, sent]) => {
        const secret = localStorage.getItem('X-Countersign-Console') ?? ''
        const all = { ...sent, 'X-Countersign-Console': secret }
        const answer = await fetch(to, { method: 'POST', headers: all, body: '{}' })
        return [answer.status, ((await answer.json()) as { code: string }).code]
      },
      [path, headers] as const,
    )
    expect(unsigned).toEqual([403, 'STEP_UP_AUTHORIZATION_INVALID'])

    await page.getByRole('button', { name: 'Try again now' }).click()
    await page
      .getByRole('status')
      .getByText(
        /^Try again now: done\. The event .* failed after \d+ ms: .* answered 503\. The next attempt/,
      )
      .waitFor()
    await page.locator('summary', { hasText: 'execution.completed' }).first().click()
    await page.getByText('as canonical JSON, this is the body that was sent').first().waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Skip to now' }).click()
    await page.getByText('Nothing waits').waitFor()
    expect((await shown())?.cursor).not.toBe(cursor)
    await page.getByRole('button', { name: 'New secret' }).click()
    await page.getByText(/^whsec_/).waitFor()
    expect((await shown())?.hasSecret).toBe(true)
    await page.getByRole('button', { name: 'New secret' }).click()
    await page.getByText('A secret was replaced less than a day ago').waitFor()
  })

  test('a human whom the device does not verify signs nothing', async () => {
    const { asked } = await aRequest()
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await sign().click()
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('Nothing was signed')
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
    expect((await service.get(asked.url, agent)).body.status).toBe('PENDING')
  })

  test.each([
    ['isBadUV', '(UV)'],
    ['isBadUP', '(UP)'],
  ])('a device that lies (%s) is refused by the service', async (lie, why) => {
    const { asked } = await aRequest()
    const off = { isBogusSignature: false, isBadUV: false, isBadUP: false }
    await cdp.send('WebAuthn.setResponseOverrideBits', { authenticatorId, ...off, [lie]: true })
    await sign().click()
    await page.getByRole('alert').waitFor()
    const said = await page.getByRole('alert').textContent()
    await cdp.send('WebAuthn.setResponseOverrideBits', { authenticatorId, ...off })
    expect(said).toContain(why)
    expect((await service.get(asked.url, agent)).body.status).toBe('PENDING')
  })

  test('a counter that goes back is no reason to refuse: only the signature and its single use count', async () => {
    // One that waits behind it.
    await aRequest()
    const { asked } = await aRequest()
    const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId })
    const phone = credentials.find(({ credentialId }) => credentialId !== stepUpId.toString('base64'))!
    expect(phone.signCount).toBeGreaterThan(1)
    await cdp.send('WebAuthn.removeCredential', { authenticatorId, credentialId: phone.credentialId })
    await cdp.send('WebAuthn.addCredential', { authenticatorId, credential: { ...phone, signCount: 0 } })
    await sign().click()
    await goneOn(asked)
    expect((await service.get(asked.url, agent)).body.approvals).toMatchObject([{ keyId: 'phone' }])
  })

  // proves abuse: A service, or somebody between, that hands the page another passkey
  test('the browser asks no passkey of another host, and the page none of another origin', async () => {
    const { asked } = await aRequest()
    const lying = async (passkey: object) => {
      await page.unroute('**/approvers')
      const { approvers } = (await service.get('/approvers', erin)).body as {
        approvers: { passkey?: object }[]
      }
      const lied = approvers.map((key) => ({ ...key, passkey: { ...key.passkey, ...passkey } }))
      await page.route('**/approvers', (route) => route.fulfill({ json: { approvers: lied } }))
      await page.reload()
    }
    await lying({ rpId: 'elsewhere.example' })
    await sign().click()
    await page.getByText('a passkey of another host cannot be used').waitFor()
    await lying({ origins: ['https://elsewhere.example'] })
    await page.getByRole('link', { name: 'make a passkey' }).waitFor()
    expect(await sign().count()).toBe(0)
    await page.unroute('**/approvers')
    expect((await service.get(asked.url, agent)).body.status).toBe('PENDING')
  })

  // proves abuse: A request that changes after it was shown
  test('parameters that are swapped after rendering are not signed, though hash and code are those of the new ones', async () => {
    const { promise: read, resolve: swap } = Promise.withResolvers<void>()
    // Each request is shown as it is once: the page may still wait for news of the one before.
    const shown = new Set<string>()
    onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }))
    await page.route('**/approval-requests/*', async (route) => {
      const { pathname } = new URL(route.request().url())
      const { body } = await service.get(pathname, erin)
      const asked = body as ApprovalRequest
      if (!shown.has(pathname)) {
        shown.add(pathname)
        return route.fulfill({ json: asked })
      }
      await read
      const swapped = { ...asked.request, parameters: { amount: 41 } }
      const named = {
        requestHash: requestHash(swapped, sha256Hex),
        actionCode: actionCode(swapped, sha256Hex),
      }
      return route.fulfill({ json: { ...asked, request: swapped, ...named } })
    })
    await aRequest()
    await sign().waitFor()
    swap()
    await page.getByRole('heading', { level: 1, name: 'Do not sign this' }).waitFor()
    expect(await sign().count()).toBe(0)
  })

  /** The device waits for a touch while something happens. */
  async function whileSigning(happens: () => Promise<unknown>): Promise<void> {
    await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: false })
    await sign().click()
    await until(async () => sign().isDisabled(), 'the device to be asked')
    await happens()
    await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: true })
  }

  test('a request that is over before the human has touched the device stays unsigned', async () => {
    const { asked } = await aRequest()
    await whileSigning(async () => {
      const { status, text } = await service.post(`${asked.url}/withdraw`, {}, agent)
      expect(status, text).toBe(200)
    })
    await page.locator('h1 + .badge', { hasText: 'withdrawn' }).waitFor()
    await until(async () => (await sign().count()) === 0, 'the page to offer nothing')
    expect((await service.get(asked.url, agent)).body).toMatchObject({ status: 'WITHDRAWN', approvals: [] })
  })

  // proves abuse: A session that ends while
  test('a session that ends while the human signs delivers nothing', async () => {
    // The page hears of it from the request that the service holds: for a second here, in place of twenty.
    await page.route('**/approval-requests/*', (route) => {
      const headers = route.request().headers()
      return route.continue({
        headers: headers['prefer'] === 'wait=20' ? { ...headers, prefer: 'wait=1' } : headers,
      })
    })
    const { asked } = await aRequest()
    await whileSigning(() =>
      page.evaluate(() =>
        fetch('/console/logout', {
          method: 'POST',
          headers: {
            'Content-Type': 'application/json',
            'X-Countersign-Console': localStorage.getItem('X-Countersign-Console') ?? '',
          },
          body: '{}',
        }),
      ),
    )
    await page.getByLabel('Your key').fill(danasKey)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    expect((await service.get(asked.url, agent)).body.approvals).toEqual([])
    await page.getByRole('button', { name: 'Log in', exact: true }).click()
    await sign().waitFor()
    // A reload ends any passkey prompt that is still open on the device.
    await page.reload()
    await sign().click()
    await goneOn(asked)
  })

  // An authenticator of Ed25519 alone: the virtual one takes the first algorithm that it is offered.
  test('a passkey of Ed25519 is made, enrolled and signs', async () => {
    await page.goto(`${origin}/console/passkey`)
    await page.evaluate(() => {
      const create = navigator.credentials.create.bind(navigator.credentials)
      navigator.credentials.create = (options) => {
        const { publicKey } = options ?? {}
        if (publicKey !== undefined)
          publicKey.pubKeyCredParams = publicKey.pubKeyCredParams.filter(({ alg }) => alg === -8)
        return create(options)
      }
    })
    const { changeId, proposal } = await proposedPasskey('edward')
    expect(proposal.publicKeyPem).toMatch(/^-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA/)
    await approveChange(changeId)
    // One that waits behind it.
    await aRequest()
    const { transaction, asked } = await aRequest()
    await page.getByRole('button', { name: 'Sign with passkey edward…' }).click()
    await goneOn(asked)
    const executed = await service.post('/execute', transaction, agent)
    expect(executed.status, executed.text).toBe(200)
    expect((await service.get(asked.url, agent)).body.approvals).toMatchObject([{ keyId: 'edward' }])
    const [approval] = executed.body.executions[0].decision.verifiedSignals.approved.approvals
    expect(approval.algorithm).toBe('webauthn-ed25519')
    const keys = await Promise.all(
      ['/.well-known/jwks.json', '/keys/dana%3Aedward'].map((path) => service.get(path, { key: null })),
    )
    const report = verifyEvidence(
      executed.text,
      keys.map(({ text }) => text),
    )
    expect(report.verdict, JSON.stringify(report.checks)).toBe('valid')
  })

  // proves abuse: A service, or somebody between, that shows another change
  test('a change is rejected with a reason, and one that is shown otherwise than it hashes is not signed', async () => {
    const body = {
      action: 'add',
      approverId: 'mallory',
      keyId: 'key',
      publicKeyPem: aKeyPair().publicKeyPem,
      reason: 'A new colleague.',
    }
    const proposed = await service.post('/approvers/changes', body, erin)
    expect(proposed.status, proposed.text).toBe(201)
    const { changeId } = proposed.body as Change
    const path = `/approvers/changes/${changeId}`
    const shown = (await service.get(path, erin)).body as object
    await page.route(`**${path}`, (route) => route.fulfill({ json: { ...shown, reason: 'Another reason.' } }))
    await page.goto(`${origin}/console/changes/approver/${changeId}`)
    await page.getByRole('heading', { level: 1, name: 'Do not sign this' }).waitFor()
    expect(await page.getByRole('button', { name: /passkey/ }).count()).toBe(0)
    await page.unroute(`**${path}`)

    await page.goto(`${origin}/console/changes/approver/${changeId}`)
    await page.getByLabel('Why not').fill('Nobody knows Mallory.')
    await page.getByRole('button', { name: 'Reject with your passkey…' }).click()
    await page.locator('h1 + .badge', { hasText: 'rejected' }).waitFor()
    await until(
      async () => (await service.get(path, erin)).body.rejectionReason === 'Nobody knows Mallory.',
      'the reason to be kept',
    )
  })
  /** The virtual authenticator has room for three, and nobody to choose one of them. */
  async function forgetPasskeys(): Promise<void> {
    const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId })
    for (const { credentialId } of credentials)
      await cdp.send('WebAuthn.removeCredential', { authenticatorId, credentialId })
  }

  test('a passkey that only logs in is made with the key, opens a session without it, and is removed', async () => {
    await forgetPasskeys()
    await page.goto(`${origin}/console/passkey`)
    await page.getByLabel('What it is for').selectOption('log in')
    await page.getByLabel('A name for it').fill('laptop')
    await page.getByLabel('Your key, once more').fill('csk_wrong')
    await page.getByRole('button', { name: 'Make a passkey' }).click()
    await page.getByText('key must be a key of yours that is in effect.').waitFor()
    await forgetPasskeys()
    await page.getByLabel('Your key, once more').fill(danasKey)
    await page.getByRole('button', { name: 'Make a passkey' }).click()
    const row = page.getByRole('row', { name: 'laptop' })
    await row.getByText('never used').waitFor()
    expect(await page.getByLabel('Your key, once more').inputValue()).toBe('')
    expect(await axeFindings(page)).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    onTestFinished(() => page.setViewportSize(DESKTOP))
    const button = (await row.getByRole('button', { name: 'Remove laptop' }).boundingBox())!
    expect(button.height).toBeGreaterThanOrEqual(44)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)

    await page.getByRole('button', { name: 'Log out' }).click()
    const byPasskey = page.getByRole('button', { name: 'Log in with a passkey' })
    await byPasskey.waitFor()
    expect(await axeFindings(page)).toEqual([])
    expect((await byPasskey.boundingBox())!.height).toBeGreaterThanOrEqual(44)
    await byPasskey.click()
    await page.getByRole('heading', { level: 1, name: 'Passkeys of yours' }).waitFor()
    await row.getByRole('button', { name: 'Remove laptop' }).click()
    // The session was the passkey's.
    await byPasskey.click()
    await page.getByRole('alert').getByText('This passkey logs nobody in').waitFor()
    await page.getByLabel('Your key').fill(danasKey)
    await page.getByRole('button', { name: 'Log in', exact: true }).click()
    await page.getByText('None: you log in with your key.').waitFor()
  })
})
