// The embedded PostgreSQL: started, restarted after a crash while the service runs, stopped last (decisions §1 "Embedded start").
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorText } from '../../formats/text/error-text.ts'
import { lockedFolder, openCluster, type Cluster } from './cluster.ts'
import {
  findPostmaster,
  launchPostmaster,
  shutdown,
  untilReady,
  urlOf,
  type Postmaster,
} from './postmaster.ts'

interface EmbeddedPostgres {
  /** A connection string with the password; it stays the same across restarts of the database. */
  readonly url: string
  /** The process id of the postmaster that runs now; during a restart, that of the last one. */
  pid(): number
  /** PostgreSQL's fast shutdown; ends a restart under way too, and returns when no process of PostgreSQL is left. */
  stop(): Promise<void>
}

type Log = (line: { level: 'info' | 'warn' | 'error'; msg: string }) => void

const START_MS_MAX = 10_000
const RETRY_DELAY_MS = { first: 100, max: 5_000 }

/**
 * Starts the database on `<dataDir>/postgres`. A server that a killed service left there is stopped first. A postmaster that dies is
 * restarted until `stop()`; if our own process dies, the server shuts down.
 *
 * @returns when the database answers
 * @throws with a sentence for the operator: another service owns the folder, root may not start it, PostgreSQL does not start
 */
export async function startEmbeddedPostgres(given: { dataDir: string; log: Log }): Promise<EmbeddedPostgres> {
  const { dataDir, log } = given
  const { folder, lock } = lockedFolder(dataDir)
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
    const stopping = new AbortController()
    const ready = Promise.withResolvers<void>()
    let pid = 0
    const supervised = supervise(cluster, log, stopping.signal, (ofReady) => {
      pid = ofReady
      ready.resolve()
    })
    await Promise.race([ready.promise, supervised])
    const stop = async () => {
      stopping.abort()
      await supervised
      rmSync(cluster.socketDir, { recursive: true, force: true })
      lock.close()
    }
    return { url: urlOf(cluster), pid: () => pid, stop }
  } catch (error) {
    lock.close()
    throw error
  }
}

/**
 * Runs the server and restarts it whenever it ends, until aborted. A start may fail: after a kill -9 PostgreSQL refuses to start
 * ("pre-existing shared memory block is still in use") until the last orphaned backend has noticed.
 *
 * @returns when aborted and no server runs
 * @throws where no server was ready within START_MS_MAX
 */
async function supervise(
  cluster: Cluster,
  log: Log,
  signal: AbortSignal,
  onReady: (pid: number) => void,
): Promise<void> {
  const aborted = once(signal, 'abort')
  let giveUpAt = Date.now() + START_MS_MAX
  let delayMs = RETRY_DELAY_MS.first
  while (!signal.aborted) {
    let postmaster: Postmaster | undefined
    try {
      postmaster = launchPostmaster(cluster)
      const { pid, ended } = postmaster
      await untilReady(cluster, postmaster, signal)
      log({ level: 'info', msg: `PostgreSQL is ready (pid ${pid}).` })
      onReady(pid)
      giveUpAt = Infinity
      delayMs = RETRY_DELAY_MS.first
      await Promise.race([ended, aborted])
      if (!signal.aborted)
        log({ level: 'error', msg: `PostgreSQL (pid ${pid}) ended unexpectedly and is restarted.` })
    } catch (error) {
      if (Date.now() > giveUpAt) throw error
      if (!signal.aborted) log({ level: 'error', msg: `${errorText(error)} (next attempt in ${delayMs} ms)` })
      await sleep(delayMs, undefined, { signal }).catch(() => {})
      delayMs = Math.min(2 * delayMs, RETRY_DELAY_MS.max)
    } finally {
      if (postmaster) await shutdown(postmaster)
    }
  }
}
