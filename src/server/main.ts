// Starts in order (config → database → migrate → policies → threads → jobs → listen) and stops in reverse (docs/design-notes.md
// "Start and stop").
import { once } from 'node:events'
import type { Pool } from 'pg'
import { watchAuthority } from './jobs/authority.ts'
import type { Caller } from '../core/callers.ts'
import { ConfigError } from '../core/config-schema.ts'
import { readConfig, type Config } from '../core/config.ts'
import { openAudit } from './http/audit.ts'
import { openAuthentication } from './http/authenticate.ts'
import { openCompute } from './http/compute.ts'
import { openDispatcher } from './threads/dispatch.ts'
import { openMemoryLimits, type Limits } from './http/limit.ts'
import { listen } from './http/listen/index.ts'
import { openOverload } from './http/overload.ts'
import { openFrontEnd } from './http/front-end.ts'
import { openAdmission } from './http/admission.ts'
import { openSharedLimits } from './http/shared-limit.ts'
import { startEmbeddedPostgres } from './embedded/postgres.ts'
import { provision } from './embedded/provision.ts'
import {
  firstCallText,
  firstKeyText,
  laterStartText,
  pagesText,
  readyText,
  type FirstKey,
} from './first-steps.ts'
import { startSweeping } from './jobs/sweep.ts'
import { openLog, type Log } from './log.ts'
import { openSpans } from './metrics/spans.ts'
import { openapiTexts } from './openapi/document.ts'
import { syncPolicies } from '../core/policy/sync.ts'
import { endPools, openPools } from './pools.ts'
import { routes } from './routes/index.ts'
import { publishedKeys } from '../core/signing/published.ts'
import { openStoreFault, watchStoreFault } from '../core/store-fault.ts'
import { migrate } from '../core/tables/migrate.ts'
import { openPool } from '../core/tables/sql.ts'
import { whyRefused } from '../core/tables/usable.ts'
import { within } from '../core/within.ts'
import { startWebhookWork } from './jobs/webhooks.ts'

/** Connections for the limits that instances share: one of them must not wait for another. */
const LIMIT_CONNECTIONS_MAX = 3
const LIMIT_CLOSE_MS = 500

/** How long a stop waits, after the drain, for audit events that the database does not take. */
const AUDIT_CLOSE_MS = 2_000

/** And for the webhook jobs under way; what is lost then is done at the next start. */
const WEBHOOKS_CLOSE_MS = 5_000

/** What has to be undone, in the order in which it was done. */
type Stops = (() => void | Promise<void>)[]

/** Runs the service until a signal has stopped it. out  the exit code: 0 after a clean stop */
export async function main(env: Readonly<Record<string, string | undefined>>): Promise<number> {
  const config = configOrProblems(env)
  if (config === undefined) return 1
  // Whoever reads what we say may go away (`| head`): that ends no service.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  const log = openLog(config.logLevel)
  const signal = stopSignal()
  const stops: Stops = []
  let exitCode = 0
  try {
    await start(config, log, stops, signal)
    if (!signal.aborted) await once(signal, 'abort')
  } catch (error) {
    if (!signal.aborted) {
      // A sentence for whoever started it by hand, and the same for whoever reads the log.
      const { message, stack } = error instanceof Error ? error : { message: String(error) }
      process.stderr.write(`countersign: ${message}\n`)
      log.logger.fatal({ reason: message }, 'cannot start')
      log.logger.debug({ stack }, 'cannot start')
      exitCode = 1
    }
  }
  if (signal.aborted) log.logger.info({ signal: signal.reason as NodeJS.Signals }, 'stopping')
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

/** Aborted by the first signal, whose name is the reason. A later one changes nothing: the drain is not cut short. */
function stopSignal(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => controller.abort(name))
  return controller.signal
}

