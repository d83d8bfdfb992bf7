// log_queue: committed artifacts that wait for their place in the evidence log (docs/design-notes.md "The evidence log").
import { uuidOf } from '../../formats/bytes.ts'
import { errorText } from '../../formats/text/error-text.ts'
import { randomUUID } from 'node:crypto'
import type { EventMark } from '../../formats/schemas/event-types.ts'
import { streamNames, type StreamName } from '../../formats/log/entry.ts'
import type { LoggedKind } from '../../formats/log/ids.ts'
import type { RowOf } from '../postgres/rows.ts'
import type { Sql } from '../postgres/sql.ts'
import type { Statement } from '../postgres/statement-batch.ts'

/** `late-…` is an artifact that is logged after the fact; `previous` is the first entry of a reopened log. The sequencer
 * makes `previous`, `heads` and `ids`. */
type QueuedKind = LoggedKind | `late-${LoggedKind}` | 'previous'

export interface QueuedEntry {
  readonly kind: QueuedKind
  /** SHA-256 in lowercase hex. */
  readonly hash: string
  /**
   * The id of the artifact: the businessTransactionId for the artifacts of an execution, UUIDs in lower case. The log does not show it; the sorted
   * runs of ids (src/formats/log/ids.ts) prove by it which artifacts are absent.
   */
  readonly id: string
  readonly streams: { readonly [name in StreamName]?: string }
  /** The mark says which event it is, where its kind does not say so. */
  readonly event?: EventMark
  /** The callerId that may follow the event, if it is not that of the stream. */
  readonly owner?: string
}

/** The columns by which a row of evidence is found in the log: both null where it is not logged. */
export const positionColumns = {
  /** UUID of a row of log_queue. Each commit has one of its own: it names neither a batch of executions nor one of signatures. */
  logBatch: 'uuid?',
  /** From 0. */
  logOrdinal: 'smallint?',
} as const
export type LogPosition = RowOf<typeof positionColumns>

/** The entries of one commit. */
export interface LogEntries {
  /** Queues an entry. Calls `entry` only where there is a log. @returns the columns by which its row finds it */
  readonly add: (entry: () => QueuedEntry) => LogPosition
  /**
   * Stores the queued entries by one statement, or by none without entries. Call it after the last `add`, in the transaction that stores the
   * evidence.
   */
  readonly statements: () => Statement[]
}

export function startLogEntries(): LogEntries {
  const logBatch = randomUUID()
  const entries: QueuedEntry[] = []
  return {
    add: (entry) => ({ logBatch, logOrdinal: entries.push(entry()) - 1 }),
    statements: () =>
      entries.length === 0
        ? []
        : [
            {
              name: 'log_queue_insert',
              text: 'INSERT INTO log_queue (batch, entries) VALUES ($1::uuid, $2::text)',
              rows: [[logBatch, queuedText(entries)]],
            },
          ],
  }
}

/** The members that entries have in common. */
type Shared = Omit<QueuedEntry, 'hash' | 'id'>
/** An entry: its hash, its id, and the position of its other members in `shared`. */
type Item = readonly [hash: string, id: string, shared: number]

/** A row's `entries`, as JSON: in the first form where an id is no UUID, and in all rows of earlier versions. */
type Stored =
  | { readonly shared: readonly Shared[]; readonly entries: readonly Item[] }
  /** Each entry has its position in `shared`; all hashes and ids are joined, 48 bytes for each entry, as one Base64. */
  | { readonly shared: readonly Shared[]; readonly positions: readonly number[]; readonly packed: string }

const HASH_DIGITS = 64
const ITEM_DIGITS = 96
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The entries of a row. They go through PostgreSQL's own log (WAL), so shared members are written once, and hashes and UUIDs in Base64. */
function queuedText(entries: readonly QueuedEntry[]): string {
  // The entries of a commit have the same few kinds, callers and policies, so each combination is written once.
  const positions = new Map<string, number>()
  const shared: Shared[] = []
  const items = entries.map((entry): Item => {
    const { kind, hash, id, streams, event = '', owner = '' } = entry
    let name = `${kind} ${event} ${owner}`
    for (const stream of streamNames) name += `\0${streams[stream] ?? ''}`
    let position = positions.get(name)
    if (position === undefined) {
      const { hash: _hash, id: _id, ...rest } = entry
      position = shared.push(rest) - 1
      positions.set(name, position)
    }
    return [hash, id, position]
  })
  const isPacked = items.every(([, id]) => UUID.test(id))
  return JSON.stringify((isPacked ? packed(shared, items) : { shared, entries: items }) satisfies Stored)
}

