// The offline verifier page (decisions §5), as an auditor has it: a saved file in Chromium, the network off, records and keys dropped on it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { verifyCommand } from '../../src/cli/verify.ts'
import { readPage } from '../../tools/pages.ts'
import type { Algorithm } from '../../src/formats/schemas/signature.ts'
import { anApproval, approvedBy } from '../vectors/approvals.ts'
import { evidenceOf, folder as VECTORS } from '../vectors/published.ts'
import type { SummaryCase } from '../vectors/summaries.ts'
import { openSteps } from '../pipeline/thread.ts'
import { aTransaction } from '../transactions.ts'
import { aRecord, keySetOf } from '../verifier/saved.ts'
import { axeFindings } from './axe.ts'
import { describeInBrowser, launchChromium } from './chromium.ts'
import { savedFiles } from './saved.ts'

interface Dropped {
  readonly name: string
  readonly content: string | Buffer
}

let folder: string
let browser: Browser
let context: BrowserContext
let page: Page
/** Everything that the page asked of anyone, and everything that went wrong in it. */
let requests: string[]
let complaints: string[]

async function drop(zone: 'evidence' | 'key-set' | 'log', ...files: readonly Dropped[]): Promise<void> {
  const given = files.map(({ name, content }) => ({
    name,
    base64: Buffer.from(content).toString('base64'),
  }))
  const transfer = await page.evaluateHandle((list) => {
    const data = new DataTransfer()
    for (const { name, base64 } of list)
      data.items.add(new File([Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0))], name))
    return data
  }, given)
  await page.dispatchEvent(`#${zone}`, 'drop', { dataTransfer: transfer })
}

/** Drops both and waits for the answer. Returns the heading and the whole text of each result. */
async function dropped(
  evidence: readonly Dropped[],
  keySet: string,
): Promise<{ title: string; text: string }[]> {
  await drop('key-set', { name: 'jwks.json', content: keySet })
  await drop('evidence', ...evidence)
  return shown()
}

async function shown(): Promise<{ title: string; text: string }[]> {
  await page.waitForSelector('article')
  const articles = await page.locator('article').all()
  return Promise.all(
    articles.map(async (one) => ({
      title: (await one.locator('h3').innerText()).replace(/^\W+/, ''),
      text: (await one.textContent()) ?? '',
    })),
  )
}

const file = (name: string, content: string) => ({ name, mimeType: '', buffer: Buffer.from(content) })

const bundle = (id: string) => JSON.stringify(evidenceOf('bundles', `bundle/${id}`))

const keysOfVectors = () => readFileSync(join(VECTORS, 'keys.json'), 'utf8')

/** With those of the approvers, which some evidence needs too. */
const keyFilesOfVectors = () =>
  ['keys.json', 'approver-keys.json'].map((name) => ({
    name,
    content: readFileSync(join(VECTORS, name), 'utf8'),
  }))

const record = (content: string | Buffer): Dropped[] => [{ name: 'record.json', content }]

/** The names of the checks that fail, or that cannot be made. */
const checksThat = (className: 'failed' | 'no-key') =>
  page
    .locator('tr', { has: page.locator(`.${className}`) })
    .evaluateAll((rows) => rows.map((row) => row.querySelector('td')?.textContent ?? ''))
const failedChecks = () => checksThat('failed')

