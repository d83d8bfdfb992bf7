// The second step of the start: the worker threads, and what the main thread shares with them.
import { NONCE_MS } from '../../core/callers/nonces.ts'
import { limitNames } from '../http/gates/index.ts'
import { dropReasons } from '../http/listen/refused.ts'
import {
  openEvidenceFaults,
  watchEvidenceFaults,
  type EvidenceFault,
} from '../../core/threads/evidence-fault.ts'
import { isFirstUse, rememberedMs, rememberFor } from '../../store/tables/rate-buckets.ts'
import { openDispatcher } from '../dispatch/dispatcher.ts'
import { openCallers } from '../callers.ts'
import { openCompute } from '../http/gates/compute.ts'
import { watchAuthority } from '../jobs/authority-watch.ts'
import { openProblems } from '../jobs/repeat.ts'
import { unknownApprovers } from '../notifications/unknown-approvers.ts'
import { whyNotAdmitting } from '../usable.ts'
import type { Data } from './data.ts'
import { closedAtStop, logFailure, type Starting } from './starting.ts'
import { unapproved } from './unapproved.ts'

const NOT_ADMITTED: Readonly<Record<EvidenceFault['kind'], string>> = {
  refused: 'the database refuses to store evidence: no execution is admitted',
  'not verified': 'evidence that this instance signed does not verify: no execution is admitted',
}

export type StartedThreads = Awaited<ReturnType<typeof startThreads>>

/** The worker threads, and what the main thread shares with them: authority in effect, compute budgets, the evidence fault, metrics. */
export async function startThreads(
  starting: Starting,
  { database, callers: configuredCallers, callersFile, pools, evidenceLog, notificationWays, shipped }: Data,
) {
  const { config, logger } = starting
  const authority = await watchAuthority(pools.authority, {
    configured: configuredCallers,
    onError: logFailure(logger, 'the database cannot be read: policies and keys stay as they were read last'),
    onOver: () => logger.info('the database is read again'),
  })
  for (const sentence of [
    ...unapproved(shipped, authority.current()),
    ...unknownApprovers(notificationWays, authority.current()),
  ])
    logger.warn(sentence)
  const callers = openCallers(configuredCallers, authority.current(), {
    source: callersFile === undefined ? undefined : 'callers.json',
  })
  // Loaded only where it is needed, and its library with it.
  const tokens =
    config.tokenIssuers.length === 0
      ? undefined
      : (await import('../../core/callers/tokens.ts')).openTokens(config.tokenIssuers, {
          isTaken: (callerId) =>
            callers.inEffect().some(({ caller }) => caller.callerId.toLowerCase() === callerId.toLowerCase()),
          proofs: {
            isFirstUse: (id) => isFirstUse(pools.read, id),
            nonces: {
              remember: (nonce) => rememberFor(pools.read, nonce, NONCE_MS),
              leftMs: (nonce) => rememberedMs(pools.read, nonce),
            },
          },
          log: (line, message) => logger.warn(line, message),
        })
  const refusedEntries = openProblems()
  const warnOfRefused = () => refusedEntries.become(callers.warnings(), (sentence) => logger.warn(sentence))
  warnOfRefused()
  // Loaded only where it is needed: its library takes 20 MB.
  const metrics =
    config.metrics &&
    (await import('../metrics/index.ts')).openMetrics({
      onError: logFailure(logger, 'metrics'),
      labels: { limits: limitNames, dropReasons },
    })
  const evidenceFaults = openEvidenceFaults()
  void watchEvidenceFaults(evidenceFaults, (fault) => {
    if (fault === undefined) logger.info('the database stores evidence again')
    else
      logger.error(
        {
          ...fault,
          reason: whyNotAdmitting(fault),
          businessTransactionId: evidenceFaults.businessTransactionId(),
        },
        NOT_ADMITTED[fault.kind],
      )
  })
  const compute = openCompute(config.rateLimits.computeMsPerMinute)
  const dispatcher = await openDispatcher({
    boot: {
      config,
      database,
      callers: configuredCallers,
      evidenceLog,
      authority: authority.current(),
      evidenceFaultMemory: evidenceFaults.memory,
      // Without the secrets: the threads only add jobs for these ways.
      notificationWays: notificationWays.map(({ name }) => ({ name })),
      measured: config.metrics !== undefined,
    },
    meter: compute.meter,
    onError: logFailure(logger, 'worker thread'),
    watch: metrics?.batches,
  })
  closedAtStop(starting, dispatcher)
  authority.start((state) => {
    // The threads come first: they must know a new key before a request by it can reach them.
    dispatcher.setAuthority(state)
    callers.replace(state)
    warnOfRefused()
  })
  closedAtStop(starting, authority)
  return { dispatcher, authority, callers, tokens, evidenceFaults, compute, metrics }
}