/** The entries in the text of a row, also of a row from an earlier version. */
export function queuedEntries(text: string): QueuedEntry[] {
  const stored = JSON.parse(text) as Stored
  const items = 'packed' in stored ? unpacked(stored) : stored.entries
  return items.map(([hash, id, position]) => ({ ...stored.shared[position]!, hash, id }))
}

type Packed = Extract<Stored, { packed: string }>

function packed(shared: readonly Shared[], items: readonly Item[]): Packed {
  let digits = ''
  for (const [hash, id] of items) digits += hash + id
  const bytes = Buffer.from(digits.replaceAll('-', ''), 'hex')
  return { shared, positions: items.map(([, , position]) => position), packed: bytes.toString('base64') }
}

function unpacked({ positions, packed: base64 }: Packed): Item[] {
  const digits = Buffer.from(base64, 'base64').toString('hex')
  return positions.map((position, i) => {
    const hash = digits.slice(i * ITEM_DIGITS, i * ITEM_DIGITS + HASH_DIGITS)
    const id = digits.slice(i * ITEM_DIGITS + HASH_DIGITS, (i + 1) * ITEM_DIGITS)
    return [hash, uuidOf(id), position]
  })
}

/** The position of an artifact that is not logged. */
export const unlogged: LogPosition = { logBatch: null, logOrdinal: null }

/** With LOG=off. */
export const notLogged: LogEntries = { add: () => unlogged, statements: () => [] }

/** The most rows that one transaction takes: the sequencer then computes for 0.1 s, and its connection may idle for little more than 2 s. */
export const ROWS_MAX = 512
const BYTES_MAX = 1200 * 1024

export interface QueuedBatch {
  /** UUID. */
  readonly batch: string
  readonly entries: readonly QueuedEntry[]
}

interface TakenBatches {
  readonly batches: readonly QueuedBatch[]
  /** The queue may have more. */
  readonly more: boolean
  /** Takes them out of the queue; call it in the same transaction. */
  readonly remove: () => Statement[]
}

/** Takes the oldest batches of the queue. Only under the lock of the log: no other instance takes them, and their order is that of the log. */
export async function takeQueued(sql: Sql): Promise<TakenBatches> {
  const { rows } = await sql.query<{ seq: string; batch: string; entries: string | null }>({
    name: 'log_queue_oldest',
    text: `
      SELECT seq, batch, CASE WHEN before < ${BYTES_MAX} THEN entries END AS entries
      FROM (
        SELECT seq, batch, entries, sum(octet_length(entries)) OVER (ORDER BY seq) - octet_length(entries) AS before
        FROM (SELECT seq, batch, entries FROM log_queue ORDER BY seq LIMIT ${ROWS_MAX}) AS oldest
      ) AS summed
      ORDER BY seq`,
  })
  const taken = rows.flatMap(({ seq, batch, entries }) =>
    entries === null ? [] : [{ seq, batch, entries: readQueued(seq, entries) }],
  )
  return {
    batches: taken,
    more: rows.length === ROWS_MAX || taken.length < rows.length,
    remove: () => (taken.length === 0 ? [] : [removal(taken.map(({ seq }) => seq))]),
  }
}

/** @throws Error with a sentence that names the row */
export function readQueued(seq: string, entries: string): QueuedEntry[] {
  try {
    return queuedEntries(entries)
  } catch (cause) {
    throw new Error(`Row ${seq} of log_queue cannot be read: ${errorText(cause)}.`, { cause })
  }
}

/** By each number, not by a range: a commit that is slow may have added a smaller number since. */
function removal(seqs: readonly string[]): Statement {
  return {
    name: 'log_queue_remove',
    text: 'DELETE FROM log_queue WHERE seq = ANY ($1::bigint[])',
    rows: [[`{${seqs.join(',')}}`]],
  }
}
