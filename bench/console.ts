// `node bench/console.ts`: what fifty consoles with an open inbox cost the front end, and how soon the first page of a warm service is
// there, in Chromium. It stands beside the suite, because it needs a browser and says nothing of executions.
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium, type BrowserContext } from 'playwright-core'
import { makeRawKey } from '../src/core/callers/callers.ts'
import { sha256Hex } from '../src/store/sha256.ts'
import { cpuTimes, disturbance } from './cpu.ts'
import { figureOf } from './figures.ts'
import { describeMachine } from './machine.ts'
import { startService, type MeasuredService } from './service.ts'

const CONSOLES = 50
/** Twice as long as the slowest of an inbox's requests comes round. */
const SECONDS = 240
const VISITS = 20

/** As src/console/pages/inbox.tsx has them. */
const INBOX = [
  { everyMs: 10_000, path: '/approval-requests?status=PENDING&waitingFor=me' },
  { everyMs: 120_000, path: '/changes?status=PENDING_APPROVAL' },
  { everyMs: 120_000, path: '/execution-intents/unfinalized' },
] as const

/** A page of the console sends its secret in this header, beside the cookie. */
const PAGE_HEADER = 'X-Countersign-Console'
const ours: Record<string, string> = { 'Sec-Fetch-Site': 'same-origin', [PAGE_HEADER]: 'login' }

/** The binding, in the page. */
declare const reportShown: (ms: string) => void

await using stack = new AsyncDisposableStack()
const key = makeRawKey()
const human = { callerId: 'dana', keyHash: sha256Hex(key), credentialHolderType: 'USER', approverId: 'dana' }
const service = await startService({ callers: [human], env: { CONSOLE_ORIGIN: 'http://localhost:0' } }, stack)
const origin = `http://localhost:${new URL(service.url).port}`

const quiet = await frontEndShare(service, async () => sleep(SECONDS * 1000))
const cookie = await logIn()
const watched = await frontEndShare(service, async () => {
  const ends = AbortSignal.timeout(SECONDS * 1000)
  const statuses = await Promise.all(Array.from({ length: CONSOLES }, () => watch(ends)))
  const answered = statuses.flat()
  const wrong = answered.filter((status) => status !== 200)
  if (wrong.length > 0)
    throw new Error(`${wrong.length} of ${answered.length} requests were answered ${wrong[0]}`)
  console.log(`${answered.length} requests of ${CONSOLES} consoles in ${SECONDS} s, each answered 200`)
})
const { first, again, plain } = await firstPages()

const { commit, cpu, cores, node } = describeMachine()
console.log(`${new Date().toISOString()}, ${commit}, Node ${node}, ${cores} × ${cpu}`)
console.table({
  'front end alone, % of a core': quiet,
  [`front end with ${CONSOLES} consoles, % of a core`]: watched,
  'what they add, points': { ...figureOf([watched.median - quiet.median]), others: '' },
  'first page to its inbox, ms': first,
  'again in another tab, ms': again,
  'GET /health in a new tab of the same browser, ms': plain,
})
const problems = await service.stop()
if (problems.length > 0) throw new Error(problems.join('\n'))

/** CPU of the front end's thread while something runs, and what other programs took meanwhile. */
async function frontEndShare({ pids }: MeasuredService, run: () => Promise<unknown>) {
  const before = { own: cpuTimes(pids), other: disturbance(), ms: performance.now() }
  await run()
  const ms = performance.now() - before.ms
  const [own, other] = [cpuTimes(pids), disturbance()]
  if (own === undefined || before.own === undefined || other === undefined || before.other === undefined)
    throw new Error('This needs /proc.')
  const share = (micros: number) => micros / 10 / ms
  return {
    ...figureOf([share(own['front end'] - before.own['front end'])]),
    others: `${share(other.others - before.other.others).toFixed(0)} % by other programs`,
  }
}

async function logIn(): Promise<string> {
  const { headers, status } = await fetch(`${origin}/console/login`, {
    method: 'POST',
    headers: { ...ours, 'Content-Type': 'application/json' },
    body: JSON.stringify({ key }),
  })
  const [set] = headers.getSetCookie()
  if (status !== 204 || set === undefined) throw new Error(`the login was answered ${status}`)
  ours[PAGE_HEADER] = headers.get(PAGE_HEADER) ?? ''
  return set.split(';')[0] ?? ''
}

/** One inbox that nobody touches. @returns every status */
async function watch(ends: AbortSignal): Promise<number[]> {
  const statuses: number[] = []
  const poll = async ({ everyMs, path }: (typeof INBOX)[number]) => {
    // Nobody opens fifty of them at one moment.
    await sleep(Math.random() * everyMs)
    while (!ends.aborted) {
      const reply = await fetch(`${origin}${path}`, { headers: { ...ours, Cookie: cookie } })
      await reply.arrayBuffer()
      statuses.push(reply.status)
      await sleep(everyMs)
    }
  }
  await Promise.race([
    Promise.all(INBOX.map(poll)),
    new Promise((resolve) => ends.addEventListener('abort', resolve)),
  ])
  return statuses
}

/**
 * From the navigation to the inbox's last panel, with an empty cache and with what the first visit left there; and in turn to a line of
 * text, which is what a new tab takes by itself.
 */
async function firstPages() {
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })
  stack.defer(() => browser.close())
  const times = { first: [] as number[], again: [] as number[], plain: [] as number[] }
  for (let i = 0; i < VISITS; i++) {
    const context = await browser.newContext()
    const [name = '', value = ''] = cookie.split('=')
    await context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: 'Strict' }])
    await context.addInitScript(([item, secret]) => localStorage.setItem(item, secret), [
      PAGE_HEADER,
      ours[PAGE_HEADER] ?? '',
    ] as const)
    times.first.push(await visit(context, '/console', 'No execution is in doubt.'))
    times.again.push(await visit(context, '/console', 'No execution is in doubt.'))
    times.plain.push(await visit(context, '/health', '"status"'))
    await context.close()
  }
  return { first: figureOf(times.first), again: figureOf(times.again), plain: figureOf(times.plain) }
}

/** @returns milliseconds until a new tab shows the text */
async function visit(context: BrowserContext, path: string, text: string): Promise<number> {
  const page = await context.newPage()
  // The page says when, by a binding of the browser's protocol: whatever asks it from outside runs a script there that delays it.
  const session = await context.newCDPSession(page)
  await session.send('Runtime.enable')
  await session.send('Runtime.addBinding', { name: 'reportShown' })
  const shown = new Promise<number>((resolve) => {
    session.once('Runtime.bindingCalled', ({ payload }) => resolve(Number(payload)))
  })
  await page.addInitScript((wanted) => {
    const look = () => {
      if (document.body?.textContent?.includes(wanted)) reportShown(`${performance.now()}`)
      else requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  }, text)
  await page.goto(origin + path)
  const ms = await shown
  await page.close()
  return ms
}
