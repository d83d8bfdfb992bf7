// Starts in order (config → database → migrate → policies → threads → jobs → listen) and stops in reverse (docs/design-notes.md
// "Start and stop").
import { once } from 'node:events'
import type { Pool } from 'pg'
import { watchAuthority } from './jobs/authority-watch.ts'
import type { Caller } from '../core/callers.ts'
import { ConfigError } from '../core/config-schema.ts'
import { readConfig, type Config } from '../core/config.ts'
import { openAudit } from './http/audit.ts'
import { openAuthentication } from './http/authenticate.ts'
import { openCompute } from './http/compute.ts'
import { openCoseReceipts } from './cose-receipts.ts'
import { openDispatcher } from './dispatch/dispatcher.ts'
import { openMemoryLimits, type Limits } from './http/limit.ts'
import { listen } from './http/listen/index.ts'
import { openOverload } from './http/overload.ts'
import { openFrontEnd } from './http/front-end.ts'
import { openAdmission } from './http/admission.ts'
import { openSharedLimits } from './http/shared-limit.ts'
import { startEmbeddedPostgres } from './embedded/postgres.ts'
import { provision } from './embedded/provision.ts'
import { openEvidenceLog } from './evidence-log.ts'
import { watchApprovalRequests } from './approval-request-watch.ts'
import { watchEvents } from './event-watch.ts'
import { openWitness } from './witness.ts'
import {
  firstCallText,
  firstKeyText,
  laterStartText,
  pagesText,
  readyText,
  type FirstKey,
} from './first-steps.ts'
import { startDelivering } from './jobs/events.ts'
import { startLogging } from './jobs/log.ts'
import { startWitnessing } from './jobs/witnesses.ts'
import { startReadingBack } from './jobs/read-back.ts'
import { startSweeping } from './jobs/sweep.ts'
import { openLog, type Log } from './log.ts'
import { openLogProofs } from './log-proofs.ts'
import { openSpans } from './metrics/spans.ts'
import { openapiTexts } from './openapi/document.ts'
import { syncDocuments } from './sync-documents.ts'
import { endPools, openPools } from './pools.ts'
import { routes } from './routes/index.ts'
import { publishedLogKeys } from '../core/signing/log-keys.ts'
import { publishedKeys } from '../core/signing/published.ts'
import { openStoreFault, watchStoreFault } from '../core/store-fault.ts'
import { servedCheckpoint } from '../core/tables/log-checkpoints.ts'
import { migrate } from '../core/tables/migrate.ts'
import { requirePreparedStatements } from '../core/tables/pooler.ts'
import { openPool } from '../core/tables/sql.ts'
import { whyRefused } from './usable.ts'
import { within } from '../core/within.ts'
import { readWitnesses } from '../core/witnesses.ts'
import { secretWarnings } from '../core/webhooks/providers.ts'
import { workOnWebhooks } from './jobs/webhooks.ts'
import { startJobQueue } from './jobs/job-queue.ts'
import { openConsoleGate } from './console/gate.ts'
import { openLiveCounts } from './console/live.ts'
import { openSessions } from './console/sessions.ts'
import { openDatabaseProbe } from './metrics/database.ts'
import { readNotifications } from './notifications/configuration.ts'
import { notificationQueue } from '../core/notification-queue.ts'
import { webhookQueues } from '../core/webhooks/queue.ts'

/** Connections for the limits that instances share: one of them must not wait for another. */
const LIMIT_CONNECTIONS_MAX = 3
const LIMIT_CLOSE_MS = 500

/** How long a stop waits, after the drain, for audit events that the database does not take. */
const AUDIT_CLOSE_MS = 2_000

/** And for the jobs under way; what is lost then is done at the next start. */
const JOBS_CLOSE_MS = 5_000

/** What has to be undone, in the order in which it was done. */
type Stops = (() => void | Promise<void>)[]

/**
 * Runs the service until a signal has stopped it.
 * @returns the exit code: 0 after a clean stop
 */
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
    await start({ config, logger: log.logger, stops, signal })
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

/** What every step of the start uses. A step adds to `stops` how to undo what it did. */
interface Starting {
  readonly config: Config
  readonly logger: Log['logger']
  readonly stops: Stops
  readonly signal: AbortSignal
}

