// The embedded PostgreSQL: started, restarted after a crash while the service runs, stopped last (decisions §1 "Embedded start").
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorText } from '../../core/error-text.ts'
import { clusterFolder, lockFolder, openCluster, type Cluster } from './cluster.ts'
import {
  findPostmaster,
  launchPostmaster,
  shutdown,
  untilReady,
  urlOf,
  type OwnPostmaster,
} from './postmaster.ts'

export interface EmbeddedPostgres {
  /** A connection string with the password; it stays the same across restarts of the database. */
  readonly url: string
  /** Of the postmaster that runs now, or ran last while a restart is under way. */
  pid(): number
  /** PostgreSQL's fast shutdown; wins over a restart under way and returns when no process of it is left. */
  stop(): Promise<void>
}

export type Log = (line: { level: 'info' | 'warn' | 'error'; msg: string }) => void

const START_MS_MAX = 10_000
const RETRY_DELAY_MS_MAX = 5000

/**
 * Starts the database on `<dataDir>/postgres`. A server that a killed service left there is stopped first. A postmaster that dies is
 * restarted until `stop()`; if our own process dies, it stays up until the next start.
 *
 * @returns when the database answers
 * @throws with a sentence for the operator: another service owns the folder, root has no user to run it as, PostgreSQL does not start
 */
export async function startEmbeddedPostgres({
  dataDir,
  log,
}: {
  dataDir: string
  log: Log
}): Promise<EmbeddedPostgres> {
  const folder = clusterFolder(dataDir)
  const lock = lockFolder(folder, dataDir)
  const stopping = new AbortController()
  const { signal } = stopping
  try {
    const orphan = findPostmaster(folder)
    if (orphan !== undefined) {
      log({
        level: 'info',
        msg: `PostgreSQL still runs (pid ${orphan.pid}) without a service and is stopped.`,
      })
      await shutdown(orphan)
    }
    const cluster = await openCluster(folder)
    let postmaster = await raise(cluster, log, { retryMs: START_MS_MAX, signal })

    const keepRunning = async (): Promise<void> => {
      for (;;) {
        await postmaster.ended
        if (signal.aborted) return
        log({ level: 'error', msg: `PostgreSQL (pid ${postmaster.pid}) ended by itself and is restarted.` })
        postmaster = await raise(cluster, log, { retryMs: Infinity, signal })
        if (signal.aborted) await shutdown(postmaster)
      }
    }
    const kept = keepRunning().catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
    const stop = async () => {
      stopping.abort()
      await shutdown(postmaster)
      await kept
      rmSync(cluster.socketDir, { recursive: true, force: true })
      lock.close()
    }
    let stopped: Promise<void> | undefined
    return { url: urlOf(cluster), pid: () => postmaster.pid, stop: () => (stopped ??= stop()) }
  } catch (error) {
    lock.close()
    throw error
  }
}

/**
 * Starts the server and waits until it is ready, again and again for `retryMs`: after a kill -9 PostgreSQL refuses to start
 * ("pre-existing shared memory block is still in use") until the last orphaned backend has noticed.
 *
 * @throws the last failure after `retryMs`; when aborted. No server runs then
 */
async function raise(
  cluster: Cluster,
  log: Log,
  { retryMs, signal }: { retryMs: number; signal: AbortSignal },
): Promise<OwnPostmaster> {
  const from = Date.now()
  for (let delayMs = 100; ; delayMs = Math.min(2 * delayMs, RETRY_DELAY_MS_MAX)) {
    let postmaster: OwnPostmaster | undefined
    try {
      postmaster = launchPostmaster(cluster)
      await untilReady(cluster, postmaster, signal)
      log({ level: 'info', msg: `PostgreSQL is ready (pid ${postmaster.pid}).` })
      return postmaster
    } catch (error) {
      if (postmaster) await shutdown(postmaster)
      if (signal.aborted || Date.now() - from > retryMs) throw error
      log({ level: 'error', msg: `${errorText(error)} (next attempt in ${delayMs} ms)` })
      await sleep(delayMs, undefined, { signal })
    }
  }
}
