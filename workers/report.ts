// The load of this thread, for a scrape: how late its event loop runs, how busy it is, its connections.
import { threadId } from 'node:worker_threads'
import type { Pool } from 'pg'
import { watchEventLoop } from '../src/core/threads/event-loop.ts'
import type { LaneName } from '../src/core/operations/index.ts'
import type { ThreadReport } from '../src/core/threads/thread-messages.ts'

/** @returns a function that reports the values since its last call */
export function openReports(lane: LaneName, pool: Pool): (asked: number) => ThreadReport {
  const loop = watchEventLoop()
  return (asked) => ({
    asked,
    thread: `${lane}-${threadId}`,
    loop: loop.sinceLastRead(),
    pool: { total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount },
  })
}
