// What is in effect (policies, approvers, external connectors), broadcast to every worker thread.
import { BroadcastChannel } from 'node:worker_threads'
import type { AuthorityState } from '../../core/authority-state.ts'
import { ASKS_AUTHORITY } from '../../core/thread-messages.ts'

interface AuthorityBroadcast {
  /** Hands every thread, running or yet to start, what is in effect from now on. */
  readonly set: (authority: AuthorityState) => void
  readonly close: () => void
}

/**
 * @param channelName the BroadcastChannel that the threads listen on
 * @param boots what threads start with: changed in place, so that a thread that replaces one boots with the newest
 */
export function openAuthorityBroadcast(
  channelName: string,
  boots: readonly { authority: AuthorityState }[],
  authority: AuthorityState,
): AuthorityBroadcast {
  const channel = new BroadcastChannel(channelName)
  channel.unref()
  let newest = authority
  const announce = () => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel between threads, not between windows
    channel.postMessage(newest)
  }
  // A thread may have booted while a change was announced: it asks once it listens.
  channel.addEventListener('message', (event) => {
    if ((event as MessageEvent).data === ASKS_AUTHORITY) announce()
  })
  return {
    set(changed) {
      newest = changed
      for (const boot of boots) boot.authority = changed
      announce()
    },
    close: () => channel.close(),
  }
}
