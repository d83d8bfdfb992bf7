// Reads of the log for routes and commands: where an artifact stands, and proofs from the stored tiles. Checkpoints are read by
// log-checkpoints.ts, bundles and entries by log-bundles.ts, tiles by log-tiles.ts. Whatever lies after the newest checkpoint is not signed:
// give the size of a checkpoint.
import { DamagedLog } from '../../formats/log/damaged.ts'
import { consistencyProof, inclusionProofs } from '../../formats/log/tiles.ts'
import { sha256 } from '../sha256.ts'
import { readEntries } from './log-bundles.ts'
import type { LoggedKind, LogPosition } from './log-queue.ts'
import { tileReader } from './log-tiles.ts'
import type { Sql } from '../postgres/sql.ts'

/**
 * Reads the place in the log that the row of an artifact keeps.
 * @param id as the artifact is read by elsewhere: the transaction's for what an execution makes; of its receipts the newest is meant
 * @param owner the caller whose it must be; null: anyone's. Only null finds what belongs to no caller
 * @returns undefined where there is none
 */
export async function findLogPosition(
  sql: Sql,
  { kind, id, owner }: { readonly kind: LoggedKind; readonly id: string; readonly owner: string | null },
): Promise<LogPosition | undefined> {
  const { rows } = await sql.query<{ batch: string | null; ordinal: number | null }>({
    name: `log_tree_find_${kind}`,
    text: FIND[kind],
    values: [id, owner],
  })
  return rows.map(({ batch, ordinal }) => ({ logBatch: batch, logOrdinal: ordinal }))[0]
}

const POSITION = 'SELECT evidence.log_batch AS batch, evidence.log_ordinal AS ordinal'
const byTransaction = (table: string) => `
  ${POSITION} FROM ${table} AS evidence JOIN business_transactions AS t USING (business_transaction_id)
  WHERE evidence.business_transaction_id = $1::uuid AND ($2::text IS NULL OR t.caller_id = $2::text)`
const byId = (table: string, column: string, owner: string) => `
  ${POSITION} FROM ${table} AS evidence
  WHERE evidence.${column} AND ($2::text IS NULL OR ${owner} = $2::text)`
/** The entry belongs to no caller. */
const NOBODY = 'NULL'

const FIND: Readonly<Record<LoggedKind, string>> = {
  authorization: byTransaction('execution_intents'),
  receipt: `${byTransaction('receipts')} ORDER BY evidence.ordinal DESC LIMIT 1`,
  refusal: byId('refusal_records', 'business_transaction_id = $1::uuid', 'evidence.caller_id'),
  'audit-event': byId('audit_events', 'event_id = $1::uuid', NOBODY),
  'governance-change': byId('pending_changes', 'change_id = $1::uuid', NOBODY),
  'intent-transition': byId('intent_transitions', 'transition_id = $1::uuid', NOBODY),
  'provider-confirmation': `
    ${POSITION} FROM provider_confirmations AS evidence JOIN business_transactions AS t USING (business_transaction_id)
    WHERE evidence.confirmation_id = $1::uuid AND ($2::text IS NULL OR t.caller_id = $2::text)`,
  approval: byId('approvals', 'approval_id = $1::text', 'evidence.delivered_by'),
  'approval-request': byId('approval_requests', 'request_id = $1::uuid', 'evidence.requested_by'),
  'approval-request-close': `
    ${POSITION} FROM approval_request_closes AS evidence JOIN approval_requests AS r USING (request_id)
    WHERE evidence.close_id = $1::uuid AND ($2::text IS NULL OR r.requested_by = $2::text)`,
  webhook: byId('webhook_events', 'event_key = $1::uuid', NOBODY),
}

/** An entry and its path, from the leaf up. */
export interface EntryWithPath {
  readonly index: number
  readonly entry: Uint8Array
  readonly path: readonly Uint8Array[]
}

/**
 * Entries with their paths in the tree of `size` entries, by two statements however many there are.
 * @throws DamagedLog where an entry below `size`, or a tile above it, is missing
 */
export async function readEntriesWithPaths(
  sql: Sql,
  {
    log,
    indexes,
    size,
  }: {
    readonly log: number
    readonly indexes: readonly number[]
    readonly size: number
  },
): Promise<EntryWithPath[]> {
  const [entries, paths] = await Promise.all([
    readEntries(sql, { log, indexes }),
    inclusionProofs({ indexes, size }, tileReader(sql, log), sha256),
  ])
  return indexes.map((index, i) => {
    const entry = entries[i]
    if (entry === undefined) throw new DamagedLog(`Entry ${index} of log ${log} is missing.`)
    return { index, entry, path: paths[i]! }
  })
}

/** The proof that the tree of `to` entries begins with that of `from`, 1 or more. */
export function readConsistency(
  sql: Sql,
  { log, from, to }: { readonly log: number; readonly from: number; readonly to: number },
): Promise<Uint8Array[]> {
  return consistencyProof({ from, to }, tileReader(sql, log), sha256)
}
