// The last step of the start: the front end and its listener, which a stop closes first.
import type { Pool } from 'pg'
import { publishedLogKeys } from '../../core/signing/log-keys.ts'
import { readSigningKeys } from '../../core/signing/keys.ts'
import { publishedKeys } from '../../core/signing/published.ts'
import { revokedSigner } from '../../core/signing/revocation.ts'
import { servedCheckpoint } from '../../store/tables/log-checkpoints.ts'
import { openPool } from '../../store/postgres/sql.ts'
import { within } from '../../core/threads/within.ts'
import { hasLocalConsole, openConsoleGate } from '../console/gate.ts'
import { openLiveCounts, type LiveCounts } from '../console/live.ts'
import { openSessions } from '../console/sessions.ts'
import { openCoseReceipts } from '../evidence/cose-receipts.ts'
import { openLogProofs } from '../evidence/log-proofs.ts'
import { openAudit } from '../http/audit.ts'
import { consoleElsewhere, consoleRoutes } from '../console/routes.ts'
import { openFrontEnd } from '../http/front-end.ts'
import { openMemoryLimits, type Limits } from '../../core/concurrency/rate-limit.ts'
import { openGates, type Gates } from '../http/gates/open.ts'
import { openOverload } from '../http/gates/overload.ts'
import { openSharedLimits } from '../http/gates/shared-limit.ts'
import { listen } from '../http/listen/index.ts'
import type { Listener, ListenOptions } from '../http/listen/listener.ts'
import { openSpans } from '../metrics/spans.ts'
import { unknownApprovers } from '../notifications/unknown-approvers.ts'
import { openapiTexts } from '../openapi/document.ts'
import { routes } from '../routes/index.ts'
import type { Service } from '../service.ts'
import { openUsable } from '../usable.ts'
import { watchApprovalRequests } from '../watch/approval-requests.ts'
import { watchEvents } from '../watch/events.ts'
import type { Data } from './data.ts'
import { keyWarnings } from './key-warnings.ts'
import type { Jobs } from './jobs.ts'
import { logFailure, type Starting } from './starting.ts'
import type { StartedThreads } from './threads.ts'
import { unapproved } from './unapproved.ts'

/** Connections for the limits that instances share: one of them must not wait for another. */
const LIMIT_CONNECTIONS_MAX = 3
const LIMIT_CLOSE_MS = 500

/** How long a stop waits, after the drain, for audit events that the database does not take. */
const AUDIT_CLOSE_MS = 2_000

type OnDropped = NonNullable<ListenOptions['onDropped']>

/** The parts that the steps before have started. */
interface Started {
  readonly data: Data
  readonly threads: StartedThreads
  readonly warnings: Jobs['warnings']
  /** Undefined where there is no console. */
  readonly consoleOrigin: () => string | undefined
}

export async function listenForRequests(starting: Starting, started: Started) {
  const { config, logger, stops } = starting
  const { compute, metrics, dispatcher } = started.threads
  const { databaseUrl } = config
  const limitPool = databaseUrl === undefined ? undefined : openPool(databaseUrl, LIMIT_CONNECTIONS_MAX)
  const limits = openLimits(starting, limitPool)
  const gates = openGates({ config, limits, compute, pool: started.data.pools.read })
  const audit = openAudit({
    submit: dispatcher.submit,
    limits: openMemoryLimits(),
    log: (line, message) => logger.error(line, message),
  })
  stops.push(() => audit.close(Math.min(config.shutdownTimeoutMs, AUDIT_CLOSE_MS)))
  if (metrics !== undefined) stops.push(() => metrics.close())
  const live = openLiveCounts()
  const stop = { begun: false }
  const onRequest = openFrontEnd({
    service: serviceOf(starting, started, { live, stopping: () => stop.begun }),
    routes: { elsewhere: [...routes, ...consoleElsewhere], onConsole: consoleRoutes },
    gates,
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
    onDropped: logDropped(starting, metrics),
    ...(config.listener === 'auto' ? {} : { server: config.listener }),
  })
  stops.push(() => {
    stop.begun = true
    return drain(starting, started.threads, { listener, gates })
  })
  return { listener, gates, limitPool }
}

