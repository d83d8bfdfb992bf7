// Reports for the scrape (src/server/metrics/threads.ts): how late its event loop runs, how busy it is, its connections.
import { BroadcastChannel, threadId } from 'node:worker_threads'
import type { Pool } from 'pg'
import { watchEventLoop } from '../src/core/event-loop.ts'
import type { ReportRequest, ThreadReport } from '../src/core/thread-messages.ts'
import type { LaneName } from '../src/core/operations/index.ts'

/** @param channelName a BroadcastChannel that carries ReportRequest */
export function answerReports(channelName: string, lane: LaneName, pool: Pool): void {
  const loop = watchEventLoop()
  const channel = new BroadcastChannel(channelName)
  channel.unref()
  channel.addEventListener('message', (event) => {
    const { data } = event as MessageEvent<ReportRequest | ThreadReport>
    if ('thread' in data) return // another thread's answer
    const report: ThreadReport = {
      scrape: data.scrape,
      thread: `${lane}-${threadId}`,
      loop: loop.sinceLastRead(),
      pool: { total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount },
    }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel between threads, not between windows
    channel.postMessage(report)
  })
}
