// execution_intents: releases to a connector, and their outcomes (decisions §8; its states: src/formats/schemas/intent-states.ts). The one
// table that is updated, and always from a state that the statement itself names: of two that close an intent, one finds it closed.
import type { IntentEnd, IntentState, Resolution } from '../../formats/schemas/intent-states.ts'
import { positionColumns, type LogPosition } from './log-queue.ts'
import { readPageOf, type Page, type PageRange } from './page.ts'
import { columnsOf, overRows } from '../postgres/rows.ts'
import { isoTime, type Sql } from '../postgres/sql.ts'
import { asText, asTextOrNull, type Statement } from '../postgres/statement-batch.ts'
import type { Transaction } from '../postgres/transaction.ts'

/**
 * Whether the deadline of a RELEASED intent has passed, by the database's clock. No deadline is set more than 32 seconds ahead (the
 * longest connector timeout and the margin), so one further ahead was set by a clock that ran ahead, and counts as passed.
 */
export const deadlineHasPassed = `(i.deadline <= now() OR i.deadline > now() + interval '1 minute')`
export const isInDoubt = `i.state = 'RELEASED' AND ${deadlineHasPassed}`

/** With the place in the log of its authorization. */
interface ExecutionIntentRow extends LogPosition {
  readonly businessTransactionId: string
  /** The nonce of the execution authorization, which this row consumes. */
  readonly nonce: string
  /** How long after the release it is in doubt if it is still RELEASED. The database adds it to its own time: our clock may be wrong. */
  readonly inDoubtAfterMs: number
}

/**
 * Consumes the nonces of authorizations by inserting their intents as RELEASED.
 * @returns statements that fail with a unique violation (`taken`) where an intent exists already: then none of them is released
 */
export const releaseIntents = overRows<ExecutionIntentRow>({
  name: 'execution_intents_release',
  text: `
    INSERT INTO execution_intents ($columns) VALUES $rows`,
  // Not `now()`, which is the time of the BEGIN: the claim before it may have waited for locks, for longer than the deadline's margin.
  columns: {
    business_transaction_id: ['uuid', (row) => row.businessTransactionId],
    nonce: ['text', (row) => row.nonce],
    state: ['text', () => 'RELEASED'],
    deadline: [`integer * interval '1 ms' + statement_timestamp()`, (row) => row.inDoubtAfterMs],
    ...columnsOf(positionColumns),
  },
})

/** Sorted ids of intents by how they end, so that equal lists make equal statements. */
interface EvidencedIntents {
  readonly FINALIZED: readonly string[]
  readonly ERRORED: readonly string[]
}

const closing = (state: keyof EvidencedIntents) => `
  UPDATE execution_intents SET state = '${state}', closed_at = now()
  WHERE business_transaction_id IN ($rows) AND state = 'RELEASED'
  RETURNING business_transaction_id`
const byId = { business_transaction_id: ['uuid', (id: string) => id] } as const

const close = (state: keyof EvidencedIntents) =>
  overRows<string, { id: string }>({
    name: `execution_intents_close_${state.toLowerCase()}`,
    text: closing(state),
    columns: byId,
    returns: { id: asText },
  })
const closeAs = { FINALIZED: close('FINALIZED'), ERRORED: close('ERRORED') }

/**
 * Ends released intents. An intent that is no longer RELEASED is left alone: its outcome is decided.
 * @returns the ids that this call closed
 */
export async function closeIntents(transaction: Transaction, ends: EvidencedIntents): Promise<Set<string>> {
  const statements = (['FINALIZED', 'ERRORED'] as const).flatMap((state) => closeAs[state](ends[state]))
  const closed = await transaction.run(statements)
  return new Set(closed.flat().map(({ id }) => id))
}

const closeAll = (state: keyof EvidencedIntents) =>
  overRows<string, { closed: string }>({
    name: `execution_intents_close_all_${state.toLowerCase()}`,
    text: `WITH closed AS (${closing(state)}) SELECT 1 / (count(*) = $size)::integer FROM closed`,
    columns: byId,
    returns: { closed: asText },
  })
const closeAllAs = { FINALIZED: closeAll('FINALIZED'), ERRORED: closeAll('ERRORED') }

