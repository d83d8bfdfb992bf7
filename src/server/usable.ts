// Checks whether executions can be stored, and if not, why: GET /ready asks the database (interface §4.1).
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { EvidenceFault } from '../core/threads/evidence-fault.ts'
import { readFirstWord } from '../store/tables/in-doubt-intents.ts'
import { checkReleasable } from '../store/tables/released-batches.ts'
import { classify } from '../store/postgres/sql-errors.ts'
import type { Sql } from '../store/postgres/sql.ts'
import { inTransaction } from '../store/postgres/transaction.ts'

/** Spills this many small rows to the disk: about 70 kB. A count of rows in the tables would come from memory. */
const SPILLED_ROWS = 5_000

/** Each attempt probes the shard of a random id: with half of the nodes away, one check in 65,536 finds none of the others. */
const SHARDS_PROBED_MAX = 16

/** Our commits that a synchronous standby has yet to confirm, after longer than any healthy standby takes. */
const COMMITS_HELD = `
  SELECT count(*) > 0 AS held FROM pg_stat_activity
  WHERE wait_event = 'SyncRep' AND datname = current_database() AND state_change < now() - interval '2 seconds'`

/** Why executions cannot be stored. */
interface Unusable {
  /** A clause from a fixed list, which anyone may read. */
  readonly why: string
  /** For the log. */
  readonly cause: unknown
}

/**
 * Shares checks among concurrent requests, so that many of them cannot make a load balancer wait. Each request gets the result of a check that
 * began after it came.
 *
 * @param pool of one connection
 * @returns a function that resolves to undefined where executions can be stored
 */
export function openUsable(pool: Pool): () => Promise<Unusable | undefined> {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<Unusable | undefined> | undefined
  return () =>
    (next ??= running.then(() => {
      next = undefined
      const result = whyUnusable(pool)
      running = result
      return result
    }))
}

/** @returns undefined where executions can be stored; never rejects */
export async function whyUnusable(pool: Pool): Promise<Unusable | undefined> {
  for (let attempts = 1; ; attempts++) {
    try {
      await inTransaction(pool, check)
      return undefined
    } catch (cause) {
      // A Citus cluster with a node away can store some executions: those of a shard on another node.
      if (classify(cause).kind !== 'partly away' || attempts === SHARDS_PROBED_MAX)
        return { why: whyOf(cause), cause }
    }
  }
}

async function check(sql: Sql): Promise<void> {
  const id = randomUUID()
  await checkReleasable(sql, id)
  // Citus distributes this table, so the query asks one of its nodes.
  await readFirstWord(sql, id)
  const { rows } = await sql.query<{ held: boolean }>(COMMITS_HELD)
  if (rows[0]?.held === true) throw new Error('commits wait for the synchronous standby')
  // A full disk shows only when something is written. A temporary file leaves no rows, no WAL and no waste behind.
  await sql.query(`SET LOCAL work_mem = '64kB'`)
  await sql.query(`SELECT count(*) FROM generate_series(1, ${SPILLED_ROWS})`)
}

/** Reasons by SQLSTATE or by the system's error code; the first that fits counts. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [/^53300$/, 'it has too many connections'],
  [/^(53100|ENOSPC)$/, 'its disk is full'],
  [/^53/, 'it is out of resources'],
  [/^57P03$/, 'it is starting, recovering or stopping'],
  [/^57P0[124]$/, 'it was stopped or has crashed'],
  [/^(57014|55P03)$/, 'its execution-intents table is locked, or it is too slow'],
  [/^25006$/, 'it is read-only, as a standby or a primary that was demoted'],
  [/^42P01$/, 'its execution-intents table is missing'],
  [/^42501$/, 'its execution-intents table may not be used by this role'],
  [/^28/, 'it refuses the user or the password'],
  [/^3D/, 'there is no such database'],
  [/^58/, 'its server reports an input or output error'],
  [/^XX00[12]$/, 'a page of it is damaged'],
  [/^(ECONNREFUSED|ENOENT)$/, 'no server listens there'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'its host name is not known'],
  [/^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/, 'it cannot be reached'],
  [/^(08.*|ECONNRESET|EPIPE)$/, 'the connection was lost'],
]

/** Failures that pg states in words only. */
const messages: readonly (readonly [RegExp, string])[] = [
  [/timeout/i, 'it does not answer'],
  [/^(Connection terminated|Client )/, 'the connection was lost'],
  [/synchronous standby/, 'its synchronous standby does not confirm what is written'],
  [/not writable/, 'its execution-intents table may not be written by this role'],
]

/** The reasons of a refused store; the first that fits counts. */
const refusals: readonly (readonly [RegExp, string])[] = [
  [/^XX00[12]$/, 'a page of it is damaged'],
  [/^XX/, 'its server reports an internal error'],
  [/^58/, 'its server reports an input or output error'],
  [/^42P01$/, 'a table is missing'],
  [/^42501$/, 'a table may not be written by this role'],
  [/^(42|23)/, 'its schema is not the one of this release'],
]

/** @returns a clause from a fixed list, which anyone may read */
function whyRefused(sqlState: string): string {
  return refusals.find(([pattern]) => pattern.test(sqlState))?.[1] ?? `it answers with SQLSTATE ${sqlState}`
}

/** Why an instance with this fault is not ready: a sentence, which anyone may read. */
export function whyNotAdmitting(fault: EvidenceFault): string {
  return fault.kind === 'refused'
    ? `The database refuses to store evidence: ${whyRefused(fault.sqlState)}.`
    : 'Evidence that this instance signed does not verify: it executes nothing until it is restarted.'
}

function whyOf(error: unknown): string {
  // A host name with several addresses has an error for each.
  if (error instanceof AggregateError) return whyOf(error.errors[0])
  if (!(error instanceof Error)) return UNKNOWN
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const found =
    reasons.find(([pattern]) => pattern.test(code)) ??
    messages.find(([pattern]) => pattern.test(error.message))
  return found?.[1] ?? UNKNOWN
}

const UNKNOWN = 'see the log of this request'
