// Asking threads how they fare: one that does not answer holds nobody up.
import { BroadcastChannel } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import type { ReportRequest, ThreadReport } from '../../src/core/thread-messages.ts'
import { openThreads } from '../../src/server/metrics/threads.ts'

const aReport = ({ scrape }: ReportRequest, thread: string): ThreadReport => ({
  scrape,
  thread,
  loop: { lagSeconds: { p50: 0, p99: 0, max: 0 }, utilization: 0 },
  pool: { total: 0, idle: 0, waiting: 0 },
})

/** Answers each request with these reports, whether in time or late. */
function answering(channelName: string, answers: (request: ReportRequest) => readonly ThreadReport[]): void {
  const channel = new BroadcastChannel(channelName)
  onTestFinished(() => channel.close())
  channel.addEventListener('message', (event) => {
    const { data } = event as MessageEvent<ReportRequest>
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel between threads, not between windows
    for (const report of answers(data)) channel.postMessage(report)
  })
}

function opened() {
  const threads = openThreads()
  onTestFinished(() => threads.close())
  return threads
}

test('the answers of all threads are there as soon as the last one is', async () => {
  const threads = opened()
  answering(threads.channelName, (request) => [aReport(request, 'a-1'), aReport(request, 'a-2')])
  const reports = await threads.ask(2)
  expect(reports.map(({ thread }) => thread)).toEqual(['a-1', 'a-2'])
})

test('a thread that does not answer is left out', async () => {
  const threads = opened()
  answering(threads.channelName, (request) => [aReport(request, 'a-1')])
  expect((await threads.ask(2)).map(({ thread }) => thread)).toEqual(['a-1'])
})

test('an answer to an earlier question counts for none', async () => {
  const threads = opened()
  answering(threads.channelName, ({ scrape }) => [
    aReport({ scrape: scrape - 1 }, 'a-1'),
    aReport({ scrape }, 'a-2'),
  ])
  expect((await threads.ask(2)).map(({ thread }) => thread)).toEqual(['a-2'])
})
