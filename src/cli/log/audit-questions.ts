// Questions of a log audit about the rows of a table, in addition to whether each has its entry: that the authority of a row comes before it in the
// log, and that the promise of a receipt was kept. Other tables need no further question.
import { canonicalize } from '../../formats/json/canonical.ts'
import type { Members } from '../../formats/json/members.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { storedJson } from '../../store/postgres/json.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import type { ArtifactRow } from '../../store/tables/artifacts.ts'
import type { Place } from '../fsck/entries.ts'
import { findPlaces, type LoggedRow, type PlacedRow } from '../fsck/logged.ts'
import type { Tools } from '../fsck/tools.ts'
import type { Coverage } from './coverage.ts'

export interface AuditedLogs extends Pick<Tools, 'logs' | 'readEntry'> {
  /** Each log that has a checkpoint has a coverage. */
  readonly coverages: ReadonlyMap<number, Coverage>
  /** Milliseconds since 1970, of the snapshot. */
  readonly nowMs: number
  /**
   * The changes that put policies, webhook rules, approvers' keys and connectors into effect, and that revoked keys:
   * `policy <name>/<version>`, `rules <provider>/<hash>`, `approver <id>:<key id>`, `connector <version>`, `revoked <id>:<key id>`.
   */
  readonly authority: ReadonlyMap<string, Place>
}

/** An entry that must be before that of a row, or after it. */
export interface Ordered {
  readonly what: string
  readonly place: Place
  readonly after?: true
  /** The place of the authorization that the row belongs to, where that has an order and the row has none. */
  readonly authorization?: Place
}

/** The questions about the rows of a table. */
export interface Question {
  /** SQL of the values that it needs, by name. */
  readonly columns?: Readonly<Record<string, string>>
  readonly joins?: string
  readonly ordered: (rows: readonly PlacedRow[], audited: AuditedLogs, sql: Sql) => Promise<Ordered[][]>
  /** Finds what is wrong with the row itself. */
  readonly own?: (row: PlacedRow, audited: AuditedLogs) => string[]
}

/** @returns the question of a table, by its name */
export function questionsOf({ authority }: AuditedLogs): Readonly<Record<string, Question>> {
  const hasConnectors = authority.keys().some((name) => name.startsWith('connector '))
  return {
    business_transactions: authorizations,
    execution_intents_before: authorizations,
    provider_confirmations,
    receipts: receipts(hasConnectors),
    approvals,
  }
}

/** The change of a name in `authority`; none where it is not in the log. */
function changeOf({ authority }: AuditedLogs, what: string, name: string): Ordered[] {
  const place = authority.get(name)
  return place === undefined ? [] : [{ what, place }]
}

const authorizations: Question = {
  ordered: async (rows, audited) =>
    rows.map(({ columns }) =>
      changeOf(audited, 'the change that approved its policy', `policy ${policyIn(columns['transaction'])}`),
    ),
}

const provider_confirmations: Question = {
  ordered: async (rows, audited) =>
    rows.map(({ columns }) =>
      changeOf(audited, 'the change that approved its rules', `rules ${rulesIn(columns['body'])}`),
    ),
}

/** @param hasConnectors whether a connector was ever registered: only then is that of each receipt read, from a record of some 9 KB */
const receipts = (hasConnectors: boolean): Question => ({
  columns: {
    intentBatch: 'coalesce(t.log_batch, b.log_batch)::text',
    intentOrdinal: 'coalesce(t.log_ordinal, b.log_ordinal)::text',
    ...(hasConnectors && {
      connector: `${storedJson('r.body')} #>> '{executions,0,evidence,connector,connectorVersion}'`,
    }),
  },
  // The transaction is `t`, and the release before kept the place of its authorization elsewhere.
  joins: `LEFT JOIN execution_intents_before AS b USING (business_transaction_id)
    ${hasConnectors ? 'LEFT JOIN trust_records AS r USING (business_transaction_id)' : ''}`,
  own: ({ columns, place }, audited) => receiptProblems(columns['body'] ?? '', place, audited),
  async ordered(rows, audited, sql) {
    const intents = await placesOf(
      sql,
      rows.map(({ columns }) => positionOf(columns)),
    )
    return intents.map((place, i) => {
      if (place === undefined) return []
      const registered = changeOf(
        audited,
        'the change that registered its connector',
        `connector ${rows[i]!.columns['connector']}`,
      )
      return [
        { what: 'its authorization', place },
        ...registered.map((registration) => ({ ...registration, authorization: place })),
      ]
    })
  },
})

