// log_queue: what is committed and waits for its place in the evidence log (docs/design-notes.md "The evidence log").
import { randomUUID } from 'node:crypto'
import type { EventMark } from '../events/types.ts'
import { streamNames, type StreamName } from '../log/entry.ts'
import type { Sql } from './sql.ts'
import type { Step } from './statement-batch.ts'

/** What writers put into the log. */
export type LoggedKind =
  | 'authorization'
  | 'receipt'
  | 'refusal'
  | 'audit-event'
  | 'governance-change'
  | 'intent-transition'
  | 'provider-confirmation'
  | 'approval'
  | 'webhook'
  | 'approval-request'
  | 'approval-request-close'

/** An artifact that is logged after the fact; `previous` is what a reopened log begins with. The sequencer adds `heads`. */
type QueuedKind = LoggedKind | `late-${LoggedKind}` | 'previous'

export interface QueuedEntry {
  readonly kind: QueuedKind
  /** SHA-256 in lowercase hex. */
  readonly hash: string
  /**
   * Of the artifact, the businessTransactionId for what an execution makes; UUIDs in lower case. It is not shown in the log, and the sorted
   * runs of ids (src/core/log/ids.ts) prove by it what is not there.
   */
  readonly id: string
  readonly streams: { readonly [name in StreamName]?: string }
  /** Of which event it is, where its kind does not say so. */
  readonly event?: EventMark
  /** The callerId of whoever may follow the event, where it is not that of the stream. */
  readonly owner?: string
}

/** What a row of evidence keeps, to be found in the log: both null where it is not logged. */
export interface LogPosition {
  /** UUID. */
  readonly logBatch: string | null
  /** From 0. */
  readonly logOrdinal: number | null
}

/** The entries of one commit. */
export interface LogBatch {
  /** Calls `entry` only where there is a log. */
  readonly add: (entry: () => QueuedEntry) => LogPosition
  /** Queues what was added, by one statement, and by none where nothing was. It belongs into the transaction that stores the evidence. */
  readonly steps: () => Step[]
}

export function startLogBatch(): LogBatch {
  const logBatch = randomUUID()
  const entries: Item[] = []
  // The entries of a batch have the same few kinds, callers and policies, so each combination is written once.
  const positions = new Map<string, number>()
  const shared: Shared[] = []
  return {
    add(entry) {
      const added = entry()
      const { kind, hash, id, streams, event = '', owner = '' } = added
      let name = `${kind} ${event} ${owner}`
      for (const stream of streamNames) name += `\0${streams[stream] ?? ''}`
      let position = positions.get(name)
      if (position === undefined) {
        const { hash: _hash, id: _id, ...rest } = added
        position = shared.push(rest) - 1
        positions.set(name, position)
      }
      return { logBatch, logOrdinal: entries.push([hash, id, position]) - 1 }
    },
    steps: () =>
      entries.length === 0
        ? []
        : [
            {
              name: 'log_queue_insert',
              text: 'INSERT INTO log_queue (batch, entries) VALUES ($1::uuid, $2::text)',
              rows: [[logBatch, JSON.stringify({ shared, entries } satisfies Stored)]],
            },
          ],
  }
}

/** What entries have in common. */
type Shared = Omit<QueuedEntry, 'hash' | 'id'>
/** An entry; the rest of it by its position in `Stored.shared`. */
type Item = readonly [hash: string, id: string, shared: number]

/** A row's `entries`, as JSON. */
interface Stored {
  readonly shared: readonly Shared[]
  readonly entries: readonly Item[]
}

/** Of what is not logged. */
export const unlogged: LogPosition = { logBatch: null, logOrdinal: null }

/** With LOG=off. */
export const notLogged: LogBatch = { add: () => unlogged, steps: () => [] }

/** What one transaction takes at most: the sequencer computes for 0.1 s then, and its connection may idle for little more than 2. */
const ROWS_MAX = 512
const BYTES_MAX = 2 * 1024 * 1024

export interface QueuedBatch {
  /** UUID. */
  readonly batch: string
  readonly entries: readonly QueuedEntry[]
}

interface TakenBatches {
  readonly batches: readonly QueuedBatch[]
  /** There may be others. */
  readonly more: boolean
  /** Takes them out of the queue: belongs into the same transaction. */
  readonly remove: () => Step[]
}

/** The oldest batches of the queue. Only under the lock of the log: nobody else takes them, and their order is that of the log. */
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
    entries === null ? [] : [{ seq, batch, entries: entriesOf(entries) }],
  )
  return {
    batches: taken,
    more: rows.length === ROWS_MAX || taken.length < rows.length,
    remove: () => (taken.length === 0 ? [] : [removal(taken.map(({ seq }) => seq))]),
  }
}

/** One by one, not from the first to the last: a commit that is slow may show a smaller one since. */
function removal(seqs: readonly string[]): Step {
  return {
    name: 'log_queue_remove',
    text: 'DELETE FROM log_queue WHERE seq = ANY ($1::bigint[])',
    rows: [[`{${seqs.join(',')}}`]],
  }
}

function entriesOf(text: string): QueuedEntry[] {
  const { shared, entries } = JSON.parse(text) as Stored
  return entries.map(([hash, id, position]) => ({ ...shared[position]!, hash, id }))
}
