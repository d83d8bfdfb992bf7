// What an audit of the log says of each stored artifact: that its entry is its own, that its authority stands before it, and that the promise of
// its receipt was kept.
import { errorText } from '../../core/error-text.ts'
import { isEntryOf, isLateKind } from '../../core/log/artifacts.ts'
import { streamNames, streamTag, type LogEntry } from '../../core/log/entry.ts'
import { sha256 } from '../../core/signing/sha256.ts'
import { artifactsOf, type Artifact, type ArtifactTable } from '../../core/tables/artifacts.ts'
import type { OpenedLog } from '../../core/tables/log-state.ts'
import type { Sql } from '../../core/tables/sql.ts'
import type { Finding } from '../fsck/check.ts'
import { findPlaces, type LoggedDetail, type LoggedRow, type Place } from '../fsck/logged.ts'
import { idsNotInRuns } from './check-runs.ts'
import type { Coverage } from './coverage.ts'
import { LogFault } from './source.ts'
import type { ReadEntry } from './stored.ts'

type PlacedRow = LoggedRow & { readonly place: Place | 'queued' }

interface AuditedLogs {
  readonly logs: ReadonlyMap<number, OpenedLog>
  /** Of the logs that have a checkpoint. */
  readonly coverages: ReadonlyMap<number, Coverage>
  readonly readEntry: ReadEntry
  /**
   * The changes that policies, approvers' keys and connectors came into effect by, and that revoked keys: `policy <name>/<version>`,
   * `approver <id>:<key id>`, `connector <version>`, `revoked <id>:<key id>`.
   */
  readonly authority: ReadonlyMap<string, Place>
  /** Milliseconds since 1970, of the snapshot. */
  readonly nowMs: number
}

/** What the rules below read beside what makes the entry. */
const MORE: Readonly<Record<string, readonly string[]>> = {
  receipts: ['i.log_batch::text', 'i.log_ordinal::text'],
  approvals: ['c.consumed_by::text', `c.approver_id || ':' || c.key_id`],
}
/** Only where one was ever registered: a record has some 9 KB. */
const CONNECTOR = `r.body::json #>> '{executions,0,evidence,connector,connectorVersion}'`
const JOIN_RECORD = 'LEFT JOIN trust_records AS r USING (business_transaction_id)'
const JOIN_TRANSACTION = 'LEFT JOIN business_transactions AS t USING (business_transaction_id)'
const JOIN_INTENT = 'LEFT JOIN execution_intents AS i USING (business_transaction_id)'

export function auditedRows(audited: AuditedLogs): LoggedDetail {
  const hasConnectors = audited.authority.keys().some((name) => name.startsWith('connector '))
  const readsConnector = (table: string) => hasConnectors && table === 'receipts'
  return {
    columns: ({ table, columns }) => [
      ...columns,
      ...(MORE[table] ?? []),
      ...(readsConnector(table) ? [CONNECTOR] : []),
    ],
    joins: ({ table, joined }) =>
      [
        joined === true ? JOIN_TRANSACTION : '',
        table === 'receipts' ? JOIN_INTENT : '',
        readsConnector(table) ? JOIN_RECORD : '',
      ].join(' '),
    async examine(table, rows, { sql }) {
      const ordered = await orderedWith(table, rows, { sql, audited })
      const findings: Finding[] = []
      // One after the other: they share a connection.
      for (const [i, row] of rows.entries()) {
        const problems = await problemsOf(table, row, { ordered: ordered[i]!, audited })
        findings.push(...problems.map((problem) => ({ table: table.table, key: row.key, problem })))
      }
      return [...findings, ...(await unfindable(table, rows, { sql, audited }))]
    },
  }
}

/** An entry that must stand before that of a row, or after it. */
interface Ordered {
  readonly what: string
  readonly place: Place
  readonly after?: true
  /** Of the authorization that the row belongs to, where that is what has an order, and not the row. */
  readonly authorization?: Place
}

async function problemsOf(
  table: ArtifactTable,
  { columns, place }: PlacedRow,
  { ordered, audited }: { readonly ordered: readonly Ordered[]; readonly audited: AuditedLogs },
): Promise<string[]> {
  try {
    const artifact = artifactOf(table, columns)
    const promise = table.table === 'receipts' ? brokenPromise(columns[3] ?? '', place, audited) : []
    if (place === 'queued') return promise
    const entry = await audited.readEntry(place)
    const match = isEntryOf(entry, artifact)
    if (match === undefined)
      return [
        ...promise,
        `is not what ${named(place, audited)} says: that is of another kind, or of other bytes`,
      ]
    audited.coverages.get(place.log)?.account(place.index)
    return [
      ...promise,
      ...miscounted(artifact, entry, place, audited),
      ...(match.late ? [] : await disordered(ordered, place, audited)),
    ]
  } catch (error) {
    if (error instanceof LogFault) return [`has no readable entry: ${error.message}`]
    return [`cannot be compared with its entry: ${errorText(error)}`]
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
  return (await idsNotInRuns(sql, items)).map(({ key, ...place }) => ({
    table: table.table,
    key,
    problem: `has an id that the log denies: it is not in the run of ids that covers ${named(place, audited)}`,
  }))
}

function named({ log, index }: Place, { logs }: AuditedLogs): string {
  return `entry ${index} of ${logs.get(log)?.origin ?? `log ${log}`}`
}

/** The newest of the row: the one whose place it keeps. */
function artifactOf(table: ArtifactTable, columns: LoggedRow['columns']): Artifact {
  const artifact = artifactsOf(table, columns.slice(0, table.columns.length)).at(-1)
  if (artifact === undefined) throw new Error('it has no bytes')
  return artifact
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
        : [`is not counted for its ${stream} by ${named(place, audited)}`]
    return value !== undefined && counted.tag === streamTag({ salt, stream, value }, sha256)
      ? []
      : [`is counted for another ${stream} by ${named(place, audited)}`]
  })
}

