// A headless Chromium and what it objects to about a page. Where there is none the tests skip, but not in CI.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { describe, TestRunner } from 'vitest'
import { cleanUpAfterEachTest } from '../run/cleanup.ts'

// First the same engine without the browser's own windows, which cost a third of the CPU.
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

// A sandbox needs rights that containers do not give; everything else keeps the browser from talking to its maker.
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** The path of the browser; undefined where there is none. */
export const executablePath = (process.env['PATH'] ?? '')
  .split(delimiter)
  .flatMap((folder) => NAMES.map((name) => join(folder, name)))
  .find(isExecutable)

const skipped = executablePath === undefined && process.env['CI'] !== 'true'
if (skipped) console.warn(`No ${NAMES.join(' or ')} on PATH: the tests that need a browser are skipped.`)

/** `describe`, for tests that need a browser. */
export const describeInBrowser = describe.skipIf(skipped)

/** @throws where Chromium is not installed */
export function launchChromium(): Promise<Browser> {
  if (executablePath === undefined) throw new Error(`None of ${NAMES.join(', ')} is on PATH.`)
  return chromium.launch({ executablePath, headless: true, args: FLAGS })
}

export interface WatchedPage {
  readonly page: Page
  /** Requests to other origins (which are not let through), violations of the page's policy, errors and warnings. */
  readonly problems: string[]
}

const open = new Set<WatchedPage>()
// A browser that waited in vain says only what it waited for.
cleanUpAfterEachTest(async () => {
  const test = TestRunner.getCurrentTest()
  if (test?.result?.state !== 'fail') return
  for (const { page, problems } of open) {
    const shown = await page.locator('body').innerText({ timeout: 10_000 }).catch(String)
    console.error(`${test.name}: ${page.url()} shows\n${shown.slice(0, 4_000)}\n${problems.join('\n')}`)
  }
})

/**
 * Opens a page in a context of its own, watched from its first request on.
 * @param screen a desktop's where none is given; a phone has a touch screen
 */
export async function openPage(
  browser: Browser,
  url: string,
  screen: BrowserContextOptions = { viewport: { width: 1280, height: 900 } },
): Promise<WatchedPage> {
  const context = await browser.newContext(screen)
  context.setDefaultTimeout(120_000)
  const problems: string[] = []
  const { origin } = new URL(url)
  await context.route(
    (requested) =>
      requested.origin !== origin && requested.protocol !== 'data:' && requested.protocol !== 'blob:',
    async (route) => {
      problems.push(`request to ${route.request().url()}`)
      await route.abort()
    },
  )
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
      console.error(`violation of ${effectiveDirective}: ${blockedURI}`)
    })
  })
  const page = await context.newPage()
  page.on('pageerror', ({ message }) => problems.push(`error: ${message}`))
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`${message.type()}: ${message.text()}`)
  })
  const watched = { page, problems }
  open.add(watched)
  page.on('close', () => open.delete(watched))
  await page.goto(url)
  return watched
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
