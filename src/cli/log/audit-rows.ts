// The check of each stored artifact in an audit of the log: its entry is its own, it is counted and found where the log says, and it
// passes the questions of audit-questions.ts.
import { isLateKind, streamNames, streamTag, type LogEntry } from '../../formats/log/entry.ts'
import { sha256 } from '../../store/sha256.ts'
import type { Artifact, ArtifactTable } from '../../store/tables/artifacts.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import type { Finding } from '../fsck/check.ts'
import { artifactOf, cannotCompare, entryOf, named, type Place } from '../fsck/entries.ts'
import type { LoggedDetail, PlacedRow } from '../fsck/logged.ts'
import { questionsOf, type AuditedLogs, type Ordered, type Question } from './audit-questions.ts'
import { idsNotInRuns } from './check-runs.ts'

const JOIN_TRANSACTION = 'LEFT JOIN business_transactions AS t USING (business_transaction_id)'

export function auditedRows(audited: AuditedLogs): (table: ArtifactTable) => LoggedDetail {
  const questions = questionsOf(audited)
  return (table) => {
    const { [table.table]: question } = questions
    return {
      columns: { ...table.columns, ...question?.columns },
      joins: `${table.joined === true ? JOIN_TRANSACTION : ''} ${question?.joins ?? ''}`,
      async examine(rows, { sql }) {
        const ordered = (await question?.ordered(rows, audited, sql)) ?? []
        const findings: Finding[] = []
        // One after the other: they share a connection.
        for (const [i, row] of rows.entries()) {
          const problems = await problemsOf(row, { table, question, ordered: ordered[i] ?? [], audited })
          findings.push(...problems.map((problem) => ({ table: table.table, key: row.key, problem })))
        }
        return [...findings, ...(await unfindable(table, rows, { sql, audited }))]
      },
    }
  }
}

interface Examined {
  readonly table: ArtifactTable
  readonly question: Question | undefined
  readonly ordered: readonly Ordered[]
  readonly audited: AuditedLogs
}

async function problemsOf(
  row: PlacedRow,
  { table, question, ordered, audited }: Examined,
): Promise<readonly string[]> {
  const { columns, place } = row
  try {
    // An artifact that still waits in the queue must be readable too.
    artifactOf(table, columns)
    const own = question?.own?.(row, audited) ?? []
    if (place === 'queued') return own
    const found = await entryOf(table, { columns, place }, audited)
    if (typeof found === 'string') return [...own, found]
    const { artifact, entry, late } = found
    const isFirst = audited.coverages.get(place.log)?.claim(place.index) ?? true
    return [
      ...own,
      ...(isFirst ? [] : [`is a second row of ${named(place, audited.logs)}`]),
      ...miscounted(artifact, entry, place, audited),
      ...(late ? [] : await disordered(ordered, place, audited)),
    ]
  } catch (error) {
    return [cannotCompare(error)]
  }
}

/** Rows whose id is not in the run of ids that covers their entry: a proof of absence would deny them. */
async function unfindable(
  table: ArtifactTable,
  rows: readonly PlacedRow[],
  { sql, audited }: { readonly sql: Sql; readonly audited: AuditedLogs },
): Promise<Finding[]> {
  const items = rows.flatMap(({ key, columns, place }) => {
    if (place === 'queued') return []
    try {
      const { kind, id } = artifactOf(table, columns)
      return [{ ...place, kind, id, key }]
    } catch {
      // Reported above.
      return []
    }
  })
  const denied = await idsNotInRuns(sql, items, (log) => audited.coverages.get(log)?.size)
  return denied.map(({ key, ...place }) => ({
    table: table.table,
    key,
    problem: `has an id that the log denies: it is not in the run of ids that covers ${named(place, audited.logs)}`,
  }))
}

function miscounted(
  { streams, named: maybe = {} }: Artifact,
  entry: LogEntry,
  place: Place,
  audited: AuditedLogs,
): string[] {
  const salt = audited.logs.get(place.log)?.salt
  if (salt === undefined) return ['is in a log that the database does not know']
  return streamNames.flatMap((stream) => {
    const value = streams[stream] ?? maybe[stream]
    const counted = entry.streams.find((one) => one.stream === stream)
    if (counted === undefined)
      return streams[stream] === undefined
        ? []
        : [`is not counted for its ${stream} by ${named(place, audited.logs)}`]
    return value !== undefined && counted.tag === streamTag({ salt, stream, value }, sha256)
      ? []
      : [`is counted for another ${stream} by ${named(place, audited.logs)}`]
  })
}

/** Finds entries in the wrong order. An artifact that was logged late does not show when it was made. */
async function disordered(
  ordered: readonly Ordered[],
  place: Place,
  audited: AuditedLogs,
): Promise<string[]> {
  const problems: string[] = []
  for (const { what, place: other, after, authorization } of ordered) {
    const own = authorization ?? place
    const [first, second] = after === true ? [own, other] : [other, own]
    if (first.log < second.log || (first.log === second.log && first.index < second.index)) continue
    const isLate = async (one: Place) => isLateKind((await audited.readEntry(one)).kind)
    if ((await isLate(other)) || (authorization !== undefined && (await isLate(authorization)))) continue
    const side = after === true ? 'after' : 'before'
    const is = authorization === undefined ? 'is' : 'belongs to the authorization that is'
    problems.push(`${is} ${named(own, audited.logs)}, ${side} ${what} (${named(other, audited.logs)})`)
  }
  return problems
}
