// A human decides on an approval request in Chromium: by keyboard alone, and with a service that shows another request than it names.
import { randomUUID } from 'node:crypto'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ApprovalRequest } from '../../src/formats/schemas/approval-request.ts'
import { BUILT } from '../../src/server/pages/built.ts'
import { axeFindings } from '../browser/axe.ts'
import { describeInBrowser, launchChromium, openPage, type WatchedPage } from '../browser/chromium.ts'
import { anApprovalOf, anApprover, enrolled, proposed, putInEffect } from '../authority.ts'
import { putInDoubt } from '../intents.ts'
import { until } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { readQr } from './qr.ts'
import { SPENT, startWorld, type World } from './world.ts'

/** @returns the target of the request, which nothing else has */
async function askBy(world: World, expiresInSeconds: number): Promise<string> {
  const { status, text, body } = await tryToAsk(world, expiresInSeconds)
  expect(status, text).toBe(201)
  return (body as ApprovalRequest).request.target
}

function tryToAsk({ service }: World, expiresInSeconds: number) {
  const transaction = aTransaction({
    policy: { name: 'by-one', version: '1.0.0' },
    intent: { target: randomUUID() },
  })
  return service.post('/approval-requests', { transaction, expiresInSeconds })
}

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
    watched = await openPage(browser, `${world.origin}/console/inbox`)
    ;({ page } = watched)
    // Asking who is logged in is answered 401 where nobody is, and Chromium logs each of those.
    await page.getByLabel('Your key').fill(key)
    await page.getByRole('button', { name: 'Log in', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor()
    watched.problems.splice(0)
  }

  beforeEach(() => loggedIn(world.dana.key))
  afterEach(() => page.context().close())

  test('from the inbox to a decline by keyboard alone', async () => {
    const { request } = world.payment
    const row = page.locator(`a[href="/console/requests/${request.requestId}"]`)
    await row.waitFor()
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
    // The next waiting request is shown, with the decision in the status line.
    await page.getByRole('status').getByText('Declined: vendor:pay → Acme GmbH').waitFor()
    expect(new URL(page.url()).pathname).not.toBe(`/console/requests/${request.requestId}`)
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')
    const { body } = await world.service.get(world.payment.url, world.dana)
    expect(body.closed).toMatchObject({ status: 'DECLINED', by: 'dana', reason: 'Paid last week.' })
    await page.keyboard.press('g')
    await page.keyboard.press('i')
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor()
    expect(watched.problems).toEqual([])
  })

  test('a search finds a request by its action code, which is all that a colleague reads out', async () => {
    const { actionCode, request } = world.payment
    await page.keyboard.press('/')
    // As it is read out, without its hyphens.
    await page.keyboard.type(actionCode.toLowerCase().replaceAll('-', ' '))
    await page.keyboard.press('Enter')
    await page.getByText(actionCode).first().waitFor()
    expect(new URL(page.url()).pathname).toBe(`/console/requests/${request.requestId}`)
    const { executed, policyChange } = world
    for (const [wanted, path] of [
      [executed, `/console/executions/${executed}`],
      [policyChange, `/console/changes/policy/${policyChange}`],
      ['payables-agent', '/console/executions?callerId=payables-agent'],
    ]) {
      await page.getByRole('button', { name: 'Search' }).click()
      await page.getByRole('dialog').getByRole('combobox').fill(wanted!)
      await page.getByRole('dialog').getByRole('option').first().waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(world.origin + path!)
    }
    await page.getByRole('link', { name: 'vendor:pay → Acme GmbH' }).first().waitFor()
  })

  test('beside a request stand the rule, whose word each signal is, and what was executed before', async () => {
    const { request } = world.forSigner
    await page.goto(`${world.origin}/console/requests/${request.requestId}`)
    const panel = (title: string) =>
      page.locator('.panel', { has: page.getByRole('heading', { name: title, exact: true }) })
    await panel('What is unusual').getByText('First time on this target, by anybody').waitFor()
    await panel('What the policy says').getByText('Rule pay approves it').waitFor()
    expect(await panel('What the policy says').textContent()).toContain('once you sign: All checks passed.')
    const signals = await panel('Signals').locator('tbody tr').allTextContents()
    expect(signals).toEqual(
      expect.arrayContaining([
        'humanApprovedverified by 1 approval of a human, such as yours, when it is executedtrue',
        'paymentAmountmust equal intent.parameters.amount18900',
        'riskScoreon the caller’s word alone4',
      ]),
    )
    await page.getByText('QR code of these bytes').click()
    expect(JSON.parse(await readQr(page.locator('svg.qr')))).toEqual(request)
  })

  test('what will happen is said in the words of the policy, and what a stranger wrote only stands there', async () => {
    const { request } = world.hostile
    await page.goto(`${world.origin}/console/requests/${request.requestId}`)
    const words = page.getByRole('heading', { level: 1, name: 'Echo 42 of' })
    await words.waitFor()
    const said = (await words.textContent()) ?? ''
    expect(said).toMatch(/^Echo 42 of ".+" with \[.+ for \(not given\)$/s)
    expect(said).toContain('<script>')
    expect(await words.locator('script').count()).toBe(0)
    expect(watched.problems).toEqual([])
  })

  test('a request leaves as a QR code, is signed by a saved page with the network off, and the approval comes back', async () => {
    const { url, request, requestHash } = world.forSigner
    await page.goto(`${world.origin}/console/requests/${request.requestId}`)
    await page.getByText('QR code of these bytes').click()
    const scanned = await readQr(page.locator('svg.qr'))

    const offline = await openPage(browser, new URL('signer.html', BUILT).href)
    const signer = offline.page
    await signer.context().setOffline(true)
    await signer.reload()
    await signer.getByLabel('Or its text').fill(scanned.replace('"quorum":1', '"quorum":"1"'))
    await signer.getByRole('button', { name: 'Look at it' }).click()
    await signer.getByText('not an approval request as the service makes them').waitFor()
    await signer
      .getByLabel('Or its text')
      .fill(JSON.stringify({ ...world.forSigner, requestHash: '0'.repeat(64) }))
    await signer.getByRole('button', { name: 'Look at it' }).click()
    await signer.getByText('Do not sign this').waitFor()
    await signer.getByLabel('Or its text').fill(scanned)
    await signer.getByRole('button', { name: 'Look at it' }).click()
    const shown = await signer.locator('main').textContent()
    expect(shown).toContain(world.forSigner.actionCode)
    expect(shown).toContain(requestHash)
    expect(await axeFindings(signer)).toEqual([])

    const { privateKey, publicKeyPem, keyId } = world.danasKey
    const give = async (pem: string) => {
      await signer
        .getByLabel('File of your private key')
        .setInputFiles({ name: 'key.pem', mimeType: 'text/plain', buffer: Buffer.from(pem) })
      await signer.getByRole('button', { name: 'Sign this request' }).click()
    }
    await signer.getByLabel('Your approverId').fill('dana')
    await signer.getByLabel('The keyId').fill(keyId)
    await signer.getByLabel('Why you approve').fill('Matches \u202einvoice 7.')
    await give(publicKeyPem)
    await signer.getByText('This is the public half').waitFor()
    await give(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
    const approval = await signer.getByLabel('Its text').inputValue()
    expect(await readQr(signer.locator('svg.qr').last())).toBe(approval)
    expect(offline.problems).toEqual([])
    await signer.context().close()

    await page.getByText('Deliver a signature that was made elsewhere').click()
    await page.getByLabel('The approval, as the').fill(approval)
    await page.getByRole('button', { name: 'Deliver' }).click()
    await page.locator('h1 + .badge', { hasText: 'approved' }).waitFor()
    await page.getByRole('status').getByText('You have signed.').waitFor()
    expect(await page.locator('main').textContent()).not.toContain('sign-request')
    expect((await world.service.get(url, world.dana)).body.approvals).toMatchObject([
      { approverId: 'dana', keyId, reason: 'Matches \u202einvoice 7.' },
    ])
    await page.getByText('because: Matches \ufffdinvoice 7.').waitFor()
  })

  // proves abuse: A service, or somebody between, that shows an approver
  test('another content of the policy than the request names is called that, and not explained', async () => {
    const { request } = world.payment
    const path = '/policies/vendor-payment/2.0.0'
    const policy = (await world.service.get(path)).body as { document: object }
    const document = { ...policy.document, description: 'Pays nobody.' }
    await page.route(`**${path}`, (route) => route.fulfill({ json: { ...policy, document } }))
    await page.goto(`${world.origin}/console/requests/${request.requestId}`)
    await page.getByText('another content of this policy than the request names').waitFor()
    expect(await page.locator('main').textContent()).not.toContain('approves it')
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

  test('an approver asks back, the requester answers, and the page shows both while it is open', async () => {
    const target = await askBy(world, 3_000)
    const { body } = await world.service.get(`/approval-requests?target=${target}`, world.dana)
    const [asked] = (body as { requests: ApprovalRequest[] }).requests
    await page.goto(`${world.origin}${asked!.url.replace('/approval-requests/', '/console/requests/')}`)
    await page.getByRole('button', { name: 'Ask back…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Ask the requester back' })
    await dialog.getByLabel('The note').fill('Which invoice?\nThe \u202eold one?')
    expect(await axeFindings(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Write the note' }).click()
    await dialog.waitFor({ state: 'detached' })
    const notes = page.locator('section', { has: page.getByRole('heading', { level: 2, name: 'Notes' }) })
    await notes.getByText('Which invoice?').waitFor()
    expect(await notes.textContent()).not.toContain('\u202e')
    const answer = { text: 'Invoice 2026-118.' }
    expect((await world.service.post(`${asked!.url}/notes`, answer)).status).toBe(201)
    await notes.getByText('(the requester)').waitFor()
    await notes.getByText('Invoice 2026-118.').waitFor()
    for (const width of [390, 820, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await axeFindings(page)).toEqual([])
    }
    expect((await world.service.post(`${asked!.url}/withdraw`, {})).status).toBe(200)
  })

  test('the link to skip the navigation takes the focus to the page', async () => {
    const skip = page.getByRole('link', { name: 'Skip to the page' })
    await skip.focus()
    await skip.press('Enter')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')
  })

  test('the list of policies says which choice shows those in effect', async () => {
    await page.goto(`${world.origin}/console/policies`)
    const choices = page.getByLabel('Shown').locator('option')
    await page.getByText('Shown: in effect', { exact: true }).click()
    await choices.first().waitFor({ state: 'attached' })
    expect(await choices.allTextContents()).toEqual(['in effect', 'all'])
  })

  /** Asks under the policy whose limit counts what the requester did, opens the page, and takes the request back. */
  async function spending(parameters: object, look: () => Promise<void>): Promise<void> {
    const transaction = {
      ...aTransaction({ policy: SPENT, intent: { target: randomUUID(), parameters } }),
      signals: {},
    }
    const { status, text, body } = await world.service.post('/approval-requests', { transaction })
    expect(status, text).toBe(201)
    await page.goto(`${world.origin}/console/requests/${(body as ApprovalRequest).request.requestId}`)
    await look()
    // A caller may have a hundred open, and other tests count on it.
    expect((await world.service.post(`${(body as ApprovalRequest).url}/withdraw`, {})).status).toBe(200)
  }
  const panelOf = (title: string) =>
    page.locator('.panel', { has: page.getByRole('heading', { name: title, exact: true }) })

  test('a limit that only the requester has is judged as theirs, and shown with its value', async () => {
    const says = panelOf('What the policy says')
    await spending({ amount: 4_000, currency: 'EUR' }, async () => {
      await page.getByRole('heading', { level: 1, name: 'Spend 4,000 EUR on' }).waitFor()
      await says.getByText('Rule seen approves it once you sign').waitFor()
      expect(await says.textContent()).toContain(
        'before so far 0 of 5,000: the total of intent.parameters.amount',
      )
      await panelOf('Signals').getByText('left to the service: 0 now').waitFor()
      expect(await says.textContent()).not.toContain('No rule')
    })
    await spending({ amount: 6_000, currency: 'EUR' }, async () => {
      await says.getByText('Rule too-much would refuse it, whoever signs: More than 5000').waitFor()
    })
  })

  test('an amount is compared with those of before in the same currency alone, above what signs it', async () => {
    const unusual = panelOf('What is unusual')
    for (const [parameters, said] of [
      [{ amount: 41, currency: 'JPY' }, /First time in this currency: JPY/],
      [
        { amount: 41, currency: 'EUR' },
        /^(?!.*(currency:|highest|Higher)).*1 amount before: 42; this one: 41/s,
      ],
      [{ amount: 43, currency: 'EUR' }, /Higher than any before \(42\): amount/],
      [{ amount: 420, currency: 'EUR' }, /10 times the highest before \(42\): amount/],
    ] as const)
      await spending(parameters, async () => {
        await unusual.getByText(`of its newest`).waitFor()
        await until(async () => said.test((await unusual.textContent()) ?? ''), String(said))
        for (const width of [390, 1440]) {
          await page.setViewportSize({ width, height: 900 })
          const [odd, sign] = await Promise.all(
            [unusual, panelOf('Decide').locator('.code')].map(async (one) => (await one.boundingBox())!.y),
          )
          // Beside it where there is room; never below.
          expect(odd! <= sign! || (width === 1440 && sign! < 900)).toBe(true)
        }
      })
  })

  test('a used request and its execution lead to each other, also where nobody knows the outcome', async () => {
    const isAt = (path: string) => page.waitForURL(world.origin + path)
    await page.goto(`${world.origin}/console/executions/${world.paid}`)
    await page.getByRole('link', { name: 'The approval request' }).click()
    await page.getByRole('link', { name: 'The execution that used it' }).click()
    await isAt(`/console/executions/${world.paid}`)

    const { target } = { target: randomUUID() }
    const transaction = () =>
      aTransaction({ policy: { name: 'by-one', version: '1.0.0' }, intent: { target } })
    const asked = (await world.service.post('/approval-requests', { transaction: transaction() }))
      .body as ApprovalRequest
    expect((await world.service.post('/approvals', anApprovalOf(world.danasKey, asked))).status).toBe(201)
    const executed = transaction()
    expect((await world.service.post('/execute', executed)).status).toBe(200)
    // As the catalogue would have it after a crash.
    await until(async () => {
      const { rowCount } = await world.database.pool.query(
        "UPDATE catalogue_entries SET status = 'in_doubt' WHERE business_transaction_id = $1",
        [executed.businessTransactionId],
      )
      return rowCount === 1
    }, 'the catalogue to have it')
    await putInDoubt(world.database, executed.businessTransactionId)
    await page.goto(`${world.origin}/console/executions/${executed.businessTransactionId}`)
    await panelOf('Approved by').getByText('dana').waitFor()
    await page.getByRole('link', { name: 'The request that they approved' }).click()
    await isAt(`/console/requests/${asked.request.requestId}`)
    expect(await page.getByText('Could still sign').count()).toBe(0)
    // A used request is no success by itself: list and page say what came of its execution.
    await page.reload()
    await panelOf('Approvals').getByText('in doubt: it was released').waitFor()
    await page.goto(`${world.origin}/console/requests?status=USED`)
    const row = page.getByRole('row').filter({ has: page.locator(`a[href$="${asked.request.requestId}"]`) })
    await row.locator('.badge.bad', { hasText: 'in doubt' }).waitFor()
    expect(await row.locator('.badge.good').count()).toBe(0)
  })

  test('a request of two bands has a line for each signal: how many signed, of which groups, and who still can', async () => {
    const { service, dana, erin } = world
    const humans = { maker: erin, checker: dana }
    const set = (group: string, members: readonly string[]) =>
      putInEffect(service, humans, '/approver-groups/changes', {
        action: 'set',
        group,
        members,
        reason: 'test',
      })
    await set('managers', ['dana', 'erin'])
    await set('directors', ['erin'])
    await putInEffect(service, humans, '/policies/bands/1.0.0/pending-changes', {
      reason: 'test',
      proposedContent: {
        policyId: 'bands',
        policyVersion: '1.0.0',
        schemaVersion: '1.0.0',
        description: 'Made by a test.',
        capabilities: ['sandbox:echo'],
        signals: { managerApproved: 'boolean', directorApproved: 'boolean' },
        verify: {
          managerApproved: { by: 'approval', quorum: 1, from: ['managers', 'owners'] },
          directorApproved: { by: 'approval', quorum: 1, from: ['directors'] },
        },
        display: { 'sandbox:echo': { text: 'Echo to {intent.target}.', amount: 'intent.parameters.amount' } },
        ask: { remindAfter: '10m', escalateAfter: '30m', escalateTo: 'owners' },
        rules: [
          {
            id: 'both',
            when: 'signals.managerApproved && signals.directorApproved',
            outcome: 'approve',
            reason: 'A manager and a director have looked.',
          },
        ],
      },
    })
    const transaction = {
      ...aTransaction({ policy: { name: 'bands' }, intent: { target: 'two-bands' } }),
      signals: {},
    }
    const { status, text, body } = await service.post('/approval-requests', { transaction })
    expect(status, text).toBe(201)
    const asked = body as ApprovalRequest
    await page.goto(`${world.origin}/console/inbox`)
    const waiting = page.getByRole('row').filter({ hasText: 'Echo to two-bands' })
    await waiting.getByText('First time on this target, by anybody').waitFor()
    await waiting.getByText(/^0 of 2 signed, one of .*directors/).waitFor()
    await page.goto(`${world.origin}/console/requests/${asked.request.requestId}`)
    const line = (signal: string) => page.getByRole('listitem').filter({ hasText: signal })
    await expect
      .poll(() => line('managerApproved').innerText())
      .toBe('managerApproved: 0 of 1 signed by groups managers or owners; can still sign: dana, erin')
    expect(await line('directorApproved').innerText()).toBe(
      'directorApproved: 0 of 1 signed by group directors; can still sign: erin',
    )
    await page.getByText(/^Reminder in \d+ min\. Escalates to group owners in \d+ min:/).waitFor()
    // Where Dana is only in the group that is asked later, the page offers her signature all the same.
    await enrolled(service, humans, anApprover('gil'))
    await set('managers', ['gil', 'erin'])
    await set('owners', ['dana'])
    await page.reload()
    await expect.poll(() => line('managerApproved').innerText()).toContain('can still sign: erin, gil')
    await panelOf('Decide')
      .getByText(
        'The request was not escalated to you yet: group owners is asked later, and your signature counts already. ' +
          'After your signature, 1 other approval will still be missing.',
      )
      .waitFor()
    await panelOf('Decide').getByText('--approver dana').waitFor()
    expect(await panelOf('Decide').getByRole('button', { name: 'Decline…' }).count()).toBe(1)
    expect((await service.post('/approvals', anApprovalOf(world.danasKey, asked))).status).toBe(201)
    await expect
      .poll(() => line('managerApproved').innerText())
      .toBe('managerApproved: 1 of 1 signed by groups managers or owners (dana)')
    expect(await axeFindings(page)).toEqual([])
    expect((await service.post(`${asked.url}/withdraw`, {})).status).toBe(200)
    await page.goto(`${world.origin}/console/policies/bands/1.0.0`)
    await page.getByRole('heading', { name: 'When approvers are asked again' }).waitFor()
    await page.goto(`${world.origin}/console/approvers`)
    await page.getByRole('link', { name: 'managers' }).first().waitFor()
    expect(await axeFindings(page)).toEqual([])
  })

  test('several requests are declined with one reason, each by itself, and one that is over keeps none', async () => {
    const targets = [await askBy(world, 3_000), await askBy(world, 3_000), await askBy(world, 3_000)]
    const { body } = await world.service.get('/approval-requests?status=PENDING&pageSize=100', world.dana)
    const requests = (body['requests'] as ApprovalRequest[]).filter(({ request }) =>
      targets.includes(request.target),
    )
    await page.goto(`${world.origin}/console/inbox`)
    // The comparisons of the rows load last and move the content below.
    await page.locator('tr', { hasText: targets[0]! }).getByText('First time on this target').waitFor()
    await page.getByRole('button', { name: 'Decline several…' }).click()
    const dialog = page.getByRole('dialog')
    const decline = dialog.getByRole('button', { name: /^Decline \d/ })
    expect(await decline.isDisabled()).toBe(true)
    for (const target of targets)
      await dialog.locator('label', { hasText: target }).getByRole('checkbox').check()
    expect(await axeFindings(page)).toEqual([])
    const [gone, ...left] = requests
    expect((await world.service.post(`${gone!.url}/withdraw`, {})).status).toBe(200)
    // Each says what an approver looks at twice and how long there is; a reason that is missing is asked for in the page's own words.
    const choice = dialog.locator('label', { hasText: targets[0]! })
    await choice.getByText('First time on this target, by anybody').waitFor()
    await choice.getByText(/ left$/).waitFor()
    await dialog.getByRole('button', { name: 'Decline 3 requests' }).click()
    await dialog.getByRole('alert').getByText('Say why you decline').waitFor()
    await dialog.getByLabel('Why, for the caller').fill('Nobody ordered these.')
    expect(await dialog.getByRole('alert').count()).toBe(0)
    await dialog.getByRole('button', { name: 'Decline 3 requests' }).click()
    await page.getByRole('status').getByText('2 requests declined.').waitFor()
    await page.getByRole('alert').getByText(gone!.request.target).waitFor()
    for (const { url } of left) {
      const { body: shown } = await world.service.get(url, world.dana)
      expect(shown.closed).toMatchObject({ status: 'DECLINED', by: 'dana', reason: 'Nobody ordered these.' })
    }
    for (const target of targets)
      await page.locator('a[data-row]', { hasText: target }).waitFor({ state: 'detached' })
  })

  test('a tab that comes back to the front shows who is logged in now', async () => {
    const other = await page.context().newPage()
    await other.goto(`${world.origin}/console/inbox`)
    await other.getByRole('button', { name: 'Log out' }).click()
    await other.getByLabel('Your key').fill(world.erin.key)
    await other.getByRole('button', { name: 'Log in', exact: true }).click()
    await other.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor()
    expect(await page.locator('.who span').textContent()).toBe('dana')
    // Headless, every tab is in front all the time.
    await page.evaluate(() => dispatchEvent(new Event('focus')))
    await page.locator('.who span', { hasText: 'erin' }).waitFor()
    await other.getByRole('button', { name: 'Log out' }).click()
    await other.getByLabel('Your key').waitFor()
    await page.evaluate(() => dispatchEvent(new Event('focus')))
    await page.getByText('Your session is over.').waitFor()
  })

  test('a page does not wait to be told who is logged in, and shows nothing to who is not any more', async () => {
    const answered = Promise.withResolvers<void>()
    const me = `${world.origin}/console/me`
    await page.route(
      me,
      async (route) => {
        await answered.promise
        await route.continue()
      },
      { times: 1 },
    )
    await page.goto(`${world.origin}/console/inbox`)
    await page.locator('a[data-row]').first().waitFor()
    expect(await page.locator('.who span').textContent()).toBe('dana')
    const told = page.waitForResponse(me)
    answered.resolve()
    await (await told).finished()
    // No page is open meanwhile, whose requests would find it out before.
    await page.goto('about:blank')
    await page.context().clearCookies()
    await page.goto(`${world.origin}/console/inbox`)
    await page.getByText('Your session is over.').waitFor()
    expect(await page.evaluate(() => localStorage.getItem('countersign-session'))).toBe(null)
    await page.reload()
    await page.getByLabel('Your key').waitFor()
    expect(await page.getByText('Your session is over.').count()).toBe(0)
  })

  test('an answer about who is logged in that a logout overtakes logs nobody in again', async () => {
    const answered = Promise.withResolvers<void>()
    const me = `${world.origin}/console/me`
    await page.route(
      me,
      async (route) => {
        // The driver leaves out headers that only the browser may set.
        const headers = { ...(await route.request().allHeaders()), 'sec-fetch-site': 'same-origin' }
        const response = await route.fetch({ headers })
        await answered.promise
        await route.fulfill({ response })
      },
      { times: 1 },
    )
    await page.goto(`${world.origin}/console/inbox`)
    await page.locator('a[data-row]').first().waitFor()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('Your key').waitFor()
    const told = page.waitForResponse(me)
    answered.resolve()
    const response = await told
    expect(await response.json()).toMatchObject({ callerId: 'dana' })
    // The page has all of the answer, and has run what waited for it.
    await page.waitForFunction((url) => performance.getEntriesByName(url).length > 0, me)
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)))
    expect(await page.getByLabel('Your key').count()).toBe(1)
    expect(await page.evaluate(() => localStorage.getItem('countersign-session'))).toBe(null)
  })

  test('on a phone a refusal names the declared and the verified value, and a table keeps its headings', async () => {
    const refused = await world.service.post(
      '/execute',
      aTransaction({ policy: { name: 'by-one', version: '1.0.0' } }),
    )
    expect(refused.status, refused.text).toBe(403)
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${world.origin}/console/refusals`)
    await page.locator('[data-row]').first().click()
    const cells = page.getByRole('region', { name: 'Declared signals' }).locator('td')
    await cells.first().waitFor()
    const labels = await cells.evaluateAll((all) =>
      all.map((one) => getComputedStyle(one, '::before').content),
    )
    expect(labels).toEqual(['Signal', 'Declared', 'Verified', 'By'].map((title) => `"${title}: "`))
    expect(await page.getByRole('columnheader').allTextContents()).toContain('Declared')
  })

  test.each(['light', 'dark'] as const)(
    'the edge of a field can be seen, and a button to copy be hit, in %s',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme })
      await page.goto(`${world.origin}/console/requests/${world.hostile.request.requestId}`)
      const copy = await page.getByRole('button', { name: 'Copy' }).first().boundingBox()
      // WCAG 2.2: 2.5.8 Target Size, 1.4.11 Non-text Contrast.
      expect(copy?.height).toBeGreaterThanOrEqual(24)
      const colors = await page.getByRole('button', { name: 'Search' }).evaluate((field) => {
        const { borderTopColor, backgroundColor } = getComputedStyle(field)
        return [borderTopColor, backgroundColor].map((color) => color.match(/\d+/g)!.map(Number))
      })
      const [darker, lighter] = colors.map(luminance).toSorted((a, b) => a - b)
      expect((lighter! + 0.05) / (darker! + 0.05)).toBeGreaterThanOrEqual(3)
    },
  )

  test('of many decisions that a change would have made otherwise, the newest stand above what resolves it', async () => {
    await page.goto(`${world.origin}/console/changes/policy/${world.policyChange}`)
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('button', { name: 'Run again' }).waitFor()
    const rows = page
      .getByRole('region', { name: 'Decisions that would differ', exact: true })
      .locator('[data-row]')
    expect(await rows.count()).toBe(10)
    const more = page.getByText(/^\d+ more$/).first()
    await page.getByText('changes reject').waitFor()
    await rows.last().focus()
    await page.keyboard.press('j')
    // The folded rows below cannot be seen: the key reaches none of them.
    expect(await page.evaluate(() => document.activeElement?.checkVisibility())).toBe(true)
    await more.click()
    await page.getByRole('region', { name: 'Decisions that would differ: the older ones' }).waitFor()
  })

  test('a change says its verb, shows the words that differ, and counts what ends with a version in money', async () => {
    await page.goto(`${world.origin}/console/changes/policy/${world.policyChange}`)
    const title = 'Put policy sandbox-echo 1.1.0 in effect and retire 1.0.0'
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    expect(await page.title()).toContain(title)
    const condition = page.locator('.text-diff > div', { hasText: 'rules.too-large.when' })
    expect(await condition.locator('dd').textContent()).toBe('signals.amount > removed: 1000.0added: 40.0')
    await page.getByText('Proposed, whole').click()
    await page.locator('.members dt', { hasText: 'policyVersion' }).first().waitFor()

    const { changeId } = await proposed(world.service, world.erin, '/policies/by-one/1.0.0/pending-changes', {
      action: 'retire',
      reason: 'Nobody needs it.',
    })
    await page.goto(`${world.origin}/console/changes/policy/${changeId}`)
    const ends = page.locator('.caution', { hasText: 'under version 1.0.0' })
    expect(await ends.textContent()).toMatch(/^\d+ open requests? under version 1\.0\.0 ends? \([\d,]+\)\./)
    await ends.getByRole('link').click()
    await page.getByRole('heading', { level: 1, name: 'Approval requests' }).waitFor()
    await page.locator(`a[href="/console/requests/${world.hostile.request.requestId}"]`).waitFor()
  })

  test('a kind of change that there is not is called that', async () => {
    await page.goto(`${world.origin}/console/changes/nothing/${world.policyChange}`)
    await page.getByRole('alert').getByText('There is no such change.').waitFor()
  })

  // Its hundred requests would push those of the others off the first page.
  test('the inbox begins with what ends first, and leads to the list where more waits than it shows', async () => {
    const urgent = await askBy(world, 600)
    for (let i = 0; i < 30; i++) await askBy(world, 3_600)
    const rows = page
      .locator('.panel', { has: page.getByRole('heading', { name: 'Approval requests that you can sign' }) })
      .locator('[data-row]')
    await page.reload()
    await rows.first().waitFor()
    expect(await rows.first().textContent()).toContain(urgent)

    // A caller may have a hundred open, some by the tests before; the agent has one more at least.
    let refused = ''
    for (let i = 0; i < 100 && refused === ''; i++) refused = (await tryToAsk(world, 3_600)).body.code ?? ''
    expect(refused).toBe('TOO_MANY_APPROVAL_REQUESTS')
    await page.reload()
    await page.getByRole('link', { name: 'There are more: see all' }).click()
    await page.getByRole('heading', { level: 1, name: 'Approval requests' }).waitFor()
    expect(await page.getByLabel('Waiting for').inputValue()).toBe('me')
    const newest = await page.locator('[data-row]').first().textContent()
    await page.getByRole('link', { name: 'Next page' }).click()
    await until(
      async () => (await page.locator('[data-row]').first().textContent()) !== newest,
      'the next page',
    )
    // Back is where the reader was, at the row that they opened; a queue of those that wait has its own way on.
    const row = page.locator('[data-row]').nth(15)
    await row.scrollIntoViewIfNeeded()
    await page.evaluate(() => scrollBy(0, 137))
    const [y, href] = [await page.evaluate(() => scrollY), await row.getAttribute('href')]
    expect(y).toBeGreaterThan(100)
    await row.focus()
    await page.keyboard.press('Enter')
    const place = page.getByText(/^\d+ of 1\d\d$/)
    const at = async () => Number((await place.textContent())!.split(' ')[0])
    await place.waitFor()
    const first = await at()
    await page.keyboard.press('n')
    await until(async () => (await at()) === first + 1, 'the next request')
    await page.keyboard.press('p')
    await until(async () => (await at()) === first, 'the request before')
    for (let i = 0; i < 3; i++) await page.goBack()
    await until(
      () =>
        page.evaluate(
          ([top, wanted]) => scrollY === top && document.activeElement?.getAttribute('href') === wanted,
          [y, href] as const,
        ),
      'the place on the list',
    )
    expect(watched.problems).toEqual([])
  })
})

/** WCAG 2.2, relative luminance. */
function luminance(rgb: readonly number[]): number {
  const [r = 0, g = 0, b = 0] = rgb.map((value) =>
    value <= 10 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
  )
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
