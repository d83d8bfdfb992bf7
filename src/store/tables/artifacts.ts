// The tables of evidence that the log has entries of, and how the entries of a row follow from it. One row here for each table; each row is read
// by its key, on Citus with its distribution column.
import { canonicalize, type Json } from '../../formats/json/canonical.ts'
import { artifactEntry } from '../../formats/artifacts/entry.ts'
import { changeStreams } from '../../formats/artifacts/change-streams.ts'
import { sha256Hex } from '../sha256.ts'
import { isoTime } from '../postgres/sql.ts'
import type { LoggedKind, QueuedEntry } from './log-queue.ts'

export interface Artifact extends Pick<QueuedEntry, 'hash' | 'id'> {
  readonly kind: LoggedKind
  /** It is counted in these: their names exist. */
  readonly streams: QueuedEntry['streams']
  /** It is counted in these if their names existed when it was logged: what was refused, approved or proposed may name any. */
  readonly named?: QueuedEntry['streams']
}

/** The texts of `columns`. Where the database has null it is the empty text, which no column is otherwise. */
type Columns = readonly [string, string, string, string, string, string]

export interface ArtifactTable {
  readonly table: string
  /** The column, with the cast of its values. */
  readonly key: readonly [column: string, cast: 'uuid' | 'text']
  /** SQL of when a row was made, as text, over `c` and, where it is `joined`, `t`. */
  readonly createdAt: string
  /** The key is of several rows, with an `ordinal` each. */
  readonly numbered?: true
  /** SQL of what `artifacts` reads of a row `c`, as text: at most six. */
  readonly columns: readonly string[]
  /** The transaction is read too, as `t`. */
  readonly joined?: true
  /** Which rows have an artifact; left out: all. */
  readonly where?: string
  /** Oldest first. The place in the log that the row keeps is that of the last. @throws Error where the row cannot be read */
  readonly artifacts: (columns: Columns) => Artifact[]
}