/** Ends released intents. @returns statements that divide by zero (`values`) where any of them is no longer RELEASED: then none of them ends */
export function closeAllIntents(ends: EvidencedIntents): Statement<{ closed: string }>[] {
  return (['FINALIZED', 'ERRORED'] as const).flatMap((state) => closeAllAs[state](ends[state]))
}

/** Moves the deadlines of intents that are still RELEASED into the past: from then on they are in doubt. */
export async function markInDoubt(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.query({
    name: 'execution_intents_mark_in_doubt',
    text: `
      UPDATE execution_intents SET deadline = least(deadline, now())
      WHERE business_transaction_id = ANY($1::uuid[]) AND state = 'RELEASED'`,
    values: [ids],
  })
}

/** Those of the ids that have an intent. */
export async function findIntents(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
  const result = await sql.query<{ id: string }>({
    name: 'execution_intents_find',
    text: `
      SELECT business_transaction_id AS id FROM execution_intents WHERE business_transaction_id = ANY($1::uuid[])`,
    values: [ids],
  })
  return new Set(result.rows.map(({ id }) => id))
}

/** An intent as it is shown, with what its transaction's row says of it. */
export interface IntentRow {
  readonly businessTransactionId: string
  readonly state: IntentState
  readonly inDoubt: boolean
  readonly callerId: string
  /** ISO 8601, as `deadline` and `closedAt`. */
  readonly releasedAt: string
  readonly deadline: string
  /** The database's time where evidence closed it; the `at` of the signed transition where a human did. */
  readonly closedAt: string | null
  readonly resolution: Resolution | null
  /** Canonical text of the transaction. */
  readonly transaction: string
  /** Canonical text of the signed execution authorization: the proof of RELEASED. */
  readonly authorization: string
  /** JSON of a `FirstWord`. */
  readonly firstWord: string | null
}

const SHOWN = `
  i.business_transaction_id AS "businessTransactionId", i.state, ${isInDoubt} AS "inDoubt", t.caller_id AS "callerId",
  ${isoTime('t.created_at')} AS "releasedAt", ${isoTime('i.deadline')} AS deadline, ${isoTime('i.closed_at')} AS "closedAt",
  i.resolution, t.body AS transaction,
  t.execution_authorization AS "authorization", item.first_word AS "firstWord"`
const WITH_TRANSACTION = `
  JOIN business_transactions AS t
    ON t.business_transaction_id = i.business_transaction_id AND t.execution_authorization IS NOT NULL`

/** One intent; null when there is none or `callerId` (null: anyone) did not submit it. */
export async function readIntent(sql: Sql, id: string, callerId: string | null): Promise<IntentRow | null> {
  const result = await sql.query<IntentRow>({
    name: 'execution_intents_read',
    text: `
      SELECT ${SHOWN}
      FROM execution_intents AS i ${WITH_TRANSACTION}
      LEFT JOIN in_doubt_intents AS item ON item.business_transaction_id = i.business_transaction_id
      WHERE i.business_transaction_id = $1::uuid AND ($2::text IS NULL OR t.caller_id = $2::text)`,
    values: [id, callerId],
  })
  return result.rows[0] ?? null
}

/** A page of intents in doubt, the newest first. Its cost grows with the intents in doubt, not with all executions. */
export async function listInDoubt(sql: Sql, range: PageRange): Promise<Page<IntentRow>> {
  return readPageOf(
    sql,
    {
      name: 'execution_intents_in_doubt',
      table: 'in_doubt_intents',
      time: 'noticed_at',
      id: 'business_transaction_id',
      bytes: 'octet_length(t.body) + octet_length(t.execution_authorization)',
      columns: SHOWN,
      join: `
        JOIN execution_intents AS i ON i.business_transaction_id = item.business_transaction_id AND ${isInDoubt}
        ${WITH_TRANSACTION}`,
    },
    range,
  )
}

/** An intent that its holder may close: locked, so that no other transaction closes it before this one ends. */
export interface LockedIntent {
  readonly state: IntentState
  readonly inDoubt: boolean
  readonly nonce: string
  /** Null: released through `passGateway`, without a stored transaction. */
  readonly callerId: string | null
  /** The body of the transaction, null likewise. */
  readonly body: string | null
}

/**
 * Locks an intent, and so waits for a transaction that is closing it.
 * @returns its state after that wait; null where no such intent exists
 */