/** A promise is broken where a checkpoint that was signed later does not cover the entry. Of checkpoints that are not kept nothing is said. */
function brokenPromise(
  body: string,
  place: Place | 'queued',
  { logs, coverages, nowMs }: AuditedLogs,
): string[] {
  const { transparency } = JSON.parse(body) as { transparency?: { log: string; by: string } }
  if (transparency === undefined) return []
  const { log, by } = transparency
  const promise = `promises to be under a checkpoint of ${log} by ${by}, and`
  const byMs = Date.parse(by)
  if (place === 'queued') return byMs < nowMs ? [`${promise} waits in the queue`] : []
  const origin = logs.get(place.log)?.origin
  if (origin !== log) return [`${promise} is in ${origin}`]
  const coverage = coverages.get(place.log)
  if (coverage === undefined || place.index >= coverage.size)
    return byMs < nowMs ? [`${promise} is under none`] : []
  return coverage.isLate(place.index, byMs) ? [`${promise} a later one does not cover it`] : []
}

/** What must stand before or after each of the rows. */
async function orderedWith(
  { table }: ArtifactTable,
  rows: readonly PlacedRow[],
  { sql, audited: { authority } }: { readonly sql: Sql; readonly audited: AuditedLogs },
): Promise<Ordered[][]> {
  const by = (what: string, name: string): Ordered[] => {
    const place = authority.get(name)
    return place === undefined ? [] : [{ what, place }]
  }
  if (table === 'execution_intents')
    return rows.map(({ columns }) =>
      by('the change that approved its policy', `policy ${policyIn(columns[2])}`),
    )
  if (table === 'receipts') {
    const intents = await placesOf(
      sql,
      rows.map(({ columns }) => positionOf(columns[4], columns[5])),
    )
    return intents.map((place, i) =>
      place === undefined
        ? []
        : [
            { what: 'its authorization', place },
            ...by('the change that registered its connector', `connector ${rows[i]!.columns[6]}`).map(
              (registration) => ({ ...registration, authorization: place }),
            ),
          ],
    )
  }
  if (table !== 'approvals') return rows.map(() => [])
  const users = await readIntentPositions(
    sql,
    rows.flatMap(({ columns }) => columns[4] ?? []),
  )
  const used = await placesOf(
    sql,
    rows.map(({ columns }) => users.get(columns[4] ?? '')),
  )
  return rows.map(({ columns }, i) => {
    const place = used[i]
    return [
      ...by("the change that enrolled its approver's key", `approver ${columns[5]}`),
      ...(place === undefined
        ? []
        : [
            { what: 'the authorization that used it', place, after: true as const },
            ...by("the change that revoked its approver's key", `revoked ${columns[5]}`).map(
              (revocation) => ({ ...revocation, after: true as const, authorization: place }),
            ),
          ]),
    ]
  })
}

/** Undefined where the transaction cannot be read: another rule says so. */
function policyIn(transaction: string | null | undefined): string | undefined {
  try {
    const { policy } = JSON.parse(transaction ?? '') as { policy: { name: string; version: string } }
    return `${policy.name}/${policy.version}`
  } catch {
    return undefined
  }
}

type Position = Pick<LoggedRow, 'logBatch' | 'logOrdinal'>

function positionOf(
  batch: string | null | undefined,
  ordinal: string | null | undefined,
): Position | undefined {
  if (batch === null || batch === undefined) return undefined
  return { logBatch: batch, logOrdinal: ordinal === null || ordinal === undefined ? null : Number(ordinal) }
}

/** Undefined for what is not logged, or not yet. */
export async function placesOf(
  sql: Sql,
  positions: readonly (Position | undefined)[],
): Promise<(Place | undefined)[]> {
  const known = positions.filter((position) => position !== undefined)
  const places = new Map((await findPlaces(sql, known)).map((place, i) => [known[i], place]))
  return positions.map((position) => {
    const place = places.get(position)
    return place === 'queued' ? undefined : place
  })
}

async function readIntentPositions(sql: Sql, ids: readonly string[]): Promise<Map<string, Position>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql.query<{ id: string } & Position>(
    `SELECT business_transaction_id AS id, log_batch AS "logBatch", log_ordinal AS "logOrdinal"
     FROM execution_intents WHERE business_transaction_id = ANY($1::uuid[]) AND log_batch IS NOT NULL`,
    [ids],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** What was logged late shows nothing of when it was made. */
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
    problems.push(`${is} ${named(own, audited)}, ${side} ${what} (${named(other, audited)})`)
  }
  return problems
}
