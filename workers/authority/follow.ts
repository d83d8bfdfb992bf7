// What human authority decides on any instance, put in effect on this thread.
import { BroadcastChannel } from 'node:worker_threads'
import type { AuthorityState } from '../../src/core/authority-state.ts'
import { ASKS_AUTHORITY, type Boot } from '../../src/core/thread-messages.ts'

/**
 * Follows the broadcast of the front end.
 *
 * @param boot the channel, and the state that is in effect from the start
 * @param putInEffect takes every state that comes
 * @returns waits until the state of an epoch, or a later one, is in effect: a batch comes by another port than the broadcast, and
 * may overtake a change that was answered before it was sent
 */
export function followAuthority(
  { authority, authorityChannel }: Pick<Boot, 'authority' | 'authorityChannel'>,
  putInEffect: (authority: AuthorityState) => void,
): (epoch: string) => Promise<void> {
  let current = BigInt(authority.epoch)
  let changed = Promise.withResolvers<void>()
  const channel = new BroadcastChannel(authorityChannel)
  channel.unref()
  channel.addEventListener('message', (event) => {
    const { data } = event as MessageEvent<AuthorityState | typeof ASKS_AUTHORITY>
    if (data === ASKS_AUTHORITY) return
    putInEffect(data)
    current = BigInt(data.epoch)
    changed.resolve()
    changed = Promise.withResolvers()
  })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel between threads, not between windows
  channel.postMessage(ASKS_AUTHORITY)
  return async (epoch) => {
    while (current < BigInt(epoch)) await changed.promise
  }
}
