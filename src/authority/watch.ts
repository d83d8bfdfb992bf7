// Keeps an instance in step with what human authority decided on any instance: in effect within a second (decisions §7).
// By looking, not by LISTEN: one number is cheaper to read than a connection of its own is to keep, and a look that finds
// nothing proves that nothing was missed, which a quiet LISTEN does not.
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { readEpoch } from '../tables/authority-epoch.ts'
import { readAuthority, type AuthorityState } from './state.ts'

const LOOK_EVERY_MS = 300

export interface AuthorityWatch {
  readonly current: () => AuthorityState
  /** Looks now: a change made here is in effect here before it is answered. */
  readonly refresh: () => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * in   onChange  called with each new state, the first one excepted
 *      onError   told once when the database cannot be asked, and again after it could; what was in effect stays so
 */
export async function watchAuthority(
  pool: Pool,
  { onChange, onError }: { onChange: (state: AuthorityState) => void; onError: (error: unknown) => void },
): Promise<AuthorityWatch> {
  let current = await readAuthority(pool)
  const closing = new AbortController()
  let failing = false

  async function refresh(): Promise<void> {
    if ((await readEpoch(pool)) === current.epoch) return
    const next = await readAuthority(pool)
    // Two looks may overlap: the older answer must not win.
    if (BigInt(next.epoch) <= BigInt(current.epoch)) return
    current = next
    onChange(current)
  }

  async function look(): Promise<void> {
    while (!closing.signal.aborted) {
      await delay(LOOK_EVERY_MS, undefined, { signal: closing.signal }).catch(() => undefined)
      if (closing.signal.aborted) return
      try {
        await refresh()
        failing = false
      } catch (error) {
        if (!failing) onError(error)
        failing = true
      }
    }
  }

  const looking = look()
  return {
    current: () => current,
    refresh,
    async close() {
      closing.abort()
      await looking
    },
  }
}