/** A signal during the start ends it after the step at hand; what has been started is then stopped like after any other. */
async function start(config: Config, { logger }: Log, stops: Stops, signal: AbortSignal): Promise<void> {
  if (config.authDisabled) {
    logger.warn(
      'SERVICE_AUTH_DISABLED: every request is served without a credential. For local development only.',
    )
  }
  const { database, callers, firstKey, callersFile } = await openDatabase(config, logger, stops)
  signal.throwIfAborted()
  await migrate(database, { signal, warn: (sentence) => logger.warn(sentence) })
  const pools = openPools(database, config.databaseReadUrl)
  stops.push(() => endPools(pools))

  const policies = await syncPolicies(pools.read, config.policyDir)
  signal.throwIfAborted()
  for (const warning of policies.warnings) logger.debug(warning)
  for (const { message, file } of policies.differences) logger.error({ file }, message)

  const failed = (what: string) => (error: unknown) => logger.error({ err: error }, what)
  const authority = await watchAuthority(pools.authority, { onError: failed('authority') })
  // Loaded where it is wanted: its library takes 20 MB.
  const metrics =
    config.metrics && (await import('./metrics/index.ts')).openMetrics({ onError: failed('metrics') })
  const storeFault = openStoreFault()
  void watchStoreFault(storeFault, (sqlState) => {
    if (sqlState === undefined) logger.info('the database stores evidence again')
    else
      logger.error(
        { sqlState, reason: whyRefused(sqlState), businessTransactionId: storeFault.businessTransactionId() },
        'the database refuses to store evidence: no execution is admitted',
      )
  })
  const compute = openCompute(config.rateLimits.computeMsPerMinute)
  const dispatcher = await openDispatcher({
    boot: {
      config,
      database,
      callers,
      authority: authority.current(),
      storeFault: storeFault.memory,
      reportChannel: metrics?.reportChannel,
    },
    meter: compute.meter,
    onError: failed('worker thread'),
    watch: metrics?.batches,
  })
  stops.push(() => dispatcher.close())
  authority.start((state) => dispatcher.setAuthority(state))
  stops.push(() => authority.close())
  signal.throwIfAborted()
  const sweeping = startSweeping({ submit: dispatcher.submit, log: logger })
  stops.push(() => sweeping.close())
  const webhookWork =
    Object.keys(config.webhookSecrets).length === 0
      ? undefined
      : await startWebhookWork({ connectionString: database, submit: dispatcher.submit, log: logger })
  stops.push(() => webhookWork?.close(Math.min(config.shutdownTimeoutMs, WEBHOOKS_CLOSE_MS)))
  signal.throwIfAborted()

  const { databaseUrl } = config
  const limitPool = databaseUrl === undefined ? undefined : openPool(databaseUrl, LIMIT_CONNECTIONS_MAX)
  const limits = openLimits(limitPool, logger, stops)
  const audit = openAudit({
    submit: dispatcher.submit,
    limits: openMemoryLimits(),
    perMinute: config.rateLimits.publicPerMinute,
    log: (line, message) => logger.error(line, message),
  })
  stops.push(() => audit.close(Math.min(config.shutdownTimeoutMs, AUDIT_CLOSE_MS)))
  if (metrics !== undefined) stops.push(() => metrics.close())
  const admission = openAdmission(config.queueRequestsMax)
  let stopping = false
  const onRequest = openFrontEnd({
    service: {
      config,
      pool: pools.read,
      exportPool: pools.export,
      readyPool: pools.ready,
      keys: publishedKeys(config.signingKeyDir, { onError: failed('published keys') }),
      dispatcher,
      authority,
      storeFault,
      openapi: openapiTexts(routes),
      warnings: policies.differences.map(({ message }) => message),
      stopping: () => stopping,
      overload: openOverload(dispatcher),
    },
    authenticate: openAuthentication(callers),
    limits,
    compute,
    admission,
    audit,
    log: (line, isError) => logger[isError ? 'error' : 'info'](line, 'request'),
    watch: metrics?.replies,
    spans: openSpans(config.buildVersion),
  })
  const listener = await listen({
    host: config.host,
    port: config.port,
    onRequest,
    onDropped(reason, address) {
      metrics?.replies.dropped(reason)
      logger.debug({ reason, address }, 'connection dropped')
    },
    ...(config.listener === 'auto' ? {} : { server: config.listener }),
  })
  stops.push(async () => {
    stopping = true
    // Both: a reply can be due without an execution, and an execution be under way whose client is gone.
    const drained = listener.stopAccepting().then(() => Promise.all([listener.drained(), admission.empty()]))
    // Evidence can be pending although its caller has been answered.
    await within(config.shutdownTimeoutMs, drained.then(dispatcher.settled), undefined)
    if (dispatcher.pendingEvidence() > 0)
      logger.error({ executions: dispatcher.pendingEvidence() }, 'evidence lost: in doubt')
    await listener.close()
  })

  if (metrics !== undefined && config.metrics !== undefined) {
    const { queueRequestsMax, buildVersion: version } = config
    const build = { version, listener: listener.server }
    const replica = config.databaseReadUrl === undefined ? undefined : pools.export
    const named = { ...pools, export: replica, limits: limitPool, webhooks: webhookWork?.pool }
    const scraped = {
      dispatcher,
      admission,
      storeFault,
      pool: pools.read,
      pools: named,
      queueRequestsMax,
      build,
    }
    logger.info({ url: await metrics.serve(config.metrics, scraped) }, 'metrics')
  }
  const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${listener.port}`
  logger.info({ url, server: listener.server, threads: config.workerThreads }, 'listening')
  if (firstKey !== undefined) process.stdout.write(firstCallText(url, firstKey))
  else if (callersFile !== undefined) process.stdout.write(laterStartText(url, callersFile))
  else process.stdout.write(readyText(url))
  process.stdout.write(pagesText(url))
}

interface OpenedDatabase {
  readonly database: string
  readonly callers: readonly Caller[]
  /** A key made by this very start. */
  readonly firstKey: FirstKey | undefined
  /** Where the local caller of this or an earlier start is kept. */
  readonly callersFile: string | undefined
}

/** The configured database as it is; without one, the embedded one and what it needs to be used at once (decisions §1). */
async function openDatabase(config: Config, logger: Log['logger'], stops: Stops): Promise<OpenedDatabase> {
  if (config.databaseUrl !== undefined) {
    const { databaseUrl: database, callers = [] } = config
    return { database, callers, firstKey: undefined, callersFile: undefined }
  }
  const { dataDir } = config
  const postgres = await startEmbeddedPostgres({ dataDir, log: ({ level, msg }) => logger[level](msg) })
  stops.push(() => postgres.stop())
  const { callers, callersFile, printed } = provision({ config, dataDir })
  if (printed !== undefined) process.stdout.write(firstKeyText(printed))
  return { database: postgres.url, callers, callersFile, firstKey: printed }
}

/** Shared by all instances on a configured database; the embedded one has a single instance (interface §8). */
function openLimits(pool: Pool | undefined, logger: Log['logger'], stops: Stops): Limits {
  if (pool === undefined) {
    const memory = openMemoryLimits()
    return { take: async (limit, key, nowMs) => memory.take(limit, key, nowMs) }
  }
  const limits = openSharedLimits({ sql: pool, log: logger })
  stops.push(async () => {
    await limits.close()
    // A statement that never comes back must not hold up the stop.
    await within(LIMIT_CLOSE_MS, pool.end(), undefined)
  })
  return limits
}

if (import.meta.main) process.exit(await main(process.env))
