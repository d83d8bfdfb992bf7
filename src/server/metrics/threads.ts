// Asks every worker thread how it fares, at each scrape. One that does not answer in time is left out: that it is missing says enough.
import { randomUUID } from 'node:crypto'
import { BroadcastChannel } from 'node:worker_threads'
import type { ReportRequest, ThreadReport } from '../../core/thread-messages.ts'

const WAIT_MS = 500

export interface Threads {
  readonly channelName: string
  /** Resolves to at most `count` reports, in no order. Never rejects. */
  readonly ask: (count: number) => Promise<ThreadReport[]>
  readonly close: () => void
}

export function openThreads(): Threads {
  const channelName = `countersign reports ${randomUUID()}`
  const channel = new BroadcastChannel(channelName)
  channel.unref()
  let scrape = 0
  let heard: ((report: ThreadReport) => void) | undefined
  channel.addEventListener('message', (event) => {
    const { data } = event as MessageEvent<ThreadReport>
    if (data.scrape === scrape) heard?.(data)
  })

  return {
    channelName,
    ask(count) {
      scrape++
      const reports: ThreadReport[] = []
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, WAIT_MS, reports)
        heard = (report) => {
          if (reports.push(report) < count) return
          clearTimeout(timer)
          resolve(reports)
        }
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel between threads, not between windows
        channel.postMessage({ scrape } satisfies ReportRequest)
      })
    },
    close: () => channel.close(),
  }
}