describeInBrowser('the verifier page, saved and opened with the network off', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'countersign-verifier-'))
    writeFileSync(join(folder, 'countersign-verifier.html'), readPage('verifier.html'))
    browser = await launchChromium()
    // One page, opened anew for each test: another page is another process, 0.4 s of CPU.
    context = await browser.newContext({ offline: true })
    context.on('request', (request) => requests.push(request.url()))
    page = await context.newPage()
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
  })

  afterAll(async () => {
    // It remembers nothing from one opening to the next.
    expect(await context.storageState({ indexedDB: true })).toEqual({ cookies: [], origins: [] })
    await browser.close()
    rmSync(folder, { recursive: true })
  })

  beforeEach(async () => {
    await page.setViewportSize({ width: 1280, height: 720 })
    requests = []
    complaints = []
    await page.goto(pathToFileURL(join(folder, 'countersign-verifier.html')).href)
    await page.evaluate(() => {
      document.addEventListener('securitypolicyviolation', (event) => console.error(event.violatedDirective))
    })
  })

  afterEach(async () => {
    expect(requests).toEqual([page.url()])
    expect(complaints).toEqual([])
  })

  test('a page that was just opened asks for what it needs and trusts no key', async () => {
    expect(await page.locator('#summary').innerText()).toBe('Waiting for evidence and a key set.')
    expect(await page.locator('#key-set-state').innerText()).toBe('No key set yet.')
    expect(await page.locator('article').count()).toBe(0)
    expect(await page.locator('[data-served]').count()).toBe(0)
  })

  test('the page itself forbids every connection, wherever it is opened', async () => {
    const attempt = await page.evaluate(async () => {
      const violated = new Promise<string>((resolve) => {
        document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective))
      })
      await fetch('https://example.com/').catch(() => undefined)
      return violated
    })
    expect(attempt).toBe('connect-src')
    expect(complaints.splice(0)).toContainEqual(expect.stringContaining('Content Security Policy'))
  })

  describe('VALID', () => {
    test.each<[string, Algorithm[]]>([
      ['Ed25519', ['ed25519']],
      ['ML-DSA-65', ['ml-dsa-65']],
      ['both', ['ed25519', 'ml-dsa-65']],
    ])('a record signed by %s, and the key set of its service', async (_, algorithms) => {
      const { record: text, keySet } = await savedFiles(algorithms)
      const [result, ...more] = await dropped(record(text), keySet)
      expect(more).toEqual([])
      expect(result?.title).toBe('VALID')
      expect(await page.locator('#summary').innerText()).toBe('VALID: record.json')
      expect(result?.text).toContain((JSON.parse(text) as { trustRecordId: string }).trustRecordId)
      expect(await failedChecks()).toEqual([])
      for (const algorithm of algorithms) expect(result?.text).toContain(algorithm)
      expect(result?.text).toMatch(/[0-9a-f]{64}/)
      expect(await page.locator('article li').count()).toBeGreaterThan(0)
    })

    test('a bundle, with the description of the log', async () => {
      await drop('log', { name: 'log.json', content: readFileSync(join(VECTORS, 'log.json')) })
      const [result] = await dropped(record(bundle('valid-governed')), keysOfVectors())
      expect(result?.title).toBe('VALID')
      expect(result?.text).toContain('Bundle of one execution')
      expect(result?.text).toContain('ml-dsa-44')
      expect(await page.locator('#log-state').innerText()).toBe('Log description: log.json')
    })

    test('pasted instead of dropped, by keyboard alone', async () => {
      const { record: text, keySet } = await savedFiles(['ed25519'])
      for (const [zone, content] of [
        ['key-set', keySet],
        ['evidence', text],
      ] as const) {
        await page.focus(`#${zone} summary`)
        await page.keyboard.press('Enter')
        await page.focus(`#${zone}-text`)
        await page.keyboard.insertText(content)
        await page.keyboard.press('Tab')
        await page.keyboard.press('Enter')
      }
      expect((await shown()).map(({ title }) => title)).toEqual(['VALID'])
    })

    test('chosen instead of dropped', async () => {
      const { record: text, keySet } = await savedFiles(['ed25519'])
      await page.getByLabel('Drop evidence files here').setInputFiles(file('record.json', text))
      await page.getByText('Evidence: record.json').waitFor()
      expect(await page.locator('#summary').innerText()).toBe('Waiting for a key set.')
      await page.getByLabel('Drop the key set here').setInputFiles(file('jwks.json', keySet))
      expect((await shown()).map(({ title }) => title)).toEqual(['VALID'])
    })
  })

  describe('NOT VALID', () => {
    test('a bundle whose approver is enrolled by no change', async () => {
      await drop('log', { name: 'log.json', content: readFileSync(join(VECTORS, 'log.json')) })
      const [result] = await dropped(record(bundle('change-missing')), keysOfVectors())
      expect(result?.title).toBe('NOT VALID')
      expect(await failedChecks()).toEqual(['approver keys'])
    })

    test('one changed byte is named by the checks that see it', async () => {
      const { record: text, keySet } = await savedFiles(['ed25519'])
      const changed = text.replaceAll('"amount":42', '"amount":43')
      expect(changed).toHaveLength(text.length)
      const [result] = await dropped(record(changed), keySet)
      expect(result?.title).toBe('NOT VALID')
      expect(await failedChecks()).toEqual(expect.arrayContaining(['canonical hash', 'record signature']))
      expect(result?.text).toContain('The trust record hash does not match the canonical record')
    })

    test('a key set with another key under the id of the one that is due', async () => {
      const { record: text, keySet } = await savedFiles(['ed25519'])
      const other = await savedFiles(['ed25519'])
      const [key] = (JSON.parse(keySet) as { keys: { keyId: string }[] }).keys
      const swapped = other.keySet.replaceAll(/\d{8}T\d{6}Z-ed25519/g, key?.keyId ?? '')
      const [result] = await dropped(record(text), swapped)
      expect(result?.title).toBe('NOT VALID')
      expect(await failedChecks()).toContain('record signature')
    })

    test('a changed record whose key is not given: what fails decides', async () => {
      const { record: text } = await savedFiles(['ed25519'])
      const { keySet } = await savedFiles(['ml-dsa-65'])
      const changed = text.replaceAll('"amount":42', '"amount":43')
      const [result] = await dropped(record(changed), keySet.replaceAll(/\d{8}T\d{6}Z/g, '20200101T000000Z'))
      expect(result?.title).toBe('NOT VALID')
      expect(await failedChecks()).toContain('canonical hash')
      expect(await checksThat('no-key')).toContain('record signature')
    })
  })

  describe('CANNOT BE CHECKED, for want of a key', () => {
    test('the check and the key are named, and where keys are', async () => {
      const { record: text, keySet } = await savedFiles(['ed25519'])
      const [key] = (JSON.parse(keySet) as { keys: { keyId: string }[] }).keys
      const unknown = keySet.replaceAll(/\d{8}T\d{6}Z-ed25519/g, '20200101T000000Z-ed25519')
      const [result] = await dropped(record(text), unknown)
      expect(result?.title).toBe('CANNOT BE CHECKED')
      expect(await page.locator('#summary').innerText()).toBe('CANNOT BE CHECKED: record.json')
      expect(await failedChecks()).toEqual([])
      expect(await checksThat('no-key')).toEqual(['record signature', 'authorization signature', 'receipts'])
      expect(result?.text).toContain(`It cannot be checked: key "${key?.keyId}" is not given.`)
      expect(result?.text).toContain('GET /keys/{keyId}')
    })

    test('keys that the evidence brings along are not used', async () => {
      const { record: text } = await savedFiles(['ed25519'])
      const { record: forged, keySet: forger } = await savedFiles(['ed25519'])
      const { keySet } = await savedFiles(['ml-dsa-65'])
      const { keys } = JSON.parse(forger) as { keys: unknown[] }
      const withKeys = JSON.stringify({ ...JSON.parse(forged), keys, jwk: keys[0] })
      for (const one of [text, withKeys]) {
        const [result] = await dropped(record(one), keySet.replaceAll(/\d{8}T\d{6}Z/g, '20200101T000000Z'))
        expect(result?.title).toBe('CANNOT BE CHECKED')
      }
    })
  })

  describe('CANNOT BE CHECKED', () => {
    test('a bundle without the description of a log, until it is given', async () => {
      const [result] = await dropped(record(bundle('valid-governed')), keysOfVectors())
      expect(result?.title).toBe('CANNOT BE CHECKED')
      expect(await checksThat('no-key')).toEqual(['log checkpoint', 'log proofs', 'log order'])
      expect(result?.text).toContain('GET /.well-known/countersign-log')
      await drop('log', { name: 'log.json', content: readFileSync(join(VECTORS, 'log.json')) })
      await page.waitForSelector('article.valid')
    })

    test.each([
      ['two descriptions', 2, 'Several log descriptions are given: choose one of them.'],
      ['a description that is none', 1, 'has no list `logs`'],
    ])('%s', async (_, count, reason) => {
      await drop('log', ...Array.from({ length: count }, (_one, i) => ({ name: `${i}.json`, content: '{}' })))
      const [result] = await dropped(record(bundle('valid-plain')), keysOfVectors())
      expect(result?.title).toBe('CANNOT BE CHECKED')
      expect(result?.text).toContain(reason)
    })

    test.each<[string, string | Buffer]>([
      ['no JSON', 'garbage'],
      ['nothing', ''],
      ['JSON that is no evidence', '{"hello":"world"}'],
      ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
    ])('evidence that is %s', async (_, content) => {
      const { keySet } = await savedFiles(['ed25519'])
      const [result] = await dropped(record(content), keySet)
      expect(result?.title).toBe('CANNOT BE CHECKED')
      expect(result?.text).toMatch(/(This|The evidence) is .*\.$/)
    })

    test.each<[string, string]>([
      ['no JSON', 'garbage'],
      ['no key set', '{"hello":"world"}'],
    ])('a key set that is %s', async (_, keySet) => {
      const { record: text } = await savedFiles(['ed25519'])
      expect((await dropped(record(text), keySet)).map(({ title }) => title)).toEqual(['CANNOT BE CHECKED'])
    })
  })

  test.each([360, 800, 1280])(
    'at %i pixels a record that is signed by batch, valid or broken, is no wider than the window',
    async (width) => {
      await page.setViewportSize({ width, height: 900 })
      const keySet = readFileSync(join(VECTORS, 'keys.json'), 'utf8')
      // The longest path that there is, and an algorithm's name that is as long.
      const text = JSON.stringify(evidenceOf('trust-records', 'trust-record/valid-batch-of-the-most'))
      const broken = text.replaceAll('ed25519-batch', 'a'.repeat(2000))
      const results = await dropped([...record(text), ...record(broken)], keySet)
      expect(results.map(({ title }) => title)).toEqual(['NOT VALID', 'VALID'])
      await page.getByText('Checks and keys').click()
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
    },
  )

  test('several files are verified one by one, counted, and shown with what is wrong first', async () => {
    const { record: text, keySet } = await savedFiles(['ed25519'])
    const results = await dropped(
      [
        { name: 'whole.json', content: text },
        { name: 'changed.json', content: text.replaceAll('"amount":42', '"amount":43') },
        { name: 'garbage.json', content: 'garbage' },
      ],
      keySet,
    )
    expect(results.map(({ title }) => title)).toEqual(['NOT VALID', 'CANNOT BE CHECKED', 'VALID'])
    const counted = '3 pieces of evidence in 3 files: 1 valid, 1 INVALID, 1 cannot be checked'
    expect(await page.locator('#summary').innerText()).toContain(counted)
  })

  test('many are shown as the report of the command shows them: sums, and a row for each', async () => {
    const steps = openSteps(['ed25519'])
    const records = await Promise.all(
      [10, 12, 11, 110].map((amount) =>
        aRecord(
          steps,
          aTransaction({ intent: { parameters: { amount, currency: 'EUR' } }, signals: { amount } }),
        ),
      ),
    )
    await drop('key-set', { name: 'jwks.json', content: JSON.stringify(keySetOf(steps)) })
    await drop('evidence', {
      name: 'records.ndjson',
      content: [...records, ...records.slice(0, 2), JSON.stringify({ exportEnd: { count: 6 } })].join('\n'),
    })
    const table = (name: string) => page.getByRole('region', { name })
    await table('What happened').waitFor()
    expect(await table('What happened').locator('tbody td').allInnerTexts()).toEqual([
      'sandbox:echo',
      'Done, as the connector reported',
      '6',
      '165 EUR',
    ])
    // One is ten times the usual amount, and no human approved it.
    expect(await table('Approved above usual').count()).toBe(0)
    expect(await table('Executions and refusals').locator('tbody tr').count()).toBe(6)
    const limits = page.getByText('What a pass does not prove').first()
    expect(await limits.isVisible()).toBe(false)
    // Folded sections are open on paper.
    await page.emulateMedia({ media: 'print' })
    expect(await limits.isVisible()).toBe(true)
    await page.emulateMedia({ media: 'screen' })
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    expect(await axeFindings(page)).toEqual([])
  })

  test('of more than it shows, what is not valid is shown', async () => {
    const { record: text, keySet } = await savedFiles(['ed25519'])
    const changed = text.replaceAll('"amount":42', '"amount":43')
    const results = await dropped(record(`[${'{},'.repeat(500)}${changed}]`), keySet)
    expect([results.length, results[0]?.title]).toEqual([500, 'NOT VALID'])
    expect(await page.locator('#results').innerText()).toContain(
      '1 more are counted above, without their checks.',
    )
  })

  test('the summary of many is that of the table, which the command and the Python client give too', async () => {
    const { cases } = JSON.parse(readFileSync(join(VECTORS, 'summaries.json'), 'utf8')) as {
      cases: SummaryCase[]
    }
    await drop('key-set', ...keyFilesOfVectors())
    expect(cases.length).toBeGreaterThan(7)
    for (const { sources, lines } of cases) {
      await drop('evidence', ...sources.map(({ name, text }) => ({ name, content: text })))
      await expect.poll(() => page.locator('#summary').textContent()).toBe(lines.join('\n'))
    }
  })

  test('a bulk export is verified record by record, and what is wrong stands open', async () => {
    const { record: text, keySet } = await savedFiles(['ed25519'])
    const changed = text.replaceAll('"amount":42', '"amount":43')
    const results = await dropped(record(`[${text},${changed}]`), keySet)
    expect(results.map(({ title }) => title)).toEqual(['NOT VALID', 'VALID'])
    expect(await page.getByText('The trust record hash does not match').isVisible()).toBe(true)
    const folded = page.locator('article.valid table').first()
    expect(await folded.isVisible()).toBe(false)
    await page.getByText('Checks and keys').click()
    expect(await folded.isVisible()).toBe(true)
  })

  test('a result goes as soon as what it was about is replaced', async () => {
    const { record: text, keySet } = await savedFiles(['ed25519'])
    await dropped(record(text), keySet)
    await drop('key-set', { name: 'one.json', content: keySet }, { name: 'two.json', content: 'garbage' })
    await page.getByText('2 key files: one.json, two.json').waitFor()
    await page.getByText('CANNOT BE CHECKED: record.json').waitFor()
    expect(await shown()).toMatchObject([{ title: 'CANNOT BE CHECKED' }])
  })

  test('an approved record needs the key files of its approvers too, given together', async () => {
    const approved = JSON.stringify(approvedBy([anApproval()]))
    const [without] = await dropped(record(approved), keysOfVectors())
    expect(without?.title).toBe('CANNOT BE CHECKED')
    expect(await checksThat('no-key')).toEqual(['approvals'])
    await drop('key-set', ...keyFilesOfVectors())
    await page.getByText('VALID: record.json', { exact: true }).waitFor()
    expect((await shown())[0]?.text).toContain('dana:laptop')
  })

  // proves abuse: Hostile markup and long words in the evidence
  test.each([360, 800, 1280])(
    'the report of the command at %i pixels, light and dark: it fits, axe finds nothing, and hostile text only stands there',
    async (width) => {
      const [keys = '', evidence = '', report = ''] = ['jwks.json', 'all.json', 'report.html'].map((name) =>
        join(folder, name),
      )
      const { record: text, keySet } = await savedFiles(['ed25519'])
      const hostile = `<img src=x onerror="console.error(1)"><script>console.error(2)</script>${'x'.repeat(200)}\u202e`
      const changed = JSON.parse(text) as { transaction: { intent: { target: string } } }
      changed.transaction.intent.target = hostile
      writeFileSync(keys, keySet)
      writeFileSync(
        evidence,
        `[${text},${JSON.stringify(changed)},${JSON.stringify(approvedBy([anApproval()]))},{}]`,
      )
      const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
      const threadFile = new URL('../../src/cli/verify/thread.ts', import.meta.url)
      const asked = { files: [evidence], jwks: [keys, join(VECTORS, 'keys.json')], log: undefined }
      const status = await verifyCommand({ ...asked, json: false, quiet: true, report }, threadFile)
      printed.mockRestore()
      expect(status).toBe(1)
      await page.setViewportSize({ width, height: 900 })
      requests = []
      await page.goto(pathToFileURL(report).href)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
        expect(await axeFindings(page)).toEqual([])
      }
      expect(await page.locator('script, img').count()).toBe(0)
      // On paper the first sheet sums up and has the contents, each of which leads somewhere.
      await page.emulateMedia({ media: 'print' })
      const breaksAfter = (tag: string) =>
        page.locator(tag).evaluate((found) => getComputedStyle(found).breakAfter)
      expect([await breaksAfter('header'), await breaksAfter('nav')]).toEqual(['auto', 'page'])
      const parts = await page
        .locator('nav a')
        .evaluateAll((links) =>
          links.map((link) => document.querySelector(link.getAttribute('href') ?? '')?.tagName),
        )
      expect(new Set(parts)).toEqual(new Set(['SECTION']))
      expect(await page.locator('main > section').count()).toBe(parts.length)
      expect(await page.getByRole('heading', { name: 'What this report does not prove' }).isVisible()).toBe(
        true,
      )
      await page.emulateMedia({ media: 'screen' })
      const pieces = await page.locator('.pieces > li').allInnerTexts()
      expect(pieces.map((one) => one.split('\n')[0])).toEqual([
        '✗ NOT VALID: Executed action',
        '? cannot be checked: Executed action',
        '? cannot be checked: No evidence',
      ])
      const valid = page.getByRole('region', { name: 'Executions and refusals' }).locator('tbody tr')
      expect(await valid.allInnerTexts()).toEqual([
        expect.stringContaining('Done, as the connector reported'),
      ])
      expect(pieces[0]).toContain('<script>console.error(2)</script>')
      expect(await page.locator('body').innerText()).not.toContain('\u202e')
      for (const said of ['amount 42', 'dana', 'Done, as the connector reported', 'Keys that are not given'])
        expect(await page.locator('body').innerText()).toContain(said)
    },
  )

  // proves abuse: Control characters in a record's
  test('characters that are not seen, or that turn the direction of others, are replaced', async () => {
    const { record: text, keySet } = await savedFiles(['ed25519'])
    const hidden = '\u001b[2J\u009b\u202e\u200b\u2028\u{e0041}'
    const tampered = JSON.parse(text) as { trustRecordId: string; signature: { keyId: string } }
    tampered.trustRecordId = `a${hidden}`
    tampered.signature.keyId = `b${hidden}`
    const evidence = JSON.stringify({ ...tampered, [`c${hidden}`]: 1 })
    const [result] = await dropped([{ name: `d${hidden}.json`, content: evidence }], keySet)
    expect(result?.title).toBe('NOT VALID')
    for (const character of hidden.replace('[2J', '')) expect(result?.text).not.toContain(character)
    expect(result?.text).toContain('a\ufffd[2J\ufffd\ufffd\ufffd\ufffd\ufffd')
    expect(await page.locator('#summary').innerText()).toBe(
      'NOT VALID: d\ufffd[2J\ufffd\ufffd\ufffd\ufffd\ufffd.json',
    )
  })

  test('markup in the evidence, in a file name and in the key set is shown, never run', async () => {
    const hostile = '<img src=x onerror="console.error(1)"><script>console.error(2)</script>'
    const { record: text, keySet } = await savedFiles(['ed25519'])
    const tampered = JSON.parse(text) as { trustRecordId: string; signature: { keyId: string } }
    tampered.trustRecordId = hostile
    tampered.signature.keyId = hostile
    const keys = JSON.stringify({
      keys: [{ keyId: hostile, algorithm: hostile }, ...JSON.parse(keySet).keys],
    })
    const everywhere = await dropped([{ name: `${hostile}.json`, content: JSON.stringify(tampered) }], keySet)
    expect(everywhere.map(({ title }) => title)).toEqual(['NOT VALID'])
    expect(everywhere[0]?.text.split(hostile).length).toBeGreaterThan(2)
    await dropped([{ name: `${hostile}.json`, content: JSON.stringify(tampered) }], keys)
    expect(await page.locator('main img, main script').count()).toBe(0)
  })
})