const approvals: Question = {
  columns: { consumedBy: 'c.consumed_by::text', keyId: `c.approver_id || ':' || c.key_id` },
  async ordered(rows, audited, sql) {
    const users = await readIntentPositions(
      sql,
      rows.flatMap(({ columns: { consumedBy } }) => consumedBy || []),
    )
    const used = await placesOf(
      sql,
      rows.map(({ columns }) => users.get(columns['consumedBy'] ?? '')),
    )
    return rows.map(({ columns: { keyId } }, i) => {
      const place = used[i]
      const enrolled = changeOf(audited, "the change that enrolled its approver's key", `approver ${keyId}`)
      if (place === undefined) return enrolled
      const revoked = changeOf(audited, "the change that revoked its approver's key", `revoked ${keyId}`)
      return [
        ...enrolled,
        { what: 'the authorization that used it', place, after: true },
        ...revoked.map((revocation) => ({ ...revocation, after: true as const, authorization: place })),
      ]
    })
  },
}

/** Undefined where the transaction cannot be read: another rule reports it. */
function policyIn(transaction = ''): string | undefined {
  try {
    const { policy } = JSON.parse(transaction) as { policy: { name: string; version: string } }
    return `${policy.name}/${policy.version}`
  } catch {
    return undefined
  }
}

/** Undefined where the confirmation cannot be read: another rule reports it. */
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

/** Undefined if it is not logged, or not yet. */
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
    `SELECT business_transaction_id AS id, coalesce(t.log_batch, b.log_batch) AS "logBatch", coalesce(t.log_ordinal, b.log_ordinal) AS "logOrdinal"
     FROM business_transactions AS t LEFT JOIN execution_intents_before AS b USING (business_transaction_id)
     WHERE business_transaction_id = ANY($1::uuid[])`,
    [ids],
  )
  return new Map(rows.filter(({ logBatch }) => logBatch !== null).map((row) => [row.id, row]))
}

/** The entry has the hash that a receipt states for itself, so this must be the hash of its content. */
function receiptProblems(body: string, place: Place | 'queued', audited: AuditedLogs): string[] {
  const receipt = JSON.parse(body) as Members
  const { signature: _, signatures: __, receiptHash, ...hashed } = receipt
  const holds = sha256Hex(canonicalize(hashed)) === receiptHash
  return [
    ...(holds ? [] : ['states a receiptHash that is not that of its content']),
    ...brokenPromise(receipt, place, audited),
  ]
}

/** A promise is broken where a checkpoint that was signed later does not cover the entry. Checkpoints that are not kept are not considered. */
function brokenPromise(
  { transparency: promised }: Members,
  place: Place | 'queued',
  { logs, coverages, nowMs }: AuditedLogs,
): string[] {
  const transparency = promised as { log: string; by: string } | undefined
  if (transparency === undefined) return []
  const { log, by } = transparency
  const promise = `promises to be under a checkpoint of ${log} by ${by}, and`
  const byMs = Date.parse(by)
  if (place === 'queued') return byMs < nowMs ? [`${promise} waits in the queue`] : []
  const origin = logs.get(place.log)?.origin
  // Entries that a log took and never signed, and those promised while it was frozen, are in a later log, which may still be in time.
  const isBefore = () => [...logs].some(([number, one]) => one.origin === log && number < place.log)
  if (origin !== log && !isBefore()) return [`${promise} is in ${origin}`]
  const coverage = coverages.get(place.log)
  if (coverage === undefined || place.index >= coverage.size)
    return byMs < nowMs ? [`${promise} is under none`] : []
  return coverage.isLate(place.index, byMs) ? [`${promise} a later one does not cover it`] : []
}
