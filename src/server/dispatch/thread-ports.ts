// The port to each worker thread: brings it what is in effect (policies, approvers, external connectors, webhook rules, callers' keys), and
// the question of how it fares. Work comes by Piscina.
import type { MessagePort } from 'node:worker_threads'
import type { AuthorityState } from '../../core/callers/authority-state.ts'
import type { ThreadReport, ToThread } from '../../core/threads/thread-messages.ts'

/** A scrape waits so long for a thread. One that does not answer is left out: that it is missing says enough. */
const REPORT_MS_MAX = 500

interface ThreadPorts {
  /** Hands a thread that has booted what is in effect: it may have changed meanwhile. */
  readonly add: (port: MessagePort) => void
  /** Hands every thread, running or yet to start, what is in effect from now on. */
  readonly setAuthority: (authority: AuthorityState) => void
  /** Asks every thread how it fares. Resolves to the reports that come in time, in no order. Never rejects. */
  readonly reports: () => Promise<ThreadReport[]>
  readonly close: () => void
}

/** @param boots what threads start with: changed in place, so that a thread that replaces one boots with the newest */
export function openThreadPorts(
  boots: readonly { authority: AuthorityState }[],
  authority: AuthorityState,
): ThreadPorts {
  const ports = new Set<MessagePort>()
  let newest = authority
  let asked = 0
  let heard: ((report: ThreadReport) => void) | undefined

  return {
    add(port) {
      ports.add(port)
      // The thread of this port has ended.
      port.on('close', () => ports.delete(port))
      port.on('message', (report: ThreadReport) => {
        if (report.asked === asked) heard?.(report)
      })
      port.unref()
      send(port, { kind: 'authority', state: newest })
    },
    setAuthority(changed) {
      newest = changed
      for (const boot of boots) boot.authority = changed
      for (const port of ports) send(port, { kind: 'authority', state: changed })
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
        for (const port of ports) send(port, { kind: 'report', asked })
      })
    },
    close() {
      for (const port of ports) port.close()
    },
  }
}

function send(port: MessagePort, message: ToThread): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port between threads, not between windows
  port.postMessage(message)
}
