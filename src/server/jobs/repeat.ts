// Repeats a job of this instance: one run after the other, and a lasting problem is reported once.
import { setTimeout as delay } from 'node:timers/promises'

/**
 * Runs work until the signal aborts, never two runs at once.
 * @param run returns the milliseconds until the next run
 */
export async function repeat(signal: AbortSignal, run: () => Promise<number>): Promise<void> {
  while (!signal.aborted) {
    const waitMs = await run()
    await delay(waitMs, undefined, { signal, ref: false }).catch(() => undefined)
  }
}

export interface Problems {
  readonly current: () => readonly string[]
  /** Replaces the current faults; `say` is called for each new one. */
  readonly become: (problems: readonly string[], say?: (problem: string) => void) => void
}

/**
 * Logs a fault when it begins, not each time it is seen.
 * @param onOver called when nothing is wrong any more
 */
export function openProblems(onOver: () => void = () => undefined): Problems {
  let current: readonly string[] = []
  return {
    current: () => current,
    become(problems, say = () => undefined) {
      const before = current
      current = problems
      for (const problem of problems) if (!before.includes(problem)) say(problem)
      if (before.length > 0 && problems.length === 0) onOver()
    },
  }
}
