// One scrape: the gauges are read, then all metrics are written out.
import type { Pool } from 'pg'
import type { PoolUse, ThreadReport } from '../../core/threads/thread-messages.ts'
import type { EvidenceFaults } from '../../core/threads/evidence-fault.ts'
import type { DatabaseProbe } from './database.ts'
import { watchEventLoop, type LoopReport } from '../../core/threads/event-loop.ts'
import type { LogStatus } from '../../store/tables/log-state.ts'
import type { Instruments } from './instruments.ts'

export interface Scraped {
  readonly dispatcher: {
    readonly reports: () => Promise<readonly ThreadReport[]>
    readonly threads: () => number
    readonly load: () => Record<'waiting' | 'running', ReadonlyMap<string, number>>
    readonly pendingEvidence: () => number
  }
  readonly gates: {
    readonly total: (book: 'inFlight' | 'announced') => { readonly requests: number; readonly bytes: number }
  }
  readonly evidenceFaults: EvidenceFaults
  readonly probe: DatabaseProbe
  /** Every pool of the main thread, by its name; undefined: this service has none. */
  readonly pools: Readonly<Record<string, Pool | undefined>>
  /** Age of the newest checkpoint that each witness has cosigned. */
  readonly witnessAges: () => readonly { readonly witness: string; readonly ageSeconds: number }[]
  /** How many event endpoints are in each state; undefined: not known. */
  readonly eventEndpoints: () => Readonly<Record<string, number>> | undefined
  readonly queueRequestsMax: number
  readonly build: { readonly version: string; readonly listener: string }
}

/** @returns a function that makes the text of a scrape; concurrent calls share one */
export function openScrape(instruments: Instruments, scraped: Scraped): () => Promise<string> {
  const mainLoop = watchEventLoop()
  const { probe, build } = scraped
  instruments.build.set({ ...build, node: process.version }, 1)
  instruments.inFlightMax.set(scraped.queueRequestsMax)
  let underway: Promise<string> | undefined

  async function scrape(): Promise<string> {
    const [database, reports] = await Promise.all([probe(), scraped.dispatcher.reports()])
    look(instruments, scraped)
    const { databaseUp, inDoubt, approvalRequests, poolConnections, poolWaiting, loopLag, loopUtilization } =
      instruments
    databaseUp.set(Number(database.up))
    if (database.inDoubt === undefined) inDoubt.remove()
    else inDoubt.set(database.inDoubt)
    if (database.approvalRequests === undefined) approvalRequests.remove()
    else approvalRequests.set(database.approvalRequests)
    setLog(instruments, database.log)

    // A value that is not reported again is out of date: a thread may have been replaced.
    for (const gauge of [poolConnections, poolWaiting, loopLag, loopUtilization]) gauge.reset()
    for (const [name, pool] of Object.entries(scraped.pools))
      if (pool !== undefined) setPool(instruments, { pool: name, thread: 'main' }, useOf(pool))
    setLoop(instruments, 'main', mainLoop.sinceLastRead())
    instruments.threads.set(reports.length)
    instruments.threadsConfigured.set(scraped.dispatcher.threads())
    for (const { thread, loop, pool } of reports) {
      setLoop(instruments, thread, loop)
      setPool(instruments, { pool: 'worker', thread }, pool)
    }
    return instruments.registry.metrics()
  }

  return () => {
    underway ??= scrape().finally(() => (underway = undefined))
    return underway
  }
}

/** Reads the figures that the main thread itself knows. */
function look(
  {
    witnessAge,
    eventEndpoints,
    queued,
    batchesRunning,
    inFlight,
    inFlightBytes,
    bodiesAnnounced,
    pendingEvidence,
    refused,
  }: Instruments,
  scraped: Scraped,
): void {
  const { dispatcher, gates, evidenceFaults } = scraped
  witnessAge.reset()
  for (const { witness, ageSeconds } of scraped.witnessAges()) witnessAge.set({ witness }, ageSeconds)
  eventEndpoints.reset()
  for (const [state, count] of Object.entries(scraped.eventEndpoints() ?? {}))
    eventEndpoints.set({ state }, count)
  const { waiting, running } = dispatcher.load()
  queued.reset()
  for (const [operation, count] of running) {
    batchesRunning.set({ operation }, count)
    queued.set({ operation }, 0)
  }
  for (const [operation, count] of waiting) queued.set({ operation }, count)
  const held = gates.total('inFlight')
  inFlight.set(held.requests)
  inFlightBytes.set(held.bytes)
  bodiesAnnounced.set(gates.total('announced').requests)
  pendingEvidence.set(dispatcher.pendingEvidence())
  refused.set(Number(evidenceFaults.current() !== undefined))
}

/** Sets the figures that the database knows, the same on every instance. */
function setLog(
  { logEntries, logFrozen, logQueueSeconds, logCheckpointSeconds }: Instruments,
  log: LogStatus | undefined,
): void {
  for (const gauge of [logEntries, logFrozen, logQueueSeconds, logCheckpointSeconds]) gauge.remove()
  if (log === undefined) return
  logEntries.set(log.size)
  logFrozen.set(Number(log.frozen !== null))
  logQueueSeconds.set(log.queuedSeconds)
  if (log.publishedAtMs > 0) logCheckpointSeconds.set(Math.max(Date.now() - log.publishedAtMs, 0) / 1000)
}

function useOf({ totalCount: total, idleCount: idle, waitingCount: waiting }: Pool): PoolUse {
  return { total, idle, waiting }
}

function setPool(
  { poolConnections, poolWaiting }: Instruments,
  labels: { pool: string; thread: string },
  { total, idle, waiting }: PoolUse,
): void {
  poolConnections.set({ ...labels, state: 'idle' }, idle)
  poolConnections.set({ ...labels, state: 'used' }, total - idle)
  poolWaiting.set(labels, waiting)
}

function setLoop(
  { loopLag, loopUtilization }: Instruments,
  thread: string,
  { lagSeconds, utilization }: LoopReport,
): void {
  loopLag.set({ thread, percentile: '50' }, lagSeconds.p50)
  loopLag.set({ thread, percentile: '99' }, lagSeconds.p99)
  loopLag.set({ thread, percentile: '100' }, lagSeconds.max)
  loopUtilization.set({ thread }, utilization)
}
