// log_queue: what is committed and waits for its place in the evidence log (docs/design-notes.md "The evidence log").
import { randomUUID } from 'node:crypto'
import type { StreamName } from '../log/entry.ts'
import type { Step } from './statement-batch.ts'

/** What writers put into the log. The log itself adds `heads`. */
export type LoggedKind =
  | 'authorization'
  | 'receipt'
  | 'trust-record'
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
  readonly add: (entry: QueuedEntry) => LogPosition
  /** Queues what was added, by one statement, and by none where nothing was. It belongs into the transaction that stores the evidence. */
  readonly steps: () => Step[]
}

export function startLogBatch(): LogBatch {
  const logBatch = randomUUID()
  const items: (readonly [string, string, string, object])[] = []
  return {
    add({ kind, hash, id, streams }) {
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
