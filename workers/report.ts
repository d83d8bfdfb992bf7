// How this thread fares, told when the scrape asks (src/server/metrics/threads.ts): how late its event loop runs, how busy it is, its connections.
import { BroadcastChannel, threadId } from 'node:worker_threads'
import type { Pool } from 'pg'
import { watchEventLoop } from '../src/core/event-loop.ts'
import type { LaneName, ReportAsked, ThreadReport } from '../src/core/messages.ts'

/** in  channelName  of a BroadcastChannel on which ReportAsked come */
export function answerReports(channelName: string, lane: LaneName, pool: Pool): void {
  const loop = watchEventLoop()
  const channel = new BroadcastChannel(channelName)
  channel.unref()
  channel.addEventListener('message', (event) => {
    const { data } = event as MessageEvent<ReportAsked | ThreadReport>
    if ('thread' in data) return // another thread's answer
    const report: ThreadReport = {
      asked: data.asked,
      thread: `${lane}-${threadId}`,
      loop: loop.sinceLastAsked(),
      pool: { total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount },
    }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel between threads, not between windows
    channel.postMessage(report)
  })
}
