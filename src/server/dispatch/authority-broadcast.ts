// The authority in effect (policies, approvers, external connectors, webhook rules, callers' keys) is handed to every worker thread.
import type { MessagePort } from 'node:worker_threads'
import type { AuthorityState } from '../../core/authority-state.ts'

interface AuthorityBroadcast {
  /** Hands a thread that has booted what is in effect: it may have changed meanwhile. */
  readonly add: (port: MessagePort) => void
  /** Hands every thread, running or yet to start, what is in effect from now on. */
  readonly set: (authority: AuthorityState) => void
  readonly close: () => void
}

/**
 * Each thread has a port of its own. A BroadcastChannel makes a MessageEvent of what it receives, for which Node loads all of its fetch in
 * each thread: 8 MB of a service that has two of them.
 *
 * @param boots what threads start with: changed in place, so that a thread that replaces one boots with the newest
 */
export function openAuthorityBroadcast(
  boots: readonly { authority: AuthorityState }[],
  authority: AuthorityState,
): AuthorityBroadcast {
  const ports = new Set<MessagePort>()
  let newest = authority
  return {
    add(port) {
      ports.add(port)
      // The thread of this port has ended.
      port.on('close', () => ports.delete(port))
      port.unref()
      port.postMessage(newest)
    },
    set(changed) {
      newest = changed
      for (const boot of boots) boot.authority = changed
      for (const port of ports) port.postMessage(changed)
    },
    close() {
      for (const port of ports) port.close()
    },
  }
}
