// What a scrape asks the database: bounded, over a connection for reads, and never for longer than a scrape may wait.
import { countInDoubt } from '../../core/tables/in-doubt-intents.ts'
import type { Sql } from '../../core/tables/sql.ts'
import { within } from '../../core/within.ts'

/** What several scrapers see is asked once. */
const FRESH_MS = 5_000
const WAIT_MS = 500
/** Where more are in doubt, this number says enough. */
const COUNT_MAX = 10_000

interface DatabaseState {
  readonly up: boolean
  /** Undefined: not known. */
  readonly inDoubt: number | undefined
}

const AWAY: DatabaseState = { up: false, inDoubt: undefined }

/** Never rejects, and answers within half a second. A question that has had no answer yet is not asked again beside it. */
export function openDatabaseProbe(sql: Sql): () => Promise<DatabaseState> {
  let asked: Promise<DatabaseState> | undefined
  let known: { readonly state: DatabaseState; readonly atMs: number } | undefined

  async function ask(): Promise<DatabaseState> {
    const state = await countInDoubt(sql, COUNT_MAX).then(
      (inDoubt): DatabaseState => ({ up: true, inDoubt }),
      () => AWAY,
    )
    known = { state, atMs: performance.now() }
    asked = undefined
    return state
  }

  return () => {
    if (known?.state.up && performance.now() - known.atMs < FRESH_MS) return Promise.resolve(known.state)
    asked ??= ask()
    return within(WAIT_MS, asked, AWAY)
  }
}
