// Starts in order (config → database → migrate → policies → threads → jobs → listen) and stops in reverse (docs/design-notes.md
// "Start and stop"). The steps are in start/.
import { once } from 'node:events'
import { ConfigError } from '../core/errors/config-error.ts'
import { misspeltVariables, readConfig, type Config } from '../core/config/config.ts'
import { secretWarnings } from '../core/webhooks/providers.ts'
import { hasLocalConsole } from './console/gate.ts'
import { openLog } from './log.ts'
import { arePagesBuilt } from './pages/built.ts'
import { openData, type OpenedDatabase } from './start/data.ts'
import { firstCallText, laterStartText, pagesText, readyText } from './first-steps.ts'
import { requireOwnHosts } from './start/hosts.ts'
import { startJobs } from './start/jobs.ts'
import { listenForRequests } from './start/listening.ts'
import type { Starting, Stops } from './start/starting.ts'
import { startThreads } from './start/threads.ts'

const NPM_LOOK_MS = 1_000

/**
 * Runs the service until a signal has stopped it.
 * @returns the exit code: 0 after a clean stop
 */
export async function main(env: Readonly<Record<string, string | undefined>>): Promise<number> {
  const config = configOrProblems(env)
  if (config === undefined) return 1
  // The reader of our output may go away (`| head`), which must not end the service.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  const log = openLog(config.logLevel)
  const signal = stopSignal(env)
  const stops: Stops = []
  let exitCode = 0
  try {
    for (const sentence of misspeltVariables(env)) log.logger.warn(sentence)
    await start({ config, logger: log.logger, stops, signal })
    if (!signal.aborted) await once(signal, 'abort')
  } catch (error) {
    if (!signal.aborted) {
      // The person who started the service by hand and the readers of the log get the same sentence.
      const { message, stack } = error instanceof Error ? error : { message: String(error) }
      process.stderr.write(`countersign: ${message}\n`)
      log.logger.fatal({ reason: message }, 'cannot start')
      log.logger.debug({ stack }, 'cannot start')
      exitCode = 1
    }
  }
  if (signal.aborted) log.logger.info({ signal: signal.reason as string }, 'stopping')
  for (const stop of stops.toReversed()) {
    try {
      await stop()
    } catch (error) {
      log.logger.error({ err: error }, 'cannot stop cleanly')
      exitCode = 1
    }
  }
  if (signal.aborted && exitCode === 0) log.logger.info('stopped')
  log.flush()
  return exitCode
}

function configOrProblems(env: Readonly<Record<string, string | undefined>>): Config | undefined {
  try {
    return readConfig(env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(error.problems.map((problem) => `${problem}\n`).join(''))
    return undefined
  }
}

/**
 * Aborted by the first signal, whose name is the reason. A later signal changes nothing: the drain is not cut short. A closed terminal
 * sends SIGHUP. npm passes most signals on; where npm is killed, its end counts as a signal.
 */
function stopSignal(env: Readonly<Record<string, string | undefined>>): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => controller.abort(name))
  if (env['npm_lifecycle_event'] === 'start') {
    const npm = process.ppid
    setInterval(() => process.ppid === npm || controller.abort('end of npm'), NPM_LOOK_MS).unref()
  }
  return controller.signal
}

/** A signal during the start ends it after the current step; the steps before are then undone as after any other signal. */
async function start(starting: Starting): Promise<void> {
  const { config, logger, signal } = starting
  if (config.authDisabled)
    logger.warn(
      'SERVICE_AUTH_DISABLED: every request is served without a credential. For local development only.',
    )
  for (const warning of secretWarnings(config.webhookProviders)) logger.warn(warning)
  if (!arePagesBuilt())
    logger.warn(
      'The pages /verifier, /signer and /console have not been built and are answered 404. Run "npm run pages" in the folder of the service, after "npm ci".',
    )
  await requireOwnHosts(config)
  const data = await openData(starting)
  signal.throwIfAborted()
  const threads = await startThreads(starting, data)
  signal.throwIfAborted()
  // Read at each request, and known once the port is known.
  let origin = consoleOriginOf(config, config.port)
  const consoleOrigin = () => origin
  const { warnings, jobPool, ...jobs } = await startJobs(starting, data, threads, consoleOrigin)
  signal.throwIfAborted()
  const front = await listenForRequests(starting, { data, threads, warnings, consoleOrigin })
  const { server, because, port } = front.listener
  origin = consoleOriginOf(config, port)
  if (threads.metrics !== undefined && config.metrics !== undefined) {
    const { pools, probe } = data
    const replica = config.databaseReadUrl === undefined ? undefined : pools.export
    const scraped = {
      ...threads,
      gates: front.gates,
      probe,
      pools: { ...pools, export: replica, limits: front.limitPool, webhooks: jobPool },
      ...jobs,
      queueRequestsMax: config.queueRequestsMax,
      build: { version: config.buildVersion, listener: server },
    }
    logger.info({ url: await threads.metrics.serve(config.metrics, scraped) }, 'metrics')
  }
  const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`
  logger.info({ url, server, because, threads: config.workerThreads }, 'listening')
  process.stdout.write(firstStepsText(url, data) + pagesText(url, consoleOrigin()))
}

function firstStepsText(url: string, { firstKey, callersFile }: OpenedDatabase): string {
  if (firstKey !== undefined) return firstCallText(url, firstKey)
  return callersFile === undefined ? readyText(url) : laterStartText(url, callersFile)
}

/** The console has a host of its own. The embedded service has it at localhost, the only name of this machine for which browsers allow passkeys. */
function consoleOriginOf(config: Config, port: number): string | undefined {
  const given = config.consoleOrigin ?? (hasLocalConsole(config) ? 'http://localhost:0' : undefined)
  if (given === undefined || new URL(given).port !== '0') return given
  return port === 0 ? undefined : new URL(given.replace(/0$/, String(port))).origin
}

if (import.meta.main) process.exit(await main(process.env))
