// Evidence that was entered into the log: its commit must be known there, in the tree or still in the queue, and its entry must be its own,
// but for rows that are joined with their transaction. `countersign log audit` compares those too.
import {
  artifactTables,
  namedColumns,
  type ArtifactRow,
  type ArtifactTable,
} from '../../store/tables/artifacts.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import type { Check, Finding } from './check.ts'
import { cannotCompare, entryOf, type Place } from './entries.ts'
import type { Tools } from './tools.ts'

/** A row that says that it is logged. */
export interface LoggedRow {
  readonly key: string
  readonly logBatch: string
  readonly logOrdinal: number | null
  /** The columns that `LoggedDetail.columns` names. */
  readonly columns: ArtifactRow
}

export type PlacedRow = LoggedRow & { readonly place: Place | 'queued' }

/** The further use of the rows of a table, beyond finding their commits. */
export interface LoggedDetail {
  /** SQL of the values that it reads of a row `c`, as text, by name. */
  readonly columns: Readonly<Record<string, string>>
  /** SQL that joins other tables to them, by the key. */
  readonly joins: string
  readonly examine: (rows: readonly PlacedRow[], tools: Tools) => Promise<readonly Finding[]>
}

/** The kinds that fsck checks. A row that is joined with its transaction has its own check, which verifies more than its entry states. */
function compared(table: ArtifactTable): LoggedDetail {
  if (table.joined === true) return { columns: {}, joins: '', examine: async () => [] }
  return {
    columns: table.columns,
    joins: '',
    async examine(rows, tools) {
      const findings: Finding[] = []
      // One after the other: they share a connection.
      for (const { key, columns, place } of rows) {
        if (place === 'queued') continue
        const found = await entryOf(table, { columns, place }, tools).catch(cannotCompare)
        if (typeof found === 'string') findings.push({ table: table.table, key, problem: found })
      }
      return findings
    },
  }
}

/** A check for each table of evidence that the log has entries of. */
export function loggedChecks(detail: (table: ArtifactTable) => LoggedDetail = compared): Check[] {
  return artifactTables.map((table) => loggedCheck(table, detail(table)))
}

function loggedCheck(table: ArtifactTable, { columns, joins, examine }: LoggedDetail): Check {
  const [key] = table.key
  const names = Object.keys(columns)
  const shown = table.numbered === true ? `c.${key} || ' ' || c.ordinal` : `c.${key}::text`
  return {
    table: table.table,
    text: `
      SELECT ${shown} AS key, c.log_batch AS "logBatch", c.log_ordinal AS "logOrdinal",
        ARRAY[${Object.values(columns).join(', ')}]::text[] AS texts
      FROM $table AS c ${joins} WHERE c.log_batch IS NOT NULL`,
    async examine(page, tools) {
      const rows = (
        page as readonly (Omit<LoggedRow, 'columns'> & { readonly texts: (string | null)[] })[]
      ).map(({ texts, ...row }): LoggedRow => ({ ...row, columns: namedColumns(names, texts) }))
      const places = await findPlaces(tools.sql, rows)
      const placed = rows.flatMap((row, i) => {
        const place = places[i]
        return place === undefined ? [] : [{ ...row, place }]
      })
      const lost = rows
        .filter((_, i) => places[i] === undefined)
        .map((row) => ({
          table: table.table,
          key: row.key,
          problem: 'is neither in the log nor in its queue',
        }))
      return { counted: {}, findings: [...lost, ...(await examine(placed, tools))] }
    },
  }
}

/**
 * The positions of rows in the log. A separate query: on Citus the tables cannot be joined.
 * @returns in the order of `rows`; undefined for a row whose commit is unknown, or has fewer entries
 */
export async function findPlaces(
  sql: Sql,
  rows: readonly Pick<LoggedRow, 'logBatch' | 'logOrdinal'>[],
): Promise<(Place | 'queued' | undefined)[]> {
  const batches = [...new Set(rows.map(({ logBatch }) => logBatch))]
  const inTree = await sql.query<{ batch: string; log: number; start: string; count: number }>(
    `SELECT batch, log, start, count FROM log_batches WHERE batch = ANY($1::uuid[])`,
    [batches],
  )
  const sequenced = new Map(inTree.rows.map((row) => [row.batch, row]))
  const queued = await queuedCounts(
    sql,
    batches.filter((batch) => !sequenced.has(batch)),
  )
  return rows.map(({ logBatch, logOrdinal }) => {
    if (logOrdinal === null || logOrdinal < 0) return undefined
    const batch = sequenced.get(logBatch)
    if (batch === undefined) return logOrdinal < (queued.get(logBatch) ?? 0) ? 'queued' : undefined
    return logOrdinal < batch.count ? { log: batch.log, index: Number(batch.start) + logOrdinal } : undefined
  })
}

/** How many entries each commit has that waits in the queue. */
async function queuedCounts(sql: Sql, batches: readonly string[]): Promise<Map<string, number>> {
  if (batches.length === 0) return new Map()
  const { rows } = await sql.query<{ batch: string; count: number }>(
    `SELECT batch, json_array_length(coalesce(entries::json -> 'positions', entries::json -> 'entries')) AS count
     FROM log_queue WHERE batch = ANY($1::uuid[])`,
    [batches],
  )
  return new Map(rows.map(({ batch, count }) => [batch, count]))
}
