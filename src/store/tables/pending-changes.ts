// pending_changes and step_up_nonces: proposed and resolved changes of maker/checker (decisions §7).
import type { ChangeStatus } from '../../formats/schemas/governance.ts'
import type { Sealed } from './sealed.ts'
import type { LogPosition } from './log-queue.ts'
import { textOrId, whereOf, type Conditions, type FiltersOf } from './filters.ts'
import { readPageOf, type Page, type PageRange } from './page.ts'
import { storedJson } from '../postgres/json.ts'
import type { Sql } from '../postgres/sql.ts'

/** A change in its present state, and the advice that a checker was shown with it: canonical `{warnings, diff?}`, not signed. */
interface StoredChange extends Sealed {
  readonly advice: string
}

interface WhichChange {
  readonly kind: string
  /** A UUID. */
  readonly changeId: string
}

/** @returns false where another change of this target is open: nothing is inserted then */
export async function insertChange(
  sql: Sql,
  row: WhichChange & StoredChange & LogPosition & { readonly target: string; readonly proposedAt: string },
): Promise<boolean> {
  const result = await sql.query({
    text: `
      INSERT INTO pending_changes (change_id, kind, target, proposed_at, status, body, seal, advice, log_batch, log_ordinal)
      VALUES ($1::uuid, $2::text, $3::text, $4::timestamptz, 'PENDING_APPROVAL', $5::text, $6::text, $7::text,
        $8::uuid, $9::smallint)
      ON CONFLICT (kind, target) WHERE status = 'PENDING_APPROVAL' DO NOTHING`,
    values: [
      row.changeId,
      row.kind,
      row.target,
      row.proposedAt,
      row.body,
      row.seal,
      row.advice,
      row.logBatch,
      row.logOrdinal,
    ],
  })
  return result.rowCount === 1
}

/** @returns the changeId of the change of this target that is open; undefined where there is none */
export async function openChangeOf(
  sql: Sql,
  { kind, target }: { readonly kind: string; readonly target: string },
): Promise<string | undefined> {
  const { rows } = await sql.query<{ changeId: string }>({
    text: `
      SELECT change_id AS "changeId" FROM pending_changes
      WHERE kind = $1::text AND target = $2::text AND status = 'PENDING_APPROVAL'`,
    values: [kind, target],
  })
  return rows[0]?.changeId
}

/** Reads a change; null where there is none of this kind. */
export async function readChange(sql: Sql, { kind, changeId }: WhichChange): Promise<StoredChange | null> {
  const result = await sql.query<StoredChange>({
    text: `
      SELECT coalesce(resolved_body, body) AS body, coalesce(resolved_seal, seal) AS seal, advice
      FROM pending_changes WHERE change_id = $1::uuid AND kind = $2::text`,
    values: [changeId, kind],
  })
  return result.rows[0] ?? null
}

/** Changes of any kind, in their present states; those that are not there are left out. */
export async function readChanges(sql: Sql, changeIds: readonly string[]): Promise<StoredChange[]> {
  if (changeIds.length === 0) return []
  const result = await sql.query<StoredChange>({
    name: 'pending_changes_read',
    text: `
      SELECT coalesce(resolved_body, body) AS body, coalesce(resolved_seal, seal) AS seal, advice
      FROM pending_changes WHERE change_id = ANY($1::uuid[]) ORDER BY proposed_at, change_id`,
    values: [changeIds],
  })
  return result.rows
}

/** The conditions of the filters of changes. */
const conditions = {
  kind: 'item.kind = $::text',
  status: 'item.status = $::text',
  target: 'lower(item.target) = lower($::text)',
  callerId: `lower(${storedJson('item.body')} ->> 'proposedBy') = lower($::text)`,
  since: 'item.proposed_at >= $::timestamptz',
  until: 'item.proposed_at < $::timestamptz',
  // The proposal itself is not searched, because it may be a whole policy.
  q: textOrId({
    text: `lower(concat_ws(E'\\n', item.kind, item.target, ${storedJson('item.body')} ->> 'proposedBy', ${storedJson('item.body')} ->> 'reason'))`,
    id: 'item.change_id',
  }),
} as const satisfies Conditions

export type ChangeFilters = FiltersOf<typeof conditions>

/** Reads a page of changes, newest first. */
export async function listChanges(
  sql: Sql,
  range: PageRange,
  { until = null, ...filters }: ChangeFilters,
): Promise<Page<StoredChange>> {
  const { where, values } = whereOf(conditions, filters, 5)
  const [body, seal] = ['coalesce(item.resolved_body, item.body)', 'coalesce(item.resolved_seal, item.seal)']
  return readPageOf(
    sql,
    {
      table: 'pending_changes',
      time: 'proposed_at',
      id: 'change_id',
      bytes: `octet_length(${body}) + octet_length(${seal}) + octet_length(item.advice)`,
      columns: `${body} AS body, ${seal} AS seal, item.advice`,
      where,
    },
    range,
    { until, values },
  )
}

/**
 * Locks a change: a second request that resolves it waits here.
 * @returns its status once the lock is held
 */
export async function lockChange(sql: Sql, changeId: string): Promise<ChangeStatus | undefined> {
  const result = await sql.query<{ status: ChangeStatus }>({
    text: `SELECT status FROM pending_changes WHERE change_id = $1::uuid FOR UPDATE`,
    values: [changeId],
  })
  return result.rows[0]?.status
}

interface Resolution extends Sealed, LogPosition {
  readonly changeId: string
  readonly status: ChangeStatus
}

/**
 * Stores a resolution, in the transaction that locked the change. The proposal stays beside it, with its own signature; the row's
 * place in the log is that of the resolution from now on.
 */
export async function storeResolution(
  sql: Sql,
  { changeId, status, body, seal, logBatch, logOrdinal }: Resolution,
): Promise<void> {
  await sql.query({
    text: `
      UPDATE pending_changes SET status = $2::text, resolved_body = $3::text, resolved_seal = $4::text,
        log_batch = $5::uuid, log_ordinal = $6::smallint
      WHERE change_id = $1::uuid AND status = 'PENDING_APPROVAL'`,
    values: [changeId, status, body, seal, logBatch, logOrdinal],
  })
}

/**
 * Runs in the transaction of the act, so that a refusal frees the nonce again.
 * @param changeId the change, or the execution or endpoint that the step-up is for
 * @returns false where the nonce was consumed before
 */
export async function consumeStepUpNonce(
  sql: Sql,
  { nonce, changeId, at }: { readonly nonce: string; readonly changeId: string; readonly at: string },
): Promise<boolean> {
  const result = await sql.query({
    text: `
      INSERT INTO step_up_nonces (nonce, change_id, consumed_at) VALUES ($1::text, $2::uuid, $3::timestamptz)
      ON CONFLICT (nonce) DO NOTHING`,
    values: [nonce, changeId, at],
  })
  return result.rowCount === 1
}

/** Counts the open changes that a caller has proposed. */
export async function countOpenChangesOf(sql: Sql, callerId: string): Promise<number> {
  const { rows } = await sql.query<{ count: number }>({
    text: `
      SELECT count(*)::integer AS count FROM pending_changes
      WHERE status = 'PENDING_APPROVAL' AND ${storedJson('body')} ->> 'proposedBy' = $1::text`,
    values: [callerId],
  })
  return rows[0]?.count ?? 0
}
