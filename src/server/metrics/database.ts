// Figures that a scrape and the console read from the database: bounded, over a connection for reads, and no longer than a scrape may wait.
import { countOpenRequests } from '../../store/tables/approval-requests.ts'
import { countInDoubt } from '../../store/tables/in-doubt-intents.ts'
import { readLogStatus, type LogStatus } from '../../store/tables/log-state.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import { within } from '../../core/threads/within.ts'

/** Readers that ask within this time share one query. */
const FRESH_MS = 5_000
const WAIT_MS = 500
/** If more executions are in doubt, this number says enough. */
const COUNT_MAX = 10_000

interface DatabaseState {
  readonly up: boolean
  /** Undefined: not known. */
  readonly inDoubt: number | undefined
  /** Approval requests that are open; undefined: not known. */
  readonly approvalRequests: number | undefined
  /** Undefined: not known, or there is no log. */
  readonly log: LogStatus | undefined
}

const AWAY: DatabaseState = { up: false, inDoubt: undefined, approvalRequests: undefined, log: undefined }

/** Never rejects, and answers within half a second. */
export type DatabaseProbe = () => Promise<DatabaseState>

/** A query without an answer yet is not sent a second time. */
export function openDatabaseProbe(sql: Sql): DatabaseProbe {
  let pending: Promise<DatabaseState> | undefined
  let known: { readonly state: DatabaseState; readonly atMs: number } | undefined

  async function ask(): Promise<DatabaseState> {
    const state = await Promise.all([
      countInDoubt(sql, COUNT_MAX),
      countOpenRequests(sql, null),
      readLogStatus(sql),
    ]).then(
      ([inDoubt, { all: approvalRequests }, log]): DatabaseState => ({
        up: true,
        inDoubt,
        approvalRequests,
        log,
      }),
      () => AWAY,
    )
    known = { state, atMs: performance.now() }
    pending = undefined
    return state
  }

  return () => {
    if (known?.state.up && performance.now() - known.atMs < FRESH_MS) return Promise.resolve(known.state)
    pending ??= ask()
    return within(WAIT_MS, pending, AWAY)
  }
}
