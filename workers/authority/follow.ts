// Decisions of human authority on any instance take effect on this thread.
import type { AuthorityState } from '../../src/core/callers/authority-state.ts'

interface Following {
  /** Puts a later state in effect. */
  readonly put: (state: AuthorityState) => void
  /**
   * Waits until the state of an epoch, or a later one, is in effect: a batch comes by another port, and may overtake a change that was
   * answered before it was sent.
   */
  readonly untilInEffect: (epoch: string) => Promise<void>
}

/**
 * Follows the front end.
 * @param authority the state in effect from the start
 * @param putInEffect takes every later state
 */
export function followAuthority(
  authority: AuthorityState,
  putInEffect: (authority: AuthorityState) => void,
): Following {
  let current = BigInt(authority.epoch)
  let changed = Promise.withResolvers<void>()
  return {
    put(state) {
      putInEffect(state)
      current = BigInt(state.epoch)
      changed.resolve()
      changed = Promise.withResolvers()
    },
    async untilInEffect(epoch) {
      while (current < BigInt(epoch)) await changed.promise
    },
  }
}
