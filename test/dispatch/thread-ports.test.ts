// Each thread is handed what is in effect, and asked how it fares: one that does not answer holds nobody up.
import { MessageChannel } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import type { ThreadReport, ToThread } from '../../src/core/threads/thread-messages.ts'
import { openThreadPorts } from '../../src/server/dispatch/thread-ports.ts'
import { until } from '../service.ts'
import { stateOf } from '../authority/state-of.ts'

const aReport = (asked: number, thread: string): ThreadReport => ({
  asked,
  thread,
  loop: { lagSeconds: { p50: 0, p99: 0, max: 0 }, utilization: 0 },
  pool: { total: 0, idle: 0, waiting: 0 },
})

/** @param threads how each thread answers a question, whether in time or late */
function opened(threads: readonly ((asked: number) => readonly ThreadReport[])[]) {
  const boots = [{ authority: stateOf('1') }]
  const errors: string[] = []
  const ports = openThreadPorts(boots, stateOf('1'), ({ message }) => void errors.push(message))
  onTestFinished(() => ports.close())
  const seen: string[] = []
  const pending: Int32Array<SharedArrayBuffer>[] = []
  const add = (answers: (typeof threads)[number]) => {
    const { port1: ours, port2: port } = new MessageChannel()
    ours.on('message', (message: ToThread) => {
      if (message.kind === 'authority') seen.push(message.state.epoch)
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port between threads, not between windows
      else for (const report of answers(message.asked)) ours.postMessage(report)
    })
    const pendingEvidence = new Int32Array(new SharedArrayBuffer(4))
    ports.add({ threadId: 1, port, pendingEvidence })
    pending.push(pendingEvidence)
    return ours
  }
  return { ports, boots, seen, errors, pending, theirs: threads.map(add), add }
}

const threadsOf = (reports: readonly ThreadReport[]) => reports.map(({ thread }) => thread).toSorted()

test('the answers of all threads are there as soon as the last one is', async () => {
  const { ports } = opened([(asked) => [aReport(asked, 'a-1')], (asked) => [aReport(asked, 'a-2')]])
  expect(threadsOf(await ports.reports())).toEqual(['a-1', 'a-2'])
})

test('a thread that does not answer is left out, and one that has ended is not waited for', async () => {
  const { ports, theirs } = opened([(asked) => [aReport(asked, 'a-1')], () => []])
  expect(threadsOf(await ports.reports())).toEqual(['a-1'])
  theirs[1]!.close()
  await until(async () => (await ports.reports()).length === 1, 'the one that is left')
  theirs[0]!.close()
  await until(async () => (await ports.reports()).length === 0, 'no thread')
})

test('an answer to an earlier question counts for none', async () => {
  const { ports } = opened([(asked) => [aReport(asked - 1, 'a-1'), aReport(asked, 'a-2')]])
  expect(threadsOf(await ports.reports())).toEqual(['a-2'])
})

test('every thread gets what is in effect: one that has booted, one that runs, and one that is yet to start', async () => {
  const { ports, boots, seen, add } = opened([() => []])
  await until(() => seen.length === 1, 'the state at the boot')
  ports.setAuthority(stateOf('2'))
  await until(() => seen.length === 2, 'the change')
  add(() => [])
  await until(() => seen.length === 3, 'the state for the new thread')
  expect(seen).toEqual(['1', '2', '2'])
  expect(boots[0]!.authority.epoch).toBe('2')
})

test('evidence is pending until each thread has stored its own; one that ends takes its own with it, and says so', async () => {
  const { ports, pending, theirs, errors } = opened([() => [], () => []])
  const [first, second] = pending as [Int32Array<SharedArrayBuffer>, Int32Array<SharedArrayBuffer>]
  Atomics.store(first, 0, 2)
  Atomics.store(second, 0, 3)
  expect(ports.pendingEvidence()).toBe(5)
  let isStored = false
  const stored = ports.evidenceStored().then(() => (isStored = true))
  theirs[1]!.close()
  await until(() => ports.pendingEvidence() === 2, 'the thread to be gone')
  expect(isStored).toBe(false)
  Atomics.store(first, 0, 0)
  Atomics.notify(first, 0)
  await stored
  expect(errors).toEqual(['a thread ended with the evidence of 3 executions: they are in doubt'])
})
