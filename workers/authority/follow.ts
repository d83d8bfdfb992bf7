// Decisions of human authority on any instance take effect on this thread.
import type { MessagePort } from 'node:worker_threads'
import type { AuthorityState } from '../../src/core/authority-state.ts'

/**
 * Follows the front end.
 *
 * @param authority what is in effect from the start
 * @param port brings each state that comes later
 * @param putInEffect takes every one of them
 * @returns waits until the state of an epoch, or a later one, is in effect: a batch comes by another port, and may overtake a change
 * that was answered before it was sent
 */
export function followAuthority(
  authority: AuthorityState,
  port: MessagePort,
  putInEffect: (authority: AuthorityState) => void,
): (epoch: string) => Promise<void> {
  let current = BigInt(authority.epoch)
  let changed = Promise.withResolvers<void>()
  port.on('message', (state: AuthorityState) => {
    putInEffect(state)
    current = BigInt(state.epoch)
    changed.resolve()
    changed = Promise.withResolvers()
  })
  port.unref()
  return async (epoch) => {
    while (current < BigInt(epoch)) await changed.promise
  }
}
