// Brings the decisions of human authority on any instance into effect here, within a second (decisions §7). It polls, without LISTEN:
// one number is cheaper to read than a connection of its own is to keep, and a poll that finds nothing proves that nothing was missed,
// which a quiet LISTEN does not.
import type { Pool } from 'pg'
import { readEpoch } from '../../store/tables/authority-epoch.ts'
import type { Caller } from '../../formats/people/caller.ts'
import { readAuthority, type AuthorityState } from '../../core/callers/authority-state.ts'
import { openProblems, repeat } from './repeat.ts'

const LOOK_EVERY_MS = 300

export interface AuthorityWatch {
  readonly current: () => AuthorityState
  /** From now on `onChange` is called with each new state. Call it once, when the listener is ready. */
  readonly start: (onChange: (state: AuthorityState) => void) => void
  /** Polls now: a change made here is in effect here before it is answered. */
  readonly refresh: () => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * Reads the authority in effect; `start` begins to watch it.
 * @param pool a pool of its own with one connection: reads that anyone can cause must not delay a revocation
 * @param options.configured the entries of SERVICE_API_KEYS
 * @param options.onError called when the database cannot be read, once until it can; the authority that was read last stays in effect
 * @param options.onOver called when it can be read again
 */
export async function watchAuthority(
  pool: Pool,
  {
    configured,
    onError,
    onOver,
  }: {
    readonly configured: readonly Caller[]
    readonly onError: (error: unknown) => void
    readonly onOver: () => void
  },
): Promise<AuthorityWatch> {
  let current = await readAuthority(pool, configured)
  let tell: ((state: AuthorityState) => void) | undefined
  const closing = new AbortController()
  let looking = Promise.resolve()

  async function refresh(): Promise<void> {
    if ((await readEpoch(pool)) === current.epoch) return
    const next = await readAuthority(pool, configured)
    // Two polls may overlap: the older answer must not win.
    if (BigInt(next.epoch) <= BigInt(current.epoch)) return
    tell?.(next)
    current = next
  }

  const problems = openProblems(onOver)

  async function look(): Promise<number> {
    try {
      await refresh()
      problems.become([])
    } catch (error) {
      problems.become(['database'], () => onError(error))
    }
    return LOOK_EVERY_MS
  }

  return {
    current: () => current,
    start(onChange) {
      tell = onChange
      looking = repeat(closing.signal, look)
    },
    refresh,
    async close() {
      closing.abort()
      await looking
    },
  }
}