export async function lockIntent(sql: Sql, id: string): Promise<LockedIntent | null> {
  const result = await sql.query<LockedIntent>({
    name: 'execution_intents_lock',
    text: `
      SELECT i.state, ${isInDoubt} AS "inDoubt", i.nonce, t.caller_id AS "callerId", t.body
      FROM execution_intents AS i
      LEFT JOIN business_transactions AS t ON t.business_transaction_id = i.business_transaction_id
      WHERE i.business_transaction_id = $1::uuid FOR NO KEY UPDATE OF i`,
    values: [id],
  })
  return result.rows[0] ?? null
}

/** How an intent ends by somebody's word. */
interface IntentEnding {
  readonly id: string
  readonly state: IntentEnd
  readonly resolution: Resolution | null
  /** ISO 8601. */
  readonly closedAt: string
}

/** @returns statements with a row for each that was still RELEASED, which is closed now */
export function endIntents(endings: readonly IntentEnding[]): Statement<{ one: string }>[] {
  return endings.map(({ id, state, resolution, closedAt }) => ({
    name: 'execution_intents_end',
    text: `
      UPDATE execution_intents SET state = $2::text, resolution = $3::text, closed_at = $4::timestamptz
      WHERE business_transaction_id = $1::uuid AND state = 'RELEASED' RETURNING 1`,
    rows: [[id, state, resolution, closedAt]],
    returns: { one: asText },
  }))
}

/**
 * Intents in doubt that are not noted as such, in order of id and beginning behind `after`. Reads the index of RELEASED intents, so it
 * costs what is open, not what ever ran. Unnamed, so that it is planned with the sizes of today: a plan made while both indexes were
 * empty might read the primary key instead.
 */
export async function findInDoubt(
  sql: Sql,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const result = await sql.query<{ id: string }>({
    text: `
      SELECT i.business_transaction_id AS id
      FROM execution_intents AS i
      WHERE ${isInDoubt} AND i.business_transaction_id > $1::uuid
        AND NOT EXISTS (SELECT FROM in_doubt_intents AS d WHERE d.business_transaction_id = i.business_transaction_id)
      ORDER BY i.business_transaction_id LIMIT $2::integer`,
    values: [after, limit],
  })
  return result.rows.map(({ id }) => id)
}

/** Data for the audit event of an in-doubt intent. Null columns: released through `passGateway`, without a stored transaction. */
export interface DoubtedIntent {
  readonly id: string
  /** RFC 3339, UTC. */
  readonly deadline: string
  readonly callerId: string | null
  readonly transaction: string | null
  /** RFC 3339, UTC. */
  readonly releasedAt: string | null
}

/**
 * Locks those that are still in doubt and not being closed at this moment: the others are left for another look. One statement
 * for each id, because Citus locks rows of one shard at a time; they travel together.
 */
export async function lockInDoubt(
  transaction: Transaction,
  ids: readonly string[],
): Promise<DoubtedIntent[]> {
  const locked = await transaction.run(
    ids.map((id) => ({
      name: 'execution_intents_lock_in_doubt',
      text: `
        SELECT i.business_transaction_id, ${isoTime('i.deadline')},
          t.caller_id, t.body, ${isoTime('t.created_at')}
        FROM execution_intents AS i
        LEFT JOIN business_transactions AS t ON t.business_transaction_id = i.business_transaction_id
        WHERE i.business_transaction_id = $1::uuid AND ${isInDoubt}
        FOR NO KEY UPDATE OF i SKIP LOCKED`,
      rows: [[id]],
      returns: {
        id: asText,
        deadline: asText,
        callerId: asTextOrNull,
        transaction: asTextOrNull,
        releasedAt: asTextOrNull,
      },
    })),
  )
  return locked.flat()
}

/**
 * Throws when the table cannot be read and written by this role: GET /ready asks this (interface §4.1).
 *
 * @param id whose place is read; no row needs to have it
 */
export async function checkIntentsUsable(sql: Sql, id: string): Promise<void> {
  await findIntents(sql, [id])
  const result = await sql.query<{ usable: boolean }>({
    name: 'execution_intents_usable',
    text: `
      SELECT has_table_privilege('execution_intents', 'SELECT') AND has_table_privilege('execution_intents', 'INSERT')
        AND has_table_privilege('execution_intents', 'UPDATE') AND current_setting('transaction_read_only') = 'off' AS usable`,
  })
  if (result.rows[0]?.usable !== true) throw new Error('The execution-intents table is not writable.')
}
