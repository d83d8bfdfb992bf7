// npm run demo: shows a service at work and checks its evidence offline, against a running service or, without
// one, a service started for the demo. Exit 0: everything was as expected; 1: what was not is named.
import { constants } from 'node:os'
import { parseArgs, styleText } from 'node:util'
import { CannotRun, openClient } from './client.ts'
import { startOwnService } from './own-service.ts'
import { heading, print } from './page.ts'
import { tour } from './tour.ts'

const USAGE = 'npm run demo [-- --url URL --key KEY], or COUNTERSIGN_URL and COUNTERSIGN_API_KEY'

async function main(): Promise<number> {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => interrupted.abort(128 + constants.signals[signal]))
  // Whoever reads this may go away (`| head`); the service must not stay behind.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', () => interrupted.abort(128 + constants.signals.SIGPIPE))
  try {
    return await run(runningService(), interrupted.signal)
  } catch (error) {
    if (interrupted.signal.aborted) return Number(interrupted.signal.reason)
    if (!(error instanceof CannotRun)) throw error
    complain(error.message)
    return 1
  }
}

async function run(running: Service | undefined, signal: AbortSignal): Promise<number> {
  if (running !== undefined) return show(running, signal)
  print('Starting a service for this demo; COUNTERSIGN_URL or --url names a running one.')
  const own = await startOwnService(signal)
  try {
    return await show(own, signal)
  } finally {
    await own.stop()
  }
}

async function show({ url, key }: Service, signal: AbortSignal): Promise<number> {
  heading(`Countersign at ${url}`)
  const unmet = await tour(openClient({ url, key, signal }), { keyGiven: Boolean(key) })
  if (unmet.length > 0) complain(['Not as expected:', ...unmet].join('\n  '))
  else print(styleText('green', '\nEverything was as expected.'))
  return unmet.length > 0 ? 1 : 0
}

interface Service {
  readonly url: string
  readonly key?: string | undefined
}

/** The service that the options name, else the variables; undefined: none. An empty variable counts as unset. */
function runningService(): Service | undefined {
  const { url, key } = options()
  const { COUNTERSIGN_URL, COUNTERSIGN_API_KEY } = process.env
  const service = { url: url ?? COUNTERSIGN_URL ?? '', key: key ?? COUNTERSIGN_API_KEY }
  if (service.url === '') {
    if (key !== undefined) throw new CannotRun(`--key needs --url.\nusage: ${USAGE}`)
    return undefined
  }
  if (!/^https?:$/.test(URL.parse(service.url)?.protocol ?? ''))
    throw new CannotRun(`${service.url} is no http or https URL.\nusage: ${USAGE}`)
  if (/[^!-~]/.test(service.key ?? '')) throw new CannotRun('The key holds characters that no key has.')
  return service
}

function options(): { url?: string; key?: string } {
  try {
    return parseArgs({ options: { url: { type: 'string' }, key: { type: 'string' } } }).values
  } catch (error) {
    throw new CannotRun(`${(error as Error).message}\nusage: ${USAGE}`)
  }
}

function complain(text: string): void {
  process.stderr.write(`${styleText('red', text, { stream: process.stderr })}\n`)
}

process.exitCode = await main()
