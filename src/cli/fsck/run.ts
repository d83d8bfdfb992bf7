// `countersign fsck`: derives everything that is stored anew from its bytes, in one snapshot of the database. Its checks, in their order.
import type { PublicKey } from '../../core/signing/keys.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import { partsOf, type StoredPart } from '../../store/tables/stored-parts.ts'
import { receipts, verifications } from './appended.ts'
import { approvalRequestCloses, approvalRequestNotes, approvalRequests } from './approval-requests.ts'
import { approvals } from './approvals.ts'
import { authority } from './authority.ts'
import { batchSignatures } from './batch-signatures.ts'
import { pendingChanges } from './changes.ts'
import type { Check, Finding } from './check.ts'
import { describeDamage, guarded, isDamage, readAround, unreadableTable } from './damage.ts'
import { catalogued, catalogueEntries, catalogueSums } from './catalogue.ts'
import { providerConfirmations } from './confirmations.ts'
import { executions } from './executions.ts'
import { historyEntries, historyGroups } from './history.ts'
import { auditEvents, intentTransitions, webhookEvents } from './journal.ts'
import { loggedChecks } from './logged.ts'
import { loginPasskeys } from './login-passkeys.ts'
import { readOpenIntents, type OpenIntents } from './open-intents.ts'
import { referenceChecks } from './references.ts'
import { refusals } from './refusals.ts'
import { releasedBatches } from './released-batches.ts'
import { requireSchema, schemaFindings } from './schema.ts'
import { openTools, type Tools } from './tools.ts'

/** Another table needs a file beside this one and a row here. Tables without evidence (rate_buckets) are left out. */
export const CHECKS: readonly Check[] = [
  authority,
  pendingChanges,
  executions,
  releasedBatches,
  verifications,
  receipts,
  batchSignatures,
  refusals,
  approvals,
  approvalRequests,
  approvalRequestNotes,
  approvalRequestCloses,
  auditEvents,
  intentTransitions,
  providerConfirmations,
  historyEntries,
  historyGroups,
  loginPasskeys,
  webhookEvents,
  catalogued,
  catalogueEntries,
  catalogueSums,
  ...loggedChecks(),
]

/** How many findings are remembered: some megabytes of text. */
const REMEMBERED_MAX = 50_000

/** Two pages are in memory at once, and a row of an execution can have half a megabyte. */
export const PAGE_ROWS = 100

export interface Summary {
  /** Rows that were looked at, by table. */
  readonly rows: Readonly<Record<string, number>>
  readonly problems: number
  /** How many rows, pages and indexes could not be read: named like problems, and counted among them. */
  readonly unreadable: number
  /** Not errors: executions in progress, and executions in doubt. */
  readonly open: OpenIntents
  /** Neither released nor refused: their policy was not known, or their action had no connector. */
  readonly unexecuted: number
}

export interface Progress {
  readonly table: string
  readonly rows: number
  /** The planner's estimate of their number; undefined without one. */
  readonly about: number | undefined
}

export interface RunRequest {
  /** One connection, in no transaction; nothing is written through it. */
  readonly sql: Sql
  /** The public keys of the service, by keyId. */
  readonly keys: ReadonlyMap<string, PublicKey>
  readonly onFinding: (finding: Finding) => void
  readonly onProgress?: (progress: Progress) => void
}

/**
 * Checks everything, and resolves when `onFinding` has been called with each finding.
 * @throws CannotCheck where the schema is not that of this version of the service; otherwise what the database throws
 */
export async function fsck(request: RunRequest): Promise<Summary> {
  return inSnapshot(request, async ({ tools, tally, check, ask }) => {
    tally.tell(await schemaFindings(tools.sql))
    const { rows } = await tools.sql.query<{ any: boolean }>(
      `SELECT to_regclass('pgboss.job') IS NOT NULL AS any`,
    )
    for (const one of [...CHECKS, ...referenceChecks({ hasJobs: rows[0]?.any === true })]) await check(one)
    const open = await ask('what has not ended', () => readOpenIntents(tools.sql))
    const unexecuted = await ask('what was not executed', () => countUnexecuted(tools))
    return { ...tally.totals(), open: open ?? NOTHING_OPEN, unexecuted: unexecuted ?? 0 }
  })
}

export interface Run {
  readonly tools: Tools
  readonly tally: Tally
  readonly check: (check: Check) => Promise<void>
  /** Asks a question. Returns undefined where damage prevents an answer, which is reported. */
  readonly ask: <T>(what: string, question: () => Promise<T>) => Promise<T | undefined>
}

/**
 * Everything that `work` reads is as of one moment, while others go on writing.
 * @throws as `fsck`
 */
export async function inSnapshot<T>(
  { sql, keys, onFinding, onProgress = () => undefined }: RunRequest,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  await openSnapshot(sql)
  try {
    await requireSchema(sql)
    const tally = openTally(onFinding)
    const tools = await openTools(sql, keys)
    const abouts = await readAbouts(sql)
    return await work({
      tools,
      tally,
      check(one) {
        const about = sumOf(partsOf(one.table).flatMap(({ table }) => abouts.get(table) ?? []))
        const onRows = (rows: number) => onProgress({ table: one.table, rows, about })
        return runCheck(one, { tools, tally, onRows })
      },
      ask: (what, question) => askGuarded(what, question, { sql, tally }),
    })
  } finally {
    // Nothing was written; on a connection that is lost there is nothing left to undo.
    await sql.query('ROLLBACK').catch(() => undefined)
  }
}

