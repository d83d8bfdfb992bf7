// The third step of the start: the jobs that this instance runs without a request.
import { notificationQueue } from '../../store/queues/notification-queue.ts'
import { webhookQueues } from '../../store/queues/webhook-queue.ts'
import { startFillingCatalogue } from '../jobs/catalogue.ts'
import { startDelivering } from '../jobs/events.ts'
import { startJobQueue } from '../jobs/job-queue.ts'
import { startSequencing } from '../jobs/sequence-log.ts'
import { startReadingBack } from '../jobs/read-back.ts'
import { startSweeping } from '../jobs/sweep.ts'
import { workOnWebhooks } from '../jobs/webhooks.ts'
import { startWitnessing } from '../jobs/witnesses.ts'
import type { Data } from './data.ts'
import { closedAtStop, type Starting } from './starting.ts'
import type { StartedThreads } from './threads.ts'

/** How long a stop waits for the jobs under way; unfinished work is done at the next start. */
const JOBS_CLOSE_MS = 5_000

export type Jobs = Awaited<ReturnType<typeof startJobs>>

/** @returns the state of the jobs for the metrics and GET /ready; members of jobs that this configuration does not have are undefined */
export async function startJobs(
  starting: Starting,
  data: Data,
  threads: StartedThreads,
  consoleOrigin: () => string | undefined,
) {
  const { logger: log, config } = starting
  const { evidenceLog, pools, witnesses } = data
  const { dispatcher, authority, metrics } = threads
  const { submit } = dispatcher
  // Started first, so closed last: evidence that the other jobs commit while they stop gets its place too.
  const sequencing = evidenceLog && closedAtStop(starting, startSequencing({ submit, log }))
  closedAtStop(starting, startSweeping({ submit, log }))
  const connectors = () => authority.current().externalConnectors
  closedAtStop(starting, startReadingBack({ connectors, submit, onAnswer: metrics?.onReadBack, log }))
  const witnessing = witnesses && closedAtStop(starting, startWitnessing({ sql: pools.read, witnesses, log }))
  const delivering =
    evidenceLog &&
    closedAtStop(starting, startDelivering({ sql: pools.read, submit, onAttempt: metrics?.onDelivery, log }))
  if (config.catalogue !== undefined)
    closedAtStop(starting, startFillingCatalogue({ ...config.catalogue, submit, log }))
  const { jobPool, notifying } = await startQueuedJobs(starting, data, threads, consoleOrigin)
  return {
    witnessAges: witnessing?.ages ?? (() => []),
    eventEndpoints: delivering?.states ?? (() => undefined),
    jobPool,
    /** Sentences for GET /ready. */
    warnings: () => [sequencing, witnessing, delivering, notifying].flatMap((job) => job?.warnings() ?? []),
  }
}

/** @returns undefined members where neither deliveries are taken nor approvers told */
async function startQueuedJobs(
  starting: Starting,
  { database, notificationWays: ways }: Data,
  { dispatcher: { submit }, authority, metrics }: StartedThreads,
  consoleOrigin: () => string | undefined,
) {
  const { config, logger: log, stops } = starting
  const takesWebhooks = Object.keys(config.webhookProviders).length > 0
  if (!takesWebhooks && ways.length === 0) return { jobPool: undefined, notifying: undefined }
  const queue = await startJobQueue({
    connectionString: database,
    queues: [...(takesWebhooks ? webhookQueues : []), ...ways.map(notificationQueue)],
    log,
  })
  stops.push(() => queue.close(Math.min(config.shutdownTimeoutMs, JOBS_CLOSE_MS)))
  if (takesWebhooks) {
    await workOnWebhooks({ queue, submit, onProcessed: (delivery) => metrics?.processed(delivery) })
    const ruled = new Set(authority.current().webhookRules.map(({ provider }) => provider))
    for (const [provider, { scheme, secrets }] of Object.entries(config.webhookProviders))
      log.info(
        { provider, scheme, secrets: secrets.length, hasRules: ruled.has(provider) },
        'webhook provider',
      )
  }
  if (ways.length === 0) return { jobPool: queue.pool, notifying: undefined }
  // Loaded only where it is needed: nodemailer takes memory.
  const { startNotifying } = await import('../jobs/notifications.ts')
  const onAttempt = metrics?.onNotification
  const notifying = closedAtStop(
    starting,
    await startNotifying({
      queue,
      ways,
      persons: () => authority.current().persons,
      consoleOrigin,
      onAttempt,
      log,
    }),
  )
  return { jobPool: queue.pool, notifying }
}
