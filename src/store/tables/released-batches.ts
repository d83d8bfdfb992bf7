// released_batches: the executions that were released together and have no outcome yet, and the deadline after which they are in doubt
// (decisions §8). The row is deleted when all of them have evidence. The transaction that takes an id out of its row decides how the
// execution ended, and the lock of the row lets only one do so. On Citus the table stays on the coordinator, because a batch spans shards.
import { randomUUID } from 'node:crypto'
import { overRows } from '../postgres/rows.ts'
import { isoTime, type Sql } from '../postgres/sql.ts'
import { asText, type Statement } from '../postgres/statement-batch.ts'
import type { Transaction } from '../postgres/transaction.ts'

/**
 * Whether the deadline of a batch `r` has passed, by the database's clock. No deadline is set more than 32 seconds ahead (the longest
 * connector timeout and the margin), so one further ahead was set by a clock that ran ahead, and counts as passed.
 */
export const deadlineHasPassed = `(r.deadline <= now() OR r.deadline > now() + interval '1 minute')`

/** SQL: a row for each open intent, as `i`, beside that of its batch, as `r`. */
export const openIntents = 'released_batches AS r CROSS JOIN LATERAL unnest(r.ids) AS i (id)'

/** Executions that are released together. */
export interface ReleasedBatch {
  /** UUID. */
  readonly batch: string
  readonly ids: readonly string[]
}

interface BatchToRelease extends ReleasedBatch {
  /** Milliseconds until they are in doubt, if they are still open. The database adds them to its own time: our clock may be wrong. */
  readonly inDoubtAfterMs: number
}

/**
 * Releases batches.
 * @returns statements that fail with a unique violation (`taken`) where one of the ids went through the gateway without the pipeline, and
 *   is the name of a batch: then nothing is released
 */
export const releaseBatches = overRows<BatchToRelease>({
  name: 'released_batches_release',
  // Not `now()`, which is the time of the BEGIN: the claim before it may have waited for locks, for longer than the deadline's margin.
  text: `
    INSERT INTO released_batches ($columns)
    SELECT coalesce((SELECT alone.batch FROM released_batches AS alone WHERE alone.batch = ANY (released.ids) LIMIT 1), batch), ids, deadline
    FROM (VALUES $rows) AS released (batch, ids, deadline)`,
  columns: {
    batch: ['uuid', ({ batch }) => batch],
    ids: ['uuid[]', ({ ids }) => arrayText(ids)],
    deadline: [`integer * interval '1 ms' + statement_timestamp()`, ({ inDoubtAfterMs }) => inDoubtAfterMs],
  },
})

function arrayText(ids: readonly string[]): string {
  return `{${ids.join(',')}}`
}

/** A batch, and those of its executions that have come to an end. */
interface EndedTogether extends ReleasedBatch {
  readonly ended: readonly string[]
}

/**
 * Takes executions out of their batches without looking first.
 * @returns statements that divide by zero (`values`) where an execution is not in its batch any more: then none is taken out
 */
export function takeOutAll(batches: readonly EndedTogether[]): Statement<{ closed: string }>[] {
  return batches
    .toSorted((a, b) => (a.batch < b.batch ? -1 : 1))
    .map(({ batch, ids, ended }) => ({
      ...(ended.length === ids.length ? WHOLE : PART),
      rows: [[batch, arrayText(ended)]],
    }))
}

const WHOLE = {
  name: 'released_batches_take_out_whole',
  text: `
    WITH closed AS (DELETE FROM released_batches WHERE batch = $1::uuid AND ids = $2::uuid[] RETURNING 1)
    SELECT 1 / count(*)::integer FROM closed`,
  returns: { closed: asText },
}

/** Deferred executions end in other groups than they were claimed in. */
const PART = {
  name: 'released_batches_take_out_part',
  text: `
    WITH kept AS (
      UPDATE released_batches SET ids = ARRAY(SELECT id FROM unnest(ids) AS id WHERE id <> ALL ($2::uuid[]))
      WHERE batch = $1::uuid AND ids @> $2::uuid[] AND NOT ids <@ $2::uuid[] RETURNING 1),
    gone AS (DELETE FROM released_batches WHERE batch = $1::uuid AND ids @> $2::uuid[] AND ids <@ $2::uuid[] RETURNING 1)
    SELECT 1 / ((SELECT count(*) FROM kept) + (SELECT count(*) FROM gone))::integer`,
  returns: { closed: asText },
}

/** An open intent. */
export interface OpenIntent {
  readonly id: string
  /** ISO 8601. */
  readonly deadline: string
  readonly inDoubt: boolean
}

/** Batches that the transaction has locked: no other transaction takes an execution out of them before it ends. */
export interface LockedBatches {
  /** The intents among the ids that are open, by id. */
  readonly open: ReadonlyMap<string, OpenIntent>
  /** @returns statements that take open ones out of their batches */
  readonly takeOut: (ids: readonly string[]) => Statement[]
}

interface LockedBatch extends Omit<OpenIntent, 'id'>, ReleasedBatch {}

