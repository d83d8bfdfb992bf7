// Compares the catalogue with the evidence. It is no evidence: `countersign catalogue rebuild` mends differences.
import { isDeepStrictEqual } from 'node:util'
import { catalogueStanding } from '../../core/catalogue/follow.ts'
import { catalogueRows } from '../../core/catalogue/row.ts'
import { readEntries, type CatalogueRow } from '../../store/tables/catalogue-entries.ts'
import type { CatalogueStanding } from '../../store/tables/catalogue-state.ts'
import type { Check, Finding } from './check.ts'

const TABLE = 'catalogue_entries'
const MEND = 'run countersign catalogue rebuild'

/** While entries wait to be logged or followed, executions of the last minute may not be in the catalogue yet. */
const RECENT_MS = 60_000

/** Every execution that is stored has the row that its evidence makes. */
export const catalogued: Check = {
  table: 'business_transactions',
  text: 'SELECT c.business_transaction_id AS id FROM $table AS c',
  async examine(rows, { sql, documents }) {
    const ids = (rows as readonly { id: string }[]).map(({ id }) => id)
    const standing = await catalogueStanding(sql)
    if (standing === undefined)
      return {
        counted: {},
        findings: [{ table: 'catalogue_state', key: '-', problem: `has no row: ${MEND}` }],
      }
    const made = new Map(
      (await catalogueRows(sql, ids, documents)).map((row) => [row.businessTransactionId, row]),
    )
    const stored = await readEntries(sql, ids)
    const findings = ids.flatMap((id): Finding[] => {
      const problem = problemOf({ made: made.get(id), stored: stored.get(id) }, standing)
      return problem === undefined ? [] : [{ table: TABLE, key: id, problem: `${problem}: ${MEND}` }]
    })
    return { counted: {}, findings }
  },
}

/** Every row is of an execution. */
export const catalogueEntries: Check = {
  table: TABLE,
  text: 'SELECT c.business_transaction_id AS id FROM $table AS c',
  async examine(rows, { sql }) {
    const ids = (rows as readonly { id: string }[]).map(({ id }) => id)
    const { rows: known } = await sql.query<{ id: string }>({
      name: 'fsck_catalogue_known',
      text: `SELECT business_transaction_id AS id FROM business_transactions WHERE business_transaction_id = ANY ($1::uuid[])`,
      values: [ids],
    })
    const there = new Set(known.map(({ id }) => id))
    const findings = ids
      .filter((id) => !there.has(id))
      .map((id) => ({ table: TABLE, key: id, problem: `is of no transaction: ${MEND}` }))
    return { counted: { [TABLE]: ids.length }, findings }
  },
}

interface Compared {
  /** The row that the evidence makes; undefined: none. */
  readonly made: CatalogueRow | undefined
  readonly stored: CatalogueRow | undefined
}

function problemOf({ made, stored }: Compared, standing: CatalogueStanding): string | undefined {
  const row = made ?? stored
  if (row === undefined || !isExpected(row, standing)) return undefined
  if (stored === undefined) return 'is missing'
  // A release before wrote it, and a service fills it in.
  if (standing.unfilled && stored.status === 'refused' && stored.approvable === null) return undefined
  return isDeepStrictEqual({ ...made }, { ...stored }) ? undefined : 'differs from the evidence'
}

function isExpected(
  { decidedAt, completedAt, status }: CatalogueRow,
  { behind, queued, completeUntil, completeSince }: CatalogueStanding,
): boolean {
  if (completeSince !== null && decidedAt < completeSince) return false
  if (!behind && !queued) return true
  const untilMs = completeUntil === null ? -Infinity : Date.parse(completeUntil) - RECENT_MS
  return status !== 'in_doubt' && Date.parse(completedAt ?? decidedAt) < untilMs
}

const SUMS = 'catalogue_sums'

/** Every sum is that of its entries, and no group of entries lacks its sum. */
export const catalogueSums: Check = {
  table: SUMS,
  text: `
    SELECT c.count IS NOT NULL AS stored, c.count IS NOT DISTINCT FROM e.count AND c.with_amount IS NOT DISTINCT FROM e.with_amount
        AND c.amount IS NOT DISTINCT FROM e.amount AS right,
      concat_ws(' ', coalesce(c.grain, e.grain), to_char(coalesce(c.start, e.start) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"'),
        coalesce(c.caller_id, e.caller_id), coalesce(c.status, e.status), coalesce(c.policy_name, e.policy_name)) AS key
    FROM catalogue_sums AS c FULL JOIN catalogue_counted AS e
      ON ${['grain', 'start', 'status', 'approvable', 'capability', 'policy_name', 'policy_version'].map((name) => `c.${name} = e.${name}`).join(' AND ')}
        AND ${['caller_id', 'rule', 'currency'].map((name) => `coalesce(' ' || c.${name}, '') = coalesce(' ' || e.${name}, '')`).join(' AND ')}`,
  examine(rows) {
    const compared = rows as readonly {
      readonly stored: boolean
      readonly right: boolean
      readonly key: string
    }[]
    const findings = compared.flatMap(({ right, key }): Finding[] =>
      right ? [] : [{ table: SUMS, key, problem: `is not the sum of its entries: ${MEND}` }],
    )
    return Promise.resolve({ counted: { [SUMS]: compared.filter(({ stored }) => stored).length }, findings })
  },
}