const versionAdvice =
  'A connection ended without a request that this server reads. Proxies and health checks must speak HTTP/1.1: nginx needs proxy_http_version 1.1, HAProxy an http-check with ver HTTP/1.1 (docs/handbook/operating.md, "Behind a proxy"). Said once; countersign_connections_dropped_total counts them.'

/** Counts each dropped connection and logs it for debugging. The cause that a proxy's operator can mend is a warning, once. */
function logDropped({ logger }: Starting, metrics: StartedThreads['metrics']): OnDropped {
  let advised = false
  return (reason, address) => {
    metrics?.replies.dropped(reason)
    logger.debug({ reason, address }, 'connection dropped')
    if (advised || (reason !== 'http-version' && reason !== 'unread')) return
    advised = true
    logger.warn({ reason, address }, versionAdvice)
  }
}

/** Makes the object that the handlers of the routes use. */
function serviceOf(
  { config, logger }: Starting,
  { data, threads, warnings, consoleOrigin }: Started,
  { live, stopping }: { readonly live: LiveCounts; readonly stopping: () => boolean },
): Service {
  const { pools, probe, witness, documentDifferences, notificationWays, shipped } = data
  const { dispatcher, authority, callers, tokens, evidenceFaults } = threads
  const required = data.witnesses?.required
  const logKeys = publishedLogKeys(config.signingKeyDir)
  const keys = publishedKeys(config.signingKeyDir, { onError: logFailure(logger, 'published keys') })
  const { ed25519, receipt } = readSigningKeys(config.signingKeyDir, config.receiptAlgorithms)
  const signers = [ed25519, ...receipt].map((key) => key.public)
  const sessions = openSessions({
    callers,
    findKey: keys.get,
    sql: pools.read,
    submit: dispatcher.submit,
    origin: consoleOrigin,
  })
  return {
    dispatcher,
    authority,
    callers,
    tokens,
    evidenceFaults,
    revokedSigner: () => revokedSigner(signers, keys.get),
    config,
    pool: pools.read,
    exportPool: pools.export,
    whyUnusable: openUsable(pools.ready),
    keys,
    console: openConsoleGate({
      sessions,
      live,
      inDoubt: async () => (await probe()).inDoubt,
      origin: consoleOrigin,
      pagesOrigin: () =>
        hasLocalConsole(config) ? consoleOrigin()?.replace('localhost', '127.0.0.1') : undefined,
    }),
    logKeys,
    issueReceipt: openCoseReceipts(config.signingKeyDir, logKeys),
    logProofs: openLogProofs(pools.read, { stopping, required }),
    servedCheckpoint: (sql, log) => servedCheckpoint(sql, { required, log }),
    eventWatch: watchEvents(pools.read, { stopping }),
    approvalRequestWatch: watchApprovalRequests(pools.read, {
      persons: () => authority.current().persons,
      stopping,
    }),
    witness,
    openapi: openapiTexts(routes),
    warnings: () => [
      ...documentDifferences.map(({ message }) => message),
      ...unapproved(shipped, authority.current()),
      ...unknownApprovers(notificationWays, authority.current()),
      ...keyWarnings(config.signingKeyDir, '"$SIGNING_KEY_DIR"'),
      ...callers.warnings(),
      ...warnings(),
    ],
    stopping,
    overload: openOverload(dispatcher),
  }
}

/** Takes no further request, and waits for those under way and for their evidence, until SHUTDOWN_TIMEOUT_MS are over. */
async function drain(
  { config, logger }: Starting,
  { dispatcher: { evidenceStored, pendingEvidence } }: StartedThreads,
  { listener, gates }: { readonly listener: Listener; readonly gates: Gates },
): Promise<void> {
  // Waits for both: a reply can be due without an execution, and an execution can be under way whose client is gone.
  const drained = listener.stopAccepting().then(() => Promise.all([listener.drained(), gates.empty()]))
  // Evidence can be pending although its caller has been answered.
  await within(config.shutdownTimeoutMs, drained.then(evidenceStored), undefined)
  if (pendingEvidence() > 0) logger.error({ executions: pendingEvidence() }, 'evidence lost: in doubt')
  await listener.close()
}

/** Rate limits: shared by all instances on a configured database; the embedded one has a single instance (interface §8). */
function openLimits({ logger, stops }: Starting, pool: Pool | undefined): Limits {
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
