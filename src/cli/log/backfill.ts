// countersign log backfill: logs the stored artifacts that no log has, beside running services. Each entry is of kind `late-…`, since the
// log can only say that the artifact was there when it was logged.
import { printable } from '../../formats/text/printable.ts'
import { readLogStatus } from '../../store/tables/log-state.ts'
import { onDatabase, type Env } from '../database.ts'
import { logAgain, type LoggedAgain } from './log-again.ts'

/**
 * @returns the exit code: 1 where something could not be logged
 * @throws Error where there is no log that takes entries
 */
export async function backfill(env: Env): Promise<0 | 1> {
  return onDatabase(env, async (pool) => {
    const status = await readLogStatus(pool)
    if (status === undefined)
      throw new Error('The database has no evidence log: start a service first, without LOG=off.')
    if (status.frozen !== null)
      throw new Error(`${status.origin} is frozen: ${status.frozen} First: countersign log reopen`)
    const unreadable: string[] = []
    const logged = await logAgain(pool, {
      which: 'all',
      paced: true,
      onUnreadable(sentence) {
        unreadable.push(sentence)
        console.error(printable(sentence))
      },
    })
    console.log(loggedText(logged, status.origin))
    return unreadable.length === 0 && logged.busy === 0 ? 0 : 1
  })
}

export function loggedText({ entries, busy }: LoggedAgain, origin: string): string {
  const counts = Array.from(entries, ([kind, count]) => `late-${kind} ${count}`)
  return [
    counts.length === 0 ? 'Everything is logged.' : `Queued for ${origin}: ${counts.join(', ')}.`,
    ...(busy === 0 ? [] : [`${busy} rows were in use. Run it again for them: countersign log backfill`]),
  ].join('\n')
}
