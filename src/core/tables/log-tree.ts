// What routes and commands read of the log: where an artifact stands, and proofs from the stored tiles. Checkpoints are read by
// log-checkpoints.ts, bundles and entries by log-bundles.ts, tiles by log-tiles.ts. Whatever lies after the newest checkpoint is not signed:
// give the size of a checkpoint.
import { consistencyProof, inclusionProof } from '../log/tiles.ts'
import { sha256 } from '../signing/sha256.ts'
import { readBatch } from './log-batches.ts'
import type { LoggedKind } from './log-queue.ts'
import { tileReader } from './log-tiles.ts'
import type { Sql } from './sql.ts'

/** Where an artifact is on its way into the log. */
export type LogPlace =
  | { readonly state: 'sequenced'; readonly log: number; readonly index: number }
  /** Stored, and not in the tree yet. */
  | { readonly state: 'queued' }
  /** Older than the log, or stored with LOG=off. */
  | { readonly state: 'not logged' }

/**
 * @param id as the artifact is read by elsewhere: the transaction's for what an execution makes; of its receipts the newest is meant
 * @param owner the caller whose it must be; null: anyone's. Only null finds what belongs to no caller
 * @returns undefined where there is none
 */
export async function findInLog(
  sql: Sql,
  { kind, id, owner }: { readonly kind: LoggedKind; readonly id: string; readonly owner: string | null },
): Promise<LogPlace | undefined> {
  const { rows } = await sql.query<{ batch: string | null; ordinal: number | null }>({
    name: `log_tree_find_${kind}`,
    text: FIND[kind],
    values: [id, owner],
  })
  const [row] = rows
  if (row === undefined) return undefined
  const { batch, ordinal } = row
  if (batch === null || ordinal === null) return { state: 'not logged' }
  const logged = await readBatch(sql, batch)
  if (logged === undefined) return { state: 'queued' }
  return { state: 'sequenced', log: logged.log, index: logged.start + ordinal }
}

const POSITION = 'SELECT evidence.log_batch AS batch, evidence.log_ordinal AS ordinal'
const byTransaction = (table: string) => `
  ${POSITION} FROM ${table} AS evidence JOIN business_transactions AS t USING (business_transaction_id)
  WHERE evidence.business_transaction_id = $1::uuid AND ($2::text IS NULL OR t.caller_id = $2::text)`
const byId = (table: string, column: string, owner: string) => `
  ${POSITION} FROM ${table} AS evidence
  WHERE evidence.${column} AND ($2::text IS NULL OR ${owner} = $2::text)`
/** Of no caller. */
const NOBODY = 'NULL'

const FIND: Readonly<Record<LoggedKind, string>> = {
  authorization: byTransaction('execution_intents'),
  receipt: `${byTransaction('receipts')} ORDER BY evidence.ordinal DESC LIMIT 1`,
  refusal: byId('refusal_records', 'business_transaction_id = $1::uuid', 'evidence.caller_id'),
  'audit-event': byId('audit_events', 'event_id = $1::uuid', NOBODY),
  'governance-change': byId('pending_changes', 'change_id = $1::uuid', NOBODY),
  'intent-transition': byId('intent_transitions', 'transition_id = $1::uuid', NOBODY),
  approval: byId('approvals', 'approval_id = $1::text', 'evidence.delivered_by'),
  webhook: byId('webhook_events', 'event_key = $1::uuid', NOBODY),
}

/** The inclusion path of an entry in the tree of `size` entries, from the leaf up. */
export function readInclusion(
  sql: Sql,
  { log, index, size }: { readonly log: number; readonly index: number; readonly size: number },
): Promise<Uint8Array[]> {
  return inclusionProof({ index, size }, tileReader(sql, log), sha256)
}

/** The proof that the tree of `to` entries begins with that of `from`, 1 or more. */
export function readConsistency(
  sql: Sql,
  { log, from, to }: { readonly log: number; readonly from: number; readonly to: number },
): Promise<Uint8Array[]> {
  return consistencyProof({ from, to }, tileReader(sql, log), sha256)
}
