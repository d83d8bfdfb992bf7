// An audit of the log checks each stored artifact: that its entry is its own, that its authority stands before it, and that the promise of
// its receipt was kept.
import { isLateKind } from '../../formats/log/entry.ts'
import { streamNames, streamTag, type LogEntry } from '../../formats/log/entry.ts'
import { sha256 } from '../../store/sha256.ts'
import type { Artifact, ArtifactRow, ArtifactTable } from '../../store/tables/artifacts.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import type { Finding } from '../fsck/check.ts'
import { artifactOf, cannotCompare, entryOf, named, type Place } from '../fsck/entries.ts'
import { findPlaces, type LoggedDetail, type LoggedRow } from '../fsck/logged.ts'
import type { Tools } from '../fsck/tools.ts'
import { receiptProblems, type CoveredLogs } from './audit-receipts.ts'
import { idsNotInRuns } from './check-runs.ts'

type PlacedRow = LoggedRow & { readonly place: Place | 'queued' }

interface AuditedLogs extends CoveredLogs, Pick<Tools, 'readEntry'> {
  /**
   * The changes that policies, webhook rules, approvers' keys and connectors came into effect by, and that revoked keys:
   * `policy <name>/<version>`, `rules <provider>/<hash>`, `approver <id>:<key id>`, `connector <version>`, `revoked <id>:<key id>`.
   */
  readonly authority: ReadonlyMap<string, Place>
}

/** The columns that the rules below read, beside those that make the entry. */
const MORE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  receipts: { intentBatch: 'i.log_batch::text', intentOrdinal: 'i.log_ordinal::text' },
  approvals: { consumedBy: 'c.consumed_by::text', keyId: `c.approver_id || ':' || c.key_id` },
}
/** Only where one was ever registered: a record has some 9 KB. */
const CONNECTOR = { connector: `r.body::json #>> '{executions,0,evidence,connector,connectorVersion}'` }
const JOIN_RECORD = 'LEFT JOIN trust_records AS r USING (business_transaction_id)'
const JOIN_TRANSACTION = 'LEFT JOIN business_transactions AS t USING (business_transaction_id)'
const JOIN_INTENT = 'LEFT JOIN execution_intents AS i USING (business_transaction_id)'

export function auditedRows(audited: AuditedLogs): LoggedDetail {
  const hasConnectors = audited.authority.keys().some((name) => name.startsWith('connector '))
  const readsConnector = (table: string) => hasConnectors && table === 'receipts'
  return {
    columns: ({ table, columns }) => ({
      ...columns,
      ...MORE[table],
      ...(readsConnector(table) ? CONNECTOR : {}),
    }),
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
  /** The place of the authorization that the row belongs to, where that has an order and the row has none. */
  readonly authorization?: Place
}

async function problemsOf(
  table: ArtifactTable,
  { columns, place }: PlacedRow,
  { ordered, audited }: { readonly ordered: readonly Ordered[]; readonly audited: AuditedLogs },
): Promise<string[]> {
  try {
    // Also of what waits in the queue it must be readable.
    artifactOf(table, columns)
    const own = table.table === 'receipts' ? receiptProblems(columns['body'] ?? '', place, audited) : []
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

/** Reads the places that must stand before or after each of the rows. */
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
      by('the change that approved its policy', `policy ${policyIn(columns['transaction'])}`),
    )
  if (table === 'receipts') {
    const intents = await placesOf(
      sql,
      rows.map(({ columns }) => positionOf(columns)),
    )
    return intents.map((place, i) =>
      place === undefined
        ? []
        : [
            { what: 'its authorization', place },
            ...by(
              'the change that registered its connector',
              `connector ${rows[i]!.columns['connector']}`,
            ).map((registration) => ({ ...registration, authorization: place })),
          ],
    )
  }
  if (table === 'provider_confirmations')
    return rows.map(({ columns }) =>
      by('the change that approved its rules', `rules ${rulesIn(columns['body'])}`),
    )
  if (table !== 'approvals') return rows.map(() => [])
  const users = await readIntentPositions(
    sql,
    rows.flatMap(({ columns: { consumedBy } }) => consumedBy || []),
  )
  const used = await placesOf(
    sql,
    rows.map(({ columns }) => users.get(columns['consumedBy'] ?? '')),
  )
  return rows.map(({ columns }, i) => {
    const place = used[i]
    return [
      ...by("the change that enrolled its approver's key", `approver ${columns['keyId']}`),
      ...(place === undefined
        ? []
        : [
            { what: 'the authorization that used it', place, after: true as const },
            ...by("the change that revoked its approver's key", `revoked ${columns['keyId']}`).map(
              (revocation) => ({ ...revocation, after: true as const, authorization: place }),
            ),
          ]),
    ]
  })
}

/** Undefined where the transaction cannot be read: another rule says so. */
function policyIn(transaction = ''): string | undefined {
  try {
    const { policy } = JSON.parse(transaction) as { policy: { name: string; version: string } }
    return `${policy.name}/${policy.version}`
  } catch {
    return undefined
  }
}

/** Undefined where the confirmation cannot be read: another rule says so. */
function rulesIn(confirmation = ''): string | undefined {
  try {
    const { provider, rulesHash } = JSON.parse(confirmation) as { provider: string; rulesHash: string }
    return `${provider}/${rulesHash}`
  } catch {
    return undefined
  }
}

type Position = Pick<LoggedRow, 'logBatch' | 'logOrdinal'>

function positionOf({ intentBatch = '', intentOrdinal = '' }: ArtifactRow): Position | undefined {
  if (intentBatch === '') return undefined
  return { logBatch: intentBatch, logOrdinal: intentOrdinal === '' ? null : Number(intentOrdinal) }
}

/** Undefined for what is not logged, or not yet. */
async function placesOf(
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

/** Finds disorder. An artifact that was logged late shows nothing of when it was made. */
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
