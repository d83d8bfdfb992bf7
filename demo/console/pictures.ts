// The pictures of the handbook, taken of the demo's month, and how soon each of these pages shows what it is opened for.
import { accessSync, constants, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import { paintMs } from '../../bench/paint.ts'
import { CannotRun, openClient } from '../client.ts'
import { print } from '../page.ts'
import type { DemoWorld } from './world.ts'

const SCREEN = { width: 1200, height: 760 }
const PHONE = { width: 390, height: 844 }
/** How long the service may take until everything of the month can be found. */
const THERE_MS_MAX = 60_000
/** Of so many openings the median is told. */
const ROUNDS = 5

interface Picture {
  /** Of its file, `<name>.png`. */
  readonly name: string
  readonly path: string
  /** What a reader has come for. */
  readonly ready: string
  readonly screen?: { readonly width: number; readonly height: number }
  readonly dark?: true
}

interface Named {
  /** `requestId` of one that waits. */
  readonly waiting: string
  /** Ids of transactions. */
  readonly completed: string
  readonly refused: string
  readonly inDoubt: string
  readonly change: string
}

const picturesOf = ({ waiting, completed, refused, inDoubt, change }: Named): readonly Picture[] => [
  { name: 'overview', path: '/console?range=30d', ready: '.plot canvas' },
  { name: 'overview-dark', path: '/console?range=7d', ready: '.plot canvas', dark: true },
  { name: 'inbox', path: '/console/inbox', ready: 'tbody tr' },
  { name: 'request', path: `/console/requests/${waiting}`, ready: '.strip, .cautions' },
  { name: 'request-phone', path: `/console/requests/${waiting}`, ready: '.strip, .cautions', screen: PHONE },
  { name: 'executions', path: '/console/executions', ready: 'tbody tr' },
  { name: 'execution', path: `/console/executions/${completed}`, ready: '.checks, .verdict' },
  { name: 'refusal', path: `/console/refusals/${refused}`, ready: '.sentence' },
  { name: 'in-doubt', path: `/console/executions/${inDoubt}`, ready: '.panel' },
  { name: 'caller', path: '/console/callers/refund-desk', ready: '.plot canvas' },
  { name: 'policy', path: '/console/policies/customer-refund/3.0.0', ready: '.decided' },
  {
    name: 'propose-policy',
    path: '/console/policies/propose?name=customer-refund&version=3.0.0',
    ready: 'label.check',
  },
  { name: 'change', path: `/console/changes/policy/${change}`, ready: '.text-diff, .panel' },
]

const PROGRAMS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/**
 * Takes the pictures and prints how long each page took.
 * @param folder made where it is not there
 * @throws CannotRun where no Chromium is installed
 */
export async function takePictures(world: DemoWorld, folder: string, signal: AbortSignal): Promise<void> {
  const program = PROGRAMS.find(isExecutable)
  if (program === undefined)
    throw new CannotRun(`Pictures need a browser: none of ${PROGRAMS.join(', ')} is there.`)
  mkdirSync(folder, { recursive: true })
  const pictures = picturesOf(await namesIn(world, signal))
  await using stack = new AsyncDisposableStack()
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] })
  stack.defer(() => browser.close())
  const page = await (await browser.newContext({ viewport: SCREEN })).newPage()
  await page.goto(`${world.origin}/console`)
  await page.getByLabel('Your key').fill(world.people.humans.dana.key)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.locator('header.top nav').waitFor()
  print(`\n   ${'page'.padEnd(16)}${'median ms'.padStart(10)}${'kB'.padStart(8)}`)
  for (const picture of pictures) {
    signal.throwIfAborted()
    await page.setViewportSize(picture.screen ?? SCREEN)
    await page.emulateMedia({ colorScheme: picture.dark ? 'dark' : 'light' })
    const url = `${world.origin}${picture.path}`
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round++) times.push(await paintMs(page, url, picture.ready))
    const file = join(folder, `${picture.name}.png`)
    // The last that a page shows: what waits for Dana.
    await page.locator('nav .count').first().waitFor()
    await page.screenshot({ path: file })
    const median = times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!
    print(
      `   ${picture.name.padEnd(16)}${median.toFixed(0).padStart(10)}${(statSync(file).size / 1024).toFixed(0).padStart(8)}`,
    )
  }
}

/** What the pictures are of. */
async function namesIn({ url, people }: DemoWorld, signal: AbortSignal): Promise<Named> {
  const call = openClient({ url, key: people.auditor.key, signal })
  const first = async <T>(path: string, member: string): Promise<T> => {
    // The catalogue follows, and an execution is in doubt once its connector's time is over.
    for (const untilMs = performance.now() + THERE_MS_MAX; performance.now() < untilMs; await delay(250)) {
      const { body } = await call('GET', path)
      const [one] = body[member] as T[]
      if (one !== undefined) return one
    }
    throw new CannotRun(`The month has nothing at ${path}.`)
  }
  const execution = async (query: string) => {
    const { businessTransactionId } = await first<{ businessTransactionId: string }>(
      `/executions?pageSize=1&${query}`,
      'executions',
    )
    return businessTransactionId
  }
  const { request } = await first<{ request: { requestId: string } }>(
    '/approval-requests?status=PENDING&pageSize=1',
    'requests',
  )
  const { changeId } = await first<{ changeId: string }>(
    '/policies/pending-changes?status=PENDING_APPROVAL&pageSize=1',
    'changes',
  )
  return {
    waiting: request.requestId,
    completed: await execution('status=completed&capability=vendor:pay'),
    refused: await execution('status=refused&rule=too-risky'),
    inDoubt: await execution('status=in_doubt'),
    change: changeId,
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
