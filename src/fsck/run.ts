// `countersign fsck`: everything that is stored, derived anew from its bytes in one snapshot of the database. Its checks, in their order.
import type { PublicKey } from '../signing/keys.ts'
import type { Sql } from '../tables/sql.ts'
import { receipts, verifications } from './appended.ts'
import { approvals } from './approvals.ts'
import { approvers, externalConnectors, policyVersions } from './authority.ts'
import { pendingChanges } from './changes.ts'
import type { Check, Finding } from './check.ts'
import { executions } from './executions.ts'
import { auditEvents, historyEntries, intentTransitions, webhookEvents } from './journal.ts'
import { readOpenIntents, type OpenIntents } from './open-intents.ts'
import { referenceChecks } from './references.ts'
import { refusals } from './refusals.ts'
import { requireSchema, schemaFindings } from './schema.ts'
import { openTools, type Tools } from './tools.ts'

/** Another table is a file beside this one and a row here. What holds no evidence (rate_buckets) is not here. */
const CHECKS: readonly Check[] = [
  policyVersions,
  pendingChanges,
  approvers,
  externalConnectors,
  executions,
  verifications,
  receipts,
  refusals,
  approvals,
  auditEvents,
  intentTransitions,
  historyEntries,
  webhookEvents,
]

/** Two pages are in memory at once, and a row of an execution can have half a megabyte. */
export const PAGE_ROWS = 100

export interface Summary {
  /** Rows that were looked at, by table. */
  readonly rows: Readonly<Record<string, number>>
  readonly problems: number
  /** No error: what is under way, and what is in doubt. */
  readonly open: OpenIntents
  /** Neither released nor refused: their policy was not known, or no connector stood for their action. */
  readonly unexecuted: number
}

export interface Progress {
  readonly table: string
  readonly rows: number
  /** How many the planner thinks there are; undefined where nobody counted. */
  readonly about: number | undefined
}

/**
 * in   sql  one connection, in no transaction; nothing is written through it
 *      keys the public keys of the service, by keyId
 * out  when everything has been looked at; each finding was told to `onFinding` before
 * fails CannotCheck where the schema is not that of this release; as the database does
 */
export async function fsck({
  sql,
  keys,
  onFinding,
  onProgress = () => undefined,
}: {
  readonly sql: Sql
  readonly keys: ReadonlyMap<string, PublicKey>
  readonly onFinding: (finding: Finding) => void
  readonly onProgress?: (progress: Progress) => void
}): Promise<Summary> {
  await openSnapshot(sql)
  try {
    await requireSchema(sql)
    let problems = 0
    const tell = (findings: readonly Finding[]) => {
      problems += findings.length
      findings.forEach(onFinding)
    }
    tell(await schemaFindings(sql))
    const tools = await openTools(sql, keys)
    const rows: Record<string, number> = {}
    const { hasJobs, abouts } = await readCatalog(sql)
    for (const check of [...CHECKS, ...referenceChecks({ hasJobs })]) {
      let seen = 0
      for await (const page of pagesOf(check.text, sql)) {
        const { counted, findings } = await check.examine(page, tools)
        for (const [table, count] of Object.entries(counted)) rows[table] = (rows[table] ?? 0) + count
        tell(findings)
        seen += page.length
        onProgress({ table: check.table, rows: seen, about: abouts.get(check.table) })
      }
    }
    return { rows, problems, open: await readOpenIntents(sql), unexecuted: await countUnexecuted(tools) }
  } finally {
    // Nothing was written; on a connection that is lost there is nothing left to undo.
    await sql.query('ROLLBACK').catch(() => undefined)
  }
}

/** Everything is read as of one moment, while others go on writing. */
async function openSnapshot(sql: Sql): Promise<void> {
  await sql.query(`
    BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
    -- A page at a time: joins by the keys, in place of sorting or hashing whole tables first. With 0 only the first row would count,
    -- and each row would be looked for by reading the other table whole.
    SET LOCAL cursor_tuple_fraction = 0.01;
    SET LOCAL jit = off;
    SET LOCAL enable_seqscan = on;
    SET LOCAL synchronize_seqscans = off;
    SET LOCAL statement_timeout = 0;
    SET LOCAL idle_in_transaction_session_timeout = 0`)
}

/** A statement's rows, PAGE_ROWS at a time; the next page is on its way while one is looked at. */
async function* pagesOf(text: string, sql: Sql): AsyncGenerator<readonly unknown[]> {
  await sql.query(`DECLARE fsck NO SCROLL CURSOR FOR ${text}`)
  const fetch = () => sql.query<Record<string, unknown>>(`FETCH ${PAGE_ROWS} FROM fsck`)
  let next = fetch()
  for (;;) {
    const { rows } = await next
    if (rows.length === 0) break
    next = fetch()
    // Whoever stops reading early must not leave an error that nobody hears.
    next.catch(() => undefined)
    yield rows
  }
  await sql.query('CLOSE fsck')
}

async function readCatalog(sql: Sql) {
  const { rows } = await sql.query<{ name: string; about: number }>(`
    SELECT relname AS name, reltuples::float8 AS about FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND reltuples > 0`)
  const jobs = await sql.query<{ any: boolean }>(`SELECT to_regclass('pgboss.job') IS NOT NULL AS any`)
  return {
    hasJobs: jobs.rows[0]?.any === true,
    abouts: new Map(rows.map(({ name, about }) => [name, about])),
  }
}

async function countUnexecuted({ sql }: Tools): Promise<number> {
  const { rows } = await sql.query<{ count: string }>(`
    SELECT count(*) FROM business_transactions AS t WHERE t.execution_authorization IS NULL
      AND NOT EXISTS (SELECT FROM refusal_records AS f WHERE f.business_transaction_id = t.business_transaction_id)`)
  return Number(rows[0]?.count)
}
