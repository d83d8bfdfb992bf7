// The embedded PostgreSQL: started or adopted, kept alive while the service runs, stopped last (decisions §1 "Embedded start").
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { clusterFolder, openCluster, type Cluster } from './cluster.ts'
import { lockDataDir } from './lock.ts'
import {
  findPostmaster,
  launchPostmaster,
  shutdown,
  untilReady,
  urlOf,
  type Postmaster,
} from './postmaster.ts'

export interface EmbeddedPostgres {
  /** A connection string with the password; it stays the same across restarts of the database. */
  readonly url: string
  /** Of the postmaster that runs now, or ran last while a restart is underway. */
  pid(): number
  /** PostgreSQL's fast shutdown; wins over a restart underway and returns when no process of it is left. */
  stop(): Promise<void>
}

export type Log = (line: { level: 'info' | 'warn' | 'error'; msg: string }) => void

const watchMs = 100
const startMsMax = 10_000
const retryDelayMsMax = 5000

/**
 * Resolves when the database answers. From then on a postmaster that dies is restarted until `stop()`; if our own process dies,
 * it stays up and is adopted by the next start.
 * fails with a sentence for the operator: another service owns the folder, root cannot drop to a user, PostgreSQL does not start
 */
export async function startEmbeddedPostgres({
  dataDir,
  log,
}: {
  dataDir: string
  log: Log
}): Promise<EmbeddedPostgres> {
  const folder = clusterFolder(dataDir)
  const lock = lockDataDir(join(folder, 'lock'), dataDir)
  try {
    const found = findPostmaster(folder)
    const cluster = await openCluster(folder, { running: found !== undefined })
    const adopted = found && (await adopt(cluster, found, log))
    const first = adopted ?? (await raise(cluster, log, { retryMs: startMsMax }))
    return supervise(cluster, { first, lock, log })
  } catch (error) {
    lock.close()
    throw error
  }
}

/** The server that a killed service left running; one that cannot be reached is stopped. */
async function adopt(cluster: Cluster, found: Postmaster, log: Log): Promise<Postmaster | undefined> {
  try {
    await untilReady(cluster, found)
    log({ level: 'info', msg: `PostgreSQL is still running (pid ${found.pid}) and is adopted.` })
    return found
  } catch (error) {
    log({
      level: 'warn',
      msg: `PostgreSQL (pid ${found.pid}) cannot be adopted: ${reason(error)}`,
    })
    await shutdown(found)
    return undefined
  }
}

/**
 * Starts the server and waits until it is ready, again and again for `retryMs`: after a kill -9 PostgreSQL refuses to start
 * ("pre-existing shared memory block is still in use") until the last orphaned backend has noticed.
 */
async function raise(
  cluster: Cluster,
  log: Log,
  { retryMs, abort }: { retryMs: number; abort?: AbortSignal },
): Promise<Postmaster> {
  const from = Date.now()
  for (let delayMs = 100; ; delayMs = Math.min(2 * delayMs, retryDelayMsMax)) {
    let postmaster: Postmaster | undefined
    try {
      postmaster = launchPostmaster(cluster)
      await untilReady(cluster, postmaster, abort)
      log({ level: 'info', msg: `PostgreSQL is ready (pid ${postmaster.pid}).` })
      return postmaster
    } catch (error) {
      if (postmaster) await shutdown(postmaster)
      if (abort?.aborted || Date.now() - from > retryMs) throw error
      log({ level: 'error', msg: `${reason(error)} (next attempt in ${delayMs} ms)` })
      await sleep(delayMs, undefined, abort && { signal: abort })
    }
  }
}

function supervise(
  cluster: Cluster,
  { first, lock, log }: { first: Postmaster; lock: { close(): void }; log: Log },
): EmbeddedPostgres {
  let postmaster = first
  let stopped: Promise<void> | undefined
  const stopping = new AbortController()
  const abort = stopping.signal
  const watched = watch().catch((error: unknown) => {
    if (!abort.aborted) throw error
  })
  return { url: urlOf(cluster), pid: () => postmaster.pid, stop: () => (stopped ??= stop()) }

  async function watch(): Promise<never> {
    for (;;) {
      await sleep(watchMs, undefined, { ref: false, signal: abort })
      if (postmaster.running()) continue
      log({ level: 'error', msg: `PostgreSQL (pid ${postmaster.pid}) ended by itself and is restarted.` })
      postmaster = await raise(cluster, log, { retryMs: Infinity, abort })
    }
  }

  async function stop(): Promise<void> {
    stopping.abort()
    await watched
    await shutdown(postmaster)
    rmSync(cluster.socketDir, { recursive: true, force: true })
    lock.close()
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
