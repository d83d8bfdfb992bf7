// The port to each worker thread: carries the authority state (policies, approvers, external connectors, webhook rules, callers' keys) and
// requests for reports. Work comes by Piscina.
import { once } from 'node:events'
import type { MessagePort } from 'node:worker_threads'
import type { AuthorityState } from '../../core/callers/authority-state.ts'
import type { PendingCount, ThreadReady, ThreadReport, ToThread } from '../../core/threads/thread-messages.ts'

/** How long a scrape waits for a thread. A thread that does not answer is left out: its absence says enough. */
const REPORT_MS_MAX = 500

interface ThreadPorts {
  /** Hands a booted thread the authority state, which may have changed meanwhile. */
  readonly add: (thread: ThreadReady) => void
  /** Hands every thread, running or yet to start, the new authority state. */
  readonly setAuthority: (authority: AuthorityState) => void
  /** Asks every thread for its report. Resolves to the reports that come in time, in no order. Never rejects. */
  readonly reports: () => Promise<ThreadReport[]>
  /** Number of executions whose evidence the threads keep until the database takes it. */
  readonly pendingEvidence: () => number
  /** Resolves when no evidence is pending. A thread that has ended keeps none. */
  readonly evidenceStored: () => Promise<void>
  readonly close: () => void
}

/**
 * @param boots the boot data of threads: changed in place, so that a replacement thread boots with the newest state
 * @param onError called for a thread that ends with evidence that is not stored
 */
export function openThreadPorts(
  boots: readonly { authority: AuthorityState }[],
  authority: AuthorityState,
  onError: (error: Error) => void,
): ThreadPorts {
  const ports = new Map<MessagePort, PendingCount>()
  let isClosing = false
  let newest = authority
  let asked = 0
  let heard: ((report: ThreadReport) => void) | undefined

  return {
    add({ port, pendingEvidence }) {
      ports.set(port, pendingEvidence)
      // The thread of this port has ended.
      port.on('close', () => {
        ports.delete(port)
        const lost = countOf(pendingEvidence)
        if (lost > 0 && !isClosing)
          onError(new Error(`a thread ended with the evidence of ${lost} executions: they are in doubt`))
      })
      port.on('message', (report: ThreadReport) => {
        if (report.asked === asked) heard?.(report)
      })
      port.unref()
      send(port, { kind: 'authority', state: newest })
    },
    setAuthority(changed) {
      newest = changed
      for (const boot of boots) boot.authority = changed
      for (const port of ports.keys()) send(port, { kind: 'authority', state: changed })
    },
    reports() {
      asked++
      const reports: ThreadReport[] = []
      const waited = ports.size
      if (waited === 0) return Promise.resolve(reports)
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, REPORT_MS_MAX, reports)
        heard = (report) => {
          if (reports.push(report) < waited) return
          clearTimeout(timer)
          resolve(reports)
        }
        for (const port of ports.keys()) send(port, { kind: 'report', asked })
      })
    },
    pendingEvidence: () => [...ports.values()].reduce((sum, count) => sum + countOf(count), 0),
    async evidenceStored() {
      for (const [port, count] of ports) {
        for (let left = countOf(count); left > 0 && ports.has(port); left = countOf(count))
          await Promise.race([Atomics.waitAsync(count, 0, left).value, once(port, 'close')])
      }
    },
    close() {
      isClosing = true
      for (const port of ports.keys()) port.close()
    },
  }
}

function countOf(count: PendingCount): number {
  return Atomics.load(count, 0)
}

function send(port: MessagePort, message: ToThread): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port between threads, not between windows
  port.postMessage(message)
}