const NOTHING_OPEN: OpenIntents = { underWay: 0, inDoubt: 0, listed: [] }

type Tally = ReturnType<typeof openTally>

/** Reports findings as they come, and counts them. */
function openTally(onFinding: (finding: Finding) => void) {
  const rows: Record<string, number> = {}
  let [problems, unreadable] = [0, 0]
  const onceUnreadable = onceEach()
  const tell = (findings: readonly Finding[]) => {
    problems += findings.length
    findings.forEach(onFinding)
  }
  return {
    tell,
    /** Several checks meet the same damage: it is reported once. */
    tellUnreadable(findings: readonly Finding[]) {
      const reported = onceUnreadable(findings)
      unreadable += reported.length
      tell(reported)
    },
    count(counted: Readonly<Record<string, number>>) {
      for (const [table, number] of Object.entries(counted)) rows[table] = (rows[table] ?? 0) + number
    },
    totals: () => ({ rows, problems, unreadable }),
  }
}

/** Leaves out findings that it has been given before, as far as it remembers them. */
function onceEach(): (findings: readonly Finding[]) => Finding[] {
  const known = new Set<string>()
  return (findings) =>
    findings.filter(({ table, key, problem }) => {
      const text = `${table}\n${key}\n${problem}`
      const isNew = !known.has(text)
      if (known.size < REMEMBERED_MAX) known.add(text)
      return isNew
    })
}

/** Undefined without any table. */
function sumOf(numbers: readonly number[]): number | undefined {
  return numbers.length === 0 ? undefined : numbers.reduce((sum, one) => sum + one)
}

interface Checking {
  readonly tools: Tools
  readonly tally: Tally
  readonly onRows: (rows: number) => void
}

async function runCheck(check: Check, checking: Checking): Promise<void> {
  let seen = 0
  const onRows = (rows: number) => checking.onRows((seen += rows))
  for (const part of partsOf(check.table)) await checkPart(check, part, { ...checking, onRows })
}

/** Reads the table in one go; where it meets damage, again in parts, and does not report a finding twice. */
async function checkPart(check: Check, part: StoredPart, { tools, tally, onRows }: Checking): Promise<void> {
  const { sql } = tools
  const isNew = onceEach()
  /** `from` is the table, or a part of it. */
  async function read(from: string, onFindings: (findings: readonly Finding[]) => void) {
    const all: Record<string, number> = {}
    const text = check.text.replace('$table', () => part.rows(from))
    for await (const page of pagesOf(text, sql)) {
      const { counted, findings } = await check.examine(page, tools)
      for (const [table, number] of Object.entries(counted)) all[table] = (all[table] ?? 0) + number
      onFindings(findings)
      onRows(page.length)
    }
    return all
  }
  try {
    const counted = await guarded(sql, () => read(part.table, (findings) => tally.tell(isNew(findings))))
    tally.count(counted)
  } catch (error) {
    if (!isDamage(error)) throw error
    const unreadable = check.text.includes('$table')
      ? await readAround(part.table, error, {
          sql,
          async read(from) {
            const found: Finding[] = []
            const counted = await read(from, (findings) => found.push(...findings))
            tally.count(counted)
            tally.tell(isNew(found))
          },
        })
      : [await unreadableTable(part.table, error, sql)]
    tally.tellUnreadable(unreadable)
  }
}

async function askGuarded<T>(
  what: string,
  question: () => Promise<T>,
  { sql, tally }: { readonly sql: Sql; readonly tally: Tally },
): Promise<T | undefined> {
  try {
    return await guarded(sql, question)
  } catch (error) {
    if (!isDamage(error)) throw error
    const { table, text } = await describeDamage(error, sql)
    tally.tellUnreadable([{ table, key: '-', problem: `${what} cannot be determined: ${text} is damaged` }])
    return undefined
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

/** A statement's rows, PAGE_ROWS at a time; the next page is fetched while one is checked. */
async function* pagesOf(text: string, sql: Sql): AsyncGenerator<readonly unknown[]> {
  await sql.query(`DECLARE fsck NO SCROLL CURSOR FOR ${text}`)
  const fetch = () => sql.query<Record<string, unknown>>(`FETCH ${PAGE_ROWS} FROM fsck`)
  let next = fetch()
  for (;;) {
    const { rows } = await next
    if (rows.length === 0) break
    next = fetch()
    // A reader that stops early must not leave an unhandled error.
    next.catch(() => undefined)
    yield rows
  }
  await sql.query('CLOSE fsck')
}

/** How many rows the planner thinks each table has. */
async function readAbouts(sql: Sql): Promise<Map<string, number>> {
  const { rows } = await sql.query<{ name: string; about: number }>(`
    SELECT relname AS name, reltuples::float8 AS about FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND reltuples > 0`)
  return new Map(rows.map(({ name, about }) => [name, about]))
}

async function countUnexecuted({ sql }: Tools): Promise<number> {
  const { rows } = await sql.query<{ count: string }>(`
    SELECT count(*) FROM business_transactions AS t WHERE t.execution_authorization IS NULL
      AND NOT EXISTS (SELECT FROM refusal_records AS f WHERE f.business_transaction_id = t.business_transaction_id)`)
  return Number(rows[0]?.count)
}
