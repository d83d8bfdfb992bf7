// log_queue: what is committed and waits for its place in the evidence log (docs/design-notes.md "The evidence log").
import { randomUUID } from 'node:crypto'
import type { StreamName } from '../log/entry.ts'
import type { Sql } from './sql.ts'
import type { Step } from './statement-batch.ts'

/** What writers put into the log. The log itself adds `heads`. */
export type LoggedKind =
  | 'authorization'
  | 'receipt'
  | 'refusal'
  | 'audit-event'
  | 'governance-change'
  | 'intent-transition'
  | 'approval'
  | 'webhook'

export interface QueuedEntry {
  readonly kind: LoggedKind
  /** SHA-256 in lowercase hex. */
  readonly hash: string
  /** Of the artifact. It is not shown in the log. */
  readonly id: string
  readonly streams: { readonly [name in StreamName]?: string }
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
  const items: (readonly [string, string, string, object])[] = []
  return {
    add(entry) {
      const { kind, hash, id, streams } = entry()
      items.push([kind, hash, id, streams])
      return { logBatch, logOrdinal: items.length - 1 }
    },
    steps: () =>
      items.length === 0
        ? []
        : [
            {
              name: 'log_queue_insert',
              text: 'INSERT INTO log_queue (batch, entries) VALUES ($1::uuid, $2::text)',
              rows: [[logBatch, JSON.stringify(items)]],
            },
          ],
  }
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

/** Takes the oldest batches out of the queue. `more`: there may be others. Only under the lock of the log: their order is that of the log. */
export async function takeQueued(sql: Sql): Promise<{ batches: QueuedBatch[]; more: boolean }> {
  const { rows } = await sql.query<{ batch: string; entries: string; more: boolean }>({
    name: 'log_queue_take',
    text: `
      WITH oldest AS MATERIALIZED (SELECT seq, octet_length(entries) AS bytes FROM log_queue ORDER BY seq LIMIT ${ROWS_MAX}),
        fitting AS MATERIALIZED (
          SELECT seq FROM (SELECT seq, sum(bytes) OVER (ORDER BY seq) - bytes AS before FROM oldest) AS summed
          WHERE before < ${BYTES_MAX}),
        taken AS (DELETE FROM log_queue WHERE seq IN (SELECT seq FROM fitting) RETURNING seq, batch, entries)
      SELECT batch, entries,
        (SELECT count(*) FROM oldest) = ${ROWS_MAX} OR (SELECT count(*) FROM oldest) > (SELECT count(*) FROM fitting) AS more
      FROM taken ORDER BY seq`,
  })
  return {
    batches: rows.map(({ batch, entries }) => ({ batch, entries: entriesOf(entries) })),
    more: rows[0]?.more === true,
  }
}

function entriesOf(text: string): QueuedEntry[] {
  const items = JSON.parse(text) as [LoggedKind, string, string, QueuedEntry['streams']][]
  return items.map(([kind, hash, id, streams]) => ({ kind, hash, id, streams }))
}