/** In the order in which artifacts of the same millisecond were made: authority before what it allowed. */
export const artifactTables: readonly ArtifactTable[] = [
  {
    table: 'pending_changes',
    key: ['change_id', 'uuid'],
    createdAt: `coalesce(substring(c.resolved_body from '"resolvedAt":"([^"]*)"'), ${isoTime('c.proposed_at')})`,
    columns: ['c.change_id::text', 'c.kind', 'c.target', 'c.status', 'c.body', 'c.resolved_body'],
    artifacts([id, kind, target, status, ...bodies]) {
      const streams = changeStreams(kind, target)
      // A policy or approver exists once a change of it was approved.
      const counted = status === 'APPROVED' ? { streams } : { streams: {}, named: streams }
      return bodies
        .filter((body) => body !== '')
        .map((body) => ({ ...artifactEntry.governanceChange(body, sha256Hex), id, ...counted }))
    },
  },
  {
    table: 'approval_requests',
    key: ['request_id', 'uuid'],
    createdAt: isoTime('c.created_at'),
    columns: ['c.request_id::text', 'c.body'],
    artifacts: ([id, body]) => [
      { ...artifactEntry.approvalRequest(body, sha256Hex), id, streams: requestStreams(body) },
    ],
  },
  {
    table: 'approvals',
    key: ['approval_id', 'text'],
    createdAt: isoTime('c.delivered_at'),
    columns: ['c.approval_id', 'c.capability', 'c.approver_id', 'c.body'],
    artifacts([id, capability, approver, body]) {
      const { payload } = JSON.parse(body) as { payload: Json }
      const entry = artifactEntry.approval(canonicalize(payload), sha256Hex)
      return [{ ...entry, id, streams: { approver }, named: { capability } }]
    },
  },
  {
    table: 'approval_request_closes',
    key: ['close_id', 'uuid'],
    createdAt: isoTime('c.closed_at'),
    columns: ['c.close_id::text', 'c.body'],
    artifacts: ([id, body]) => [{ ...artifactEntry.approvalRequestClose(body, sha256Hex), id, streams: {} }],
  },
  {
    table: 'webhook_events',
    key: ['event_key', 'uuid'],
    createdAt: isoTime('c.received_at'),
    columns: ['c.event_key::text', 'c.body_sha256'],
    artifacts: ([id, hash]) => [{ ...artifactEntry.webhook(hash), id, streams: {} }],
  },
  {
    table: 'execution_intents',
    key: ['business_transaction_id', 'uuid'],
    createdAt: isoTime('t.created_at'),
    columns: ['c.business_transaction_id::text', 't.caller_id', 't.body', 't.execution_authorization'],
    joined: true,
    // The gateway releases for direct callers too: of those no authorization is stored.
    where: 't.execution_authorization IS NOT NULL',
    artifacts([id, caller, transaction, authorization]) {
      const { payload } = JSON.parse(authorization) as { payload: Json }
      const entry = artifactEntry.authorization(canonicalize(payload), sha256Hex)
      return [{ ...entry, id, streams: streamsOf(caller, transaction) }]
    },
  },
  {
    table: 'refusal_records',
    key: ['business_transaction_id', 'uuid'],
    createdAt: isoTime('c.created_at'),
    columns: ['c.business_transaction_id::text', 't.caller_id', 't.body', 'c.body'],
    joined: true,
    artifacts([id, caller, transaction, body]) {
      const { capability, policy } = streamsOf(caller, transaction)
      const counted = { streams: { caller, policy }, named: { capability } }
      return [{ ...artifactEntry.refusal(sha256Hex(body)), id, ...counted }]
    },
  },
  {
    table: 'receipts',
    key: ['business_transaction_id', 'uuid'],
    createdAt: `substring(c.body from '"issuedAt":"([^"]*)"')`,
    numbered: true,
    columns: ['c.business_transaction_id::text', 't.caller_id', 't.body', 'c.body'],
    joined: true,
    artifacts([id, caller, transaction, body]) {
      const { receiptHash } = JSON.parse(body) as Record<string, string>
      if (receiptHash === undefined) throw new Error('it has no receiptHash')
      return [{ ...artifactEntry.receipt(receiptHash), id, streams: streamsOf(caller, transaction) }]
    },
  },
  {
    table: 'intent_transitions',
    key: ['transition_id', 'uuid'],
    createdAt: isoTime('c.at'),
    columns: ['c.transition_id::text', 'c.body'],
    artifacts: ([id, body]) => [{ ...artifactEntry.intentTransition(body, sha256Hex), id, streams: {} }],
  },
  {
    table: 'provider_confirmations',
    key: ['confirmation_id', 'uuid'],
    createdAt: isoTime('c.at'),
    columns: ['c.confirmation_id::text', 'c.body', 't.caller_id', 't.body', 't.execution_authorization'],
    joined: true,
    artifacts([id, body, caller, transaction, authorization]) {
      const streams = confirmationStreams({ caller, transaction, isReleased: authorization !== '' })
      return [{ ...artifactEntry.providerConfirmation(body, sha256Hex), id, streams }]
    },
  },
  {
    table: 'audit_events',
    key: ['event_id', 'uuid'],
    createdAt: isoTime('c.occurred_at'),
    columns: ['c.event_id::text', 'c.body'],
    artifacts: ([id, body]) => [{ ...artifactEntry.auditEvent(body, sha256Hex), id, streams: {} }],
  },
]

/**
 * The artifacts of a row, oldest first.
 * @param row the texts of its `columns`
 * @throws Error where it cannot be read
 */
export function artifactsOf(table: ArtifactTable, row: readonly (string | null)[]): Artifact[] {
  const [a = '', b = '', c = '', d = '', e = '', f = ''] = row.map((text) => text ?? '')
  return table.artifacts([a, b, c, d, e, f])
}

/**
 * Names the streams that a provider's confirmation is counted in.
 * @param of.isReleased an action that was released exists; one that was not may be any text
 */
export function confirmationStreams(of: {
  readonly caller: string
  readonly transaction: string
  readonly isReleased: boolean
}): QueuedEntry['streams'] {
  const { caller, transaction, isReleased } = of
  return isReleased ? { caller, capability: streamsOf(caller, transaction).capability } : { caller }
}

/**
 * Names the streams that an approval request is counted in: it is opened only for a policy that governs the action.
 * @param body of the request
 */
export function requestStreams(body: string): QueuedEntry['streams'] {
  const { requestedBy, capability, policy } = JSON.parse(body) as {
    requestedBy: string
    capability: string
    policy: { name: string }
  }
  return { caller: requestedBy, capability, policy: policy.name }
}

/** @param transaction the body of the business transaction */
function streamsOf(caller: string, transaction: string) {
  const { intent, policy } = JSON.parse(transaction) as {
    intent: { action: string }
    policy: { name: string }
  }
  return { caller, capability: intent.action, policy: policy.name }
}