/** A signal during the start ends it after the step at hand; what has been started is then stopped like after any other. */
async function start(starting: Starting): Promise<void> {
  const { config, logger, signal } = starting
  if (config.authDisabled) {
    logger.warn(
      'SERVICE_AUTH_DISABLED: every request is served without a credential. For local development only.',
    )
  }
  for (const warning of secretWarnings(config.webhookProviders)) logger.warn(warning)
  const data = await openData(starting)
  signal.throwIfAborted()
  const threads = await startThreads(starting, data)
  signal.throwIfAborted()
  let port = config.port
  const consoleOrigin = () => consoleOriginOf(config, port)
  const jobs = await startJobs(starting, data, threads, consoleOrigin)
  signal.throwIfAborted()
  const front = await listenForRequests(starting, data, threads, { ...jobs, consoleOrigin })
  const { server } = front.listener
  ;({ port } = front.listener)
  const { metrics } = threads
  if (metrics !== undefined && config.metrics !== undefined) {
    const { pools } = data
    const replica = config.databaseReadUrl === undefined ? undefined : pools.export
    const scraped = {
      ...threads,
      admission: front.admission,
      pool: pools.read,
      pools: { ...pools, export: replica, limits: front.limitPool, webhooks: jobs.jobPool },
      witnessAges: jobs.witnessing?.ages ?? (() => []),
      eventEndpoints: jobs.delivering?.states ?? (() => undefined),
      queueRequestsMax: config.queueRequestsMax,
      build: { version: config.buildVersion, listener: server },
    }
    logger.info({ url: await metrics.serve(config.metrics, scraped) }, 'metrics')
  }
  const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`
  logger.info({ url, server, threads: config.workerThreads }, 'listening')
  process.stdout.write(firstStepsText(url, data) + pagesText(url, consoleOrigin()))
}

type Data = Awaited<ReturnType<typeof openData>>

/** The database at the schema of this release, with the policies and webhook rules of their folders and a log. */
async function openData(starting: Starting) {
  const { config, logger, stops, signal } = starting
  const notificationWays =
    config.notificationsFile === undefined ? [] : readNotifications(config.notificationsFile, config)
  const opened = await openDatabase(starting)
  signal.throwIfAborted()
  await migrate(opened.database, { signal, warn: (sentence) => logger.warn(sentence) })
  if (config.databaseUrl !== undefined) await requirePreparedStatements(config.databaseUrl)
  const pools = openPools(opened.database, config.databaseReadUrl)
  stops.push(() => endPools(pools))
  const { advice, warnings, differences } = await syncDocuments(pools.read, config)
  for (const sentence of advice) logger.debug(sentence)
  for (const warning of warnings) logger.warn(warning)
  for (const { message, file } of differences) logger.error({ file }, message)
  const evidenceLog = await openEvidenceLog(config, pools.read)
  const witnesses = readWitnesses(config)
  const witness = openWitness(config)
  if (witness !== undefined) logger.info(witness, 'witness of other logs')
  return {
    ...opened,
    pools,
    evidenceLog,
    witnesses,
    witness,
    notificationWays,
    documentDifferences: differences,
  }
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
async function openDatabase({ config, logger, stops }: Starting): Promise<OpenedDatabase> {
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

type Threads = Awaited<ReturnType<typeof startThreads>>

/** The worker threads, and what the main thread shares with them: authority in effect, compute budgets, the store fault, metrics. */
async function startThreads(
  { config, logger, stops }: Starting,
  { database, callers, pools, evidenceLog, notificationWays }: Data,
) {
  const authority = await watchAuthority(pools.authority, { onError: logFailure(logger, 'authority') })
  // Loaded where it is wanted: its library takes 20 MB.
  const metrics =
    config.metrics &&
    (await import('./metrics/index.ts')).openMetrics({ onError: logFailure(logger, 'metrics') })
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
      evidenceLog,
      authority: authority.current(),
      storeFaultMemory: storeFault.memory,
      // Without their secrets: the threads only leave jobs for them.
      notificationWays: notificationWays.map(({ name, capabilities }) => ({ name, capabilities })),
      reportChannel: metrics?.reportChannel,
    },
    meter: compute.meter,
    onError: logFailure(logger, 'worker thread'),
    watch: metrics?.batches,
  })
  stops.push(() => dispatcher.close())
  authority.start((state) => dispatcher.setAuthority(state))
  stops.push(() => authority.close())
  return { dispatcher, authority, storeFault, compute, metrics }
}

/**
 * @returns the jobs of the evidence log and of the events made of it, undefined with LOG=off, those of its witnesses, undefined without
 *   LOG_WITNESS_POLICY, and those of pg-boss's queues
 */
async function startJobs(
  starting: Starting,
  data: Data,
  threads: Threads,
  consoleOrigin: () => string | undefined,
) {
  const { logger, stops } = starting
  const { evidenceLog, pools, witnesses } = data
  const {
    dispatcher: { submit },
    authority,
    metrics,
  } = threads
  const sweeping = startSweeping({ submit, log: logger })
  stops.push(() => sweeping.close())
  const readingBack = startReadingBack({
    connectors: () => authority.current().externalConnectors,
    submit,
    onAnswer: metrics?.onReadBack,
    log: logger,
  })
  stops.push(() => readingBack.close())
  const logging = evidenceLog && startLogging({ submit, log: logger })
  if (logging !== undefined) stops.push(() => logging.close())
  const witnessing = witnesses && startWitnessing({ sql: pools.read, witnesses, log: logger })
  if (witnessing !== undefined) stops.push(() => witnessing.close())
  const delivering =
    evidenceLog && startDelivering({ sql: pools.read, submit, onAttempt: metrics?.onDelivery, log: logger })
  if (delivering !== undefined) stops.push(() => delivering.close())
  const queued = await startQueuedJobs(starting, data, threads, consoleOrigin)
  return { logging, witnessing, delivering, ...queued }
}

/** @returns undefined members where neither deliveries are taken nor approvers told */
async function startQueuedJobs(
  { config, logger, stops }: Starting,
  { database, notificationWays: ways }: Data,
  { dispatcher: { submit }, metrics }: Threads,
  consoleOrigin: () => string | undefined,
) {
  const takesWebhooks = Object.keys(config.webhookProviders).length > 0
  if (!takesWebhooks && ways.length === 0) return { jobPool: undefined, notifying: undefined }
  const queue = await startJobQueue({
    connectionString: database,
    queues: [...(takesWebhooks ? webhookQueues : []), ...ways.map(notificationQueue)],
    log: logger,
  })
  stops.push(() => queue.close(Math.min(config.shutdownTimeoutMs, JOBS_CLOSE_MS)))
  if (takesWebhooks)
    await workOnWebhooks({ queue, submit, onProcessed: (delivery) => metrics?.processed(delivery) })
  if (ways.length === 0) return { jobPool: queue.pool, notifying: undefined }
  // Loaded where it is wanted: nodemailer takes memory.
  const { startNotifying } = await import('./jobs/notifications.ts')
  const notifying = await startNotifying({
    queue,
    ways,
    consoleOrigin,
    onAttempt: metrics?.onNotification,
    log: logger,
  })
  stops.push(() => notifying.close())
  return { jobPool: queue.pool, notifying }
}

type Jobs = Awaited<ReturnType<typeof startJobs>>

async function listenForRequests(
  { config, logger, stops }: Starting,
  { pools, callers, documentDifferences, witnesses, witness }: Data,
  { compute, metrics, ...threads }: Threads,
  {
    logging,
    witnessing,
    delivering,
    notifying,
    consoleOrigin,
  }: Jobs & { readonly consoleOrigin: () => string | undefined },
) {
  const { databaseUrl, rateLimits, shutdownTimeoutMs } = config
  const limitPool = databaseUrl === undefined ? undefined : openPool(databaseUrl, LIMIT_CONNECTIONS_MAX)
  const limits = openLimits(limitPool, logger, stops)
  const audit = openAudit({
    submit: threads.dispatcher.submit,
    limits: openMemoryLimits(),
    perMinute: rateLimits.publicPerMinute,
    log: (line, message) => logger.error(line, message),
  })
  stops.push(() => audit.close(Math.min(shutdownTimeoutMs, AUDIT_CLOSE_MS)))
  if (metrics !== undefined) stops.push(() => metrics.close())
  const admission = openAdmission(config.queueRequestsMax)
  let stopping = false
  const served = (log?: number) => servedCheckpoint(pools.read, { required: witnesses?.required, log })
  const logKeys = publishedLogKeys(config.signingKeyDir)
  const keys = publishedKeys(config.signingKeyDir, { onError: logFailure(logger, 'published keys') })
  const sessions = openSessions({
    callers,
    findKey: keys.get,
    sql: pools.read,
    submit: threads.dispatcher.submit,
    origin: consoleOrigin,
  })
  const live = openLiveCounts()
  const probe = openDatabaseProbe(pools.read)
  const pagesOrigin = () =>
    config.consoleOrigin === undefined ? consoleOrigin()?.replace('localhost', '127.0.0.1') : undefined
  const onRequest = openFrontEnd({
    service: {
      ...threads,
      config,
      pool: pools.read,
      exportPool: pools.export,
      readyPool: pools.ready,
      keys,
      console: openConsoleGate({
        sessions,
        live,
        inDoubt: async () => (await probe()).inDoubt,
        origin: consoleOrigin,
        pagesOrigin,
      }),
      logKeys,
      issueReceipt: openCoseReceipts(config.signingKeyDir, logKeys),
      logProofs: openLogProofs(pools.read, { stopping: () => stopping, required: witnesses?.required }),
      servedCheckpoint: served,
      eventWatch: watchEvents(pools.read, { stopping: () => stopping }),
      approvalRequestWatch: watchApprovalRequests(pools.read, { stopping: () => stopping }),
      witness,
      openapi: openapiTexts(routes),
      warnings: () => [
        ...documentDifferences.map(({ message }) => message),
        ...(logging?.warnings() ?? []),
        ...(witnessing?.warnings() ?? []),
        ...(delivering?.warnings() ?? []),
        ...(notifying?.warnings() ?? []),
      ],
      stopping: () => stopping,
      overload: openOverload(threads.dispatcher),
    },
    authenticate: openAuthentication(callers),
    limits,
    compute,
    admission,
    audit,
    log: (line, isError) => logger[isError ? 'error' : 'info'](line, 'request'),
    watch: metrics?.replies,
    live,
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
    const { evidenceStored, pendingEvidence } = threads.dispatcher
    // Evidence can be pending although its caller has been answered.
    await within(shutdownTimeoutMs, drained.then(evidenceStored), undefined)
    if (pendingEvidence() > 0) logger.error({ executions: pendingEvidence() }, 'evidence lost: in doubt')
    await listener.close()
  })
  return { listener, admission, limitPool }
}

function firstStepsText(url: string, { firstKey, callersFile }: OpenedDatabase): string {
  if (firstKey !== undefined) return firstCallText(url, firstKey)
  return callersFile === undefined ? readyText(url) : laterStartText(url, callersFile)
}

/** The console has a host of its own. The embedded service has one on this machine, where browsers allow passkeys by the name alone. */
function consoleOriginOf(
  { consoleOrigin, databaseUrl, authDisabled }: Config,
  port: number,
): string | undefined {
  const given =
    consoleOrigin ?? (databaseUrl === undefined && !authDisabled ? 'http://localhost:0' : undefined)
  if (given === undefined || new URL(given).port !== '0') return given
  return port === 0 ? undefined : new URL(given.replace(/0$/, String(port))).origin
}

function logFailure(logger: Log['logger'], what: string): (error: unknown) => void {
  return (error) => logger.error({ err: error }, what)
}

/** Shared by all instances on a configured database; the embedded one has a single instance (interface §8). */
function openLimits(pool: Pool | undefined, logger: Log['logger'], stops: Stops): Limits {
  if (pool === undefined) {
    const memory = openMemoryLimits()
    return { take: async (limit, key, nowMs) => memory.take(limit, key, nowMs) }
  }
  const limits = openSharedLimits({ sql: pool, log: logger })
  stops.push(async () => {
    limits.close()
    // A statement that never comes back must not hold up the stop.
    await within(LIMIT_CLOSE_MS, pool.end(), undefined)
  })
  return limits
}

if (import.meta.main) process.exit(await main(process.env))