const lock = (wait: '' | 'SKIP LOCKED') => ({
  name: `released_batches_lock${wait === '' ? '' : '_free'}`,
  // In one order, so that two transactions that lock several batches never deadlock.
  text: `
    SELECT r.batch, array_to_string(r.ids, ','), ${isoTime('r.deadline')}, ${deadlineHasPassed}::text
    FROM released_batches AS r WHERE r.ids && $1::uuid[] ORDER BY r.batch FOR UPDATE ${wait}`,
  returns: {
    batch: asText,
    ids: (field: string | null) => asText(field).split(','),
    deadline: asText,
    inDoubt: (field: string | null) => field === 'true',
  },
})
const LOCK = lock('')
const LOCK_FREE = lock('SKIP LOCKED')

/**
 * Locks the batches of intents, and so waits for a transaction that is closing one of them.
 * @returns those that are open after that wait
 */
export async function lockOpen(transaction: Transaction, ids: readonly string[]): Promise<LockedBatches> {
  if (ids.length === 0) return lockedBatches([], ids)
  const lockThose = async (some: readonly string[]): Promise<LockedBatch[]> =>
    (await transaction.run([{ ...LOCK, rows: [[arrayText(some)]] }])).flat()
  const batches = await lockThose(ids)
  const found = new Set(batches.flatMap((batch) => batch.ids))
  const others = ids.filter((id) => !found.has(id))
  // The transaction that was waited for may have moved some intents to a batch of their own (`markInDoubt`), unseen by that statement.
  if (others.length > 0) batches.push(...(await lockThose(others)))
  return lockedBatches(batches, ids)
}

/** As `lockOpen`, without intents whose batch somebody else has locked: they are left for the next call. */
export async function lockFree(transaction: Transaction, ids: readonly string[]): Promise<LockedBatches> {
  const batches = (await transaction.run([{ ...LOCK_FREE, rows: [[arrayText(ids)]] }])).flat()
  return lockedBatches(batches, ids)
}

function lockedBatches(batches: readonly LockedBatch[], ids: readonly string[]): LockedBatches {
  const wanted = new Set(ids)
  const open = new Map(
    batches.flatMap(({ ids: all, deadline, inDoubt }) =>
      all.filter((id) => wanted.has(id)).map((id) => [id, { id, deadline, inDoubt }]),
    ),
  )
  return {
    open,
    takeOut: (some) =>
      batches.flatMap(({ batch, ids: all }) => {
        const remaining = all.filter((id) => !some.includes(id))
        if (remaining.length === all.length) return []
        return remaining.length === 0
          ? { name: 'released_batches_remove', text: REMOVE, rows: [[batch]] }
          : { name: 'released_batches_shrink', text: SHRINK, rows: [[batch, arrayText(remaining)]] }
      }),
  }
}

const REMOVE = 'DELETE FROM released_batches WHERE batch = $1::uuid'
const SHRINK = 'UPDATE released_batches SET ids = $2::uuid[] WHERE batch = $1::uuid'

/** Puts the intents that are still open in doubt now, in a batch of their own: the others of their batches keep their deadline. */
export async function markInDoubt(transaction: Transaction, ids: readonly string[]): Promise<void> {
  const { open, takeOut } = await lockOpen(transaction, ids)
  const early = [...open.values()].filter(({ inDoubt }) => !inDoubt).map(({ id }) => id)
  if (early.length === 0) return
  transaction.runLast([
    ...takeOut(early),
    ...releaseBatches([{ batch: randomUUID(), ids: early, inDoubtAfterMs: 0 }]),
  ])
}

/** Finds those of the ids that are open. */
export async function findOpen(sql: Sql, ids: readonly string[]): Promise<Map<string, OpenIntent>> {
  const { rows } = await sql.query<OpenIntent>({
    name: 'released_batches_find',
    text: `
      SELECT i.id, ${isoTime('r.deadline')} AS deadline, ${deadlineHasPassed} AS "inDoubt"
      FROM ${openIntents} WHERE r.ids && $1::uuid[] AND i.id = ANY ($1::uuid[])`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/**
 * Intents in doubt that are not noted as such, in order of id and beginning behind `after`. Reads all open intents, so that no clock can hide
 * one. Unnamed, so that it is planned with the current sizes of the tables.
 */
export async function findInDoubt(
  sql: Sql,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>({
    // A subquery, because Citus cannot join a table of the coordinator with a distributed one.
    text: `
      SELECT i.id FROM ${openIntents}
      WHERE ${deadlineHasPassed} AND i.id > $1::uuid
        AND i.id NOT IN (SELECT business_transaction_id FROM in_doubt_intents)
      ORDER BY i.id LIMIT $2::integer`,
    values: [after, limit],
  })
  return rows.map(({ id }) => id)
}

/**
 * Throws when the table cannot be read and written by this role: GET /ready asks this (interface §4.1).
 *
 * @param batch whose place is locked; no row needs to have it
 */
export async function checkReleasable(sql: Sql, batch: string): Promise<void> {
  // The database refuses this where nothing can be written: then the connection is closed too, and the next one may reach the new primary.
  await sql.query('SELECT 1 FROM released_batches WHERE batch = $1::uuid FOR UPDATE', [batch])
  const { rows } = await sql.query<{ usable: boolean }>({
    name: 'released_batches_usable',
    text: `
      SELECT has_table_privilege('released_batches', 'SELECT') AND has_table_privilege('released_batches', 'INSERT')
        AND has_table_privilege('released_batches', 'UPDATE') AND has_table_privilege('released_batches', 'DELETE') AS usable`,
  })
  if (rows[0]?.usable !== true) throw new Error('The execution-intents table is not writable.')
}
