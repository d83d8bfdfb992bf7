// The current states of execution intents (decisions §8; src/formats/schemas/intent-states.ts lists them). No row holds a state: an intent is
// RELEASED while it is in a batch (released-batches.ts); then its signed transition or, without one, its trust record says how it ended.
// Intents that the release before has closed are in execution_intents_before.
import { intentStates, type IntentState, type Resolution } from '../../formats/schemas/intent-states.ts'
import type { FirstWord } from './in-doubt-intents.ts'
import { readPageOf, type Page, type PageRange } from './page.ts'
import { readTransitions } from './intent-transitions.ts'
import { findOpen, type OpenIntent } from './released-batches.ts'
import type { Sealed } from './sealed.ts'
import { isoTime, type Sql } from '../postgres/sql.ts'

/** The signed permission that released an execution, and its outcome. */
export interface ExecutionIntent {
  readonly state: IntentState
  readonly inDoubt: boolean
  /** ISO 8601, as `deadline` and `closedAt`. */
  readonly releasedAt: string
  /** While it is open, the deadline of its batch, which decides; a 502 may have moved it to that moment. Afterwards that of its transaction's row. */
  readonly deadline: string
  /** The time of the record where evidence closed it; the `at` of the signed transition where a statement closed it. */
  readonly closedAt: string | null
  readonly resolution: Resolution | null
  /** Canonical text of the signed execution authorization: the proof of RELEASED. */
  readonly authorization: string
  /** Oldest first. */
  readonly transitions: readonly Sealed[]
}

/** A stored transaction. */
export interface IntendedTransaction {
  readonly businessTransactionId: string
  readonly callerId: string
  /** Canonical text. */
  readonly body: string
  /** Null: nothing was released. */
  readonly intent: ExecutionIntent | null
}

interface StoredIntent extends Omit<IntendedTransaction, 'intent'> {
  readonly authorization: string | null
  readonly releasedAt: string
  /** Null where it was changed in the database. */
  readonly deadline: string | null
  readonly recordedAt: string | null
  readonly errored: boolean | null
  /** Null where the release before has not closed it. */
  readonly stateBefore: IntentState | null
  readonly closedBefore: string | null
  readonly resolutionBefore: Resolution | null
}

/** On Citus these tables are co-located; released_batches and intent_transitions are not, and are read on their own. */
const STORED = `
  t.business_transaction_id AS "businessTransactionId", t.caller_id AS "callerId", t.body, t.execution_authorization AS "authorization",
  ${isoTime('t.created_at')} AS "releasedAt", ${isoTime('coalesce(t.deadline, b.deadline)')} AS deadline,
  ${isoTime('r.created_at')} AS "recordedAt", r.errored, nullif(b.state, 'RELEASED') AS "stateBefore",
  ${isoTime('b.closed_at')} AS "closedBefore", b.resolution AS "resolutionBefore"`
const BESIDE = `
  LEFT JOIN execution_intents_before AS b ON b.business_transaction_id = t.business_transaction_id
  LEFT JOIN execution_evidence AS r ON r.business_transaction_id = t.business_transaction_id`

/**
 * Reads transactions with their intents.
 * @param open those of them that are open, where that was read before
 * @returns by id; none for an id that no transaction has
 */
export async function readIntents(
  sql: Sql,
  ids: readonly string[],
  open?: ReadonlyMap<string, OpenIntent>,
): Promise<Map<string, IntendedTransaction>> {
  if (ids.length === 0) return new Map()
  // Read first: an intent that has left its batch by now has its record or its transition, which the next statements read.
  const released = open ?? (await findOpen(sql, ids))
  const { rows } = await sql.query<StoredIntent>({
    name: 'execution_intents_read',
    text: `
      SELECT ${STORED} FROM business_transactions AS t ${BESIDE}
      WHERE t.business_transaction_id = ANY ($1::uuid[])`,
    values: [ids],
  })
  const transitions = await readTransitions(sql, ids)
  return new Map(
    rows.map((row) => {
      const { businessTransactionId: id, callerId, body } = row
      const intent = intentOf(row, released.get(id), transitions.get(id) ?? [])
      return [id, { businessTransactionId: id, callerId, body, intent }]
    }),
  )
}

function intentOf(
  stored: StoredIntent,
  open: OpenIntent | undefined,
  transitions: readonly Sealed[],
): ExecutionIntent | null {
  const { authorization, releasedAt } = stored
  if (authorization === null) return null
  return {
    ...standing(stored, open, transitions),
    releasedAt,
    deadline: open?.deadline ?? stored.deadline ?? releasedAt,
    authorization,
    transitions,
  }
}

function standing(
  { stateBefore, closedBefore, resolutionBefore, recordedAt, errored }: StoredIntent,
  open: OpenIntent | undefined,
  transitions: readonly Sealed[],
): Pick<ExecutionIntent, 'state' | 'inDoubt' | 'closedAt' | 'resolution'> {
  const released = { state: 'RELEASED', inDoubt: false, closedAt: null, resolution: null } as const
  if (open !== undefined) return { ...released, inDoubt: open.inDoubt }
  const ended = { inDoubt: false, resolution: null } as const
  if (stateBefore !== null)
    return { ...ended, state: stateBefore, closedAt: closedBefore, resolution: resolutionBefore }
  const { to, at = null, resolution = null } = readTransition(transitions.at(-1))
  if (to !== undefined) return { ...ended, state: to, closedAt: at, resolution }
  if (recordedAt !== null)
    return { ...ended, state: errored === true ? 'ERRORED' : 'FINALIZED', closedAt: recordedAt }
  // A Citus node that was away shows a commit later than the coordinator does, and the evidence of the end may have been changed in the
  // database.
  return released
}

interface Transition {
  readonly to: IntentState
  readonly at: string
  readonly resolution?: Resolution
}

/** Empty where there is no transition, and where it was changed in the database so that it cannot be read. */
function readTransition(transition: Sealed | undefined): Partial<Transition> {
  try {
    const read = JSON.parse(transition?.body ?? '{}') as Transition
    return intentStates.includes(read.to) ? read : {}
  } catch {
    return {}
  }
}

/** A transaction that was released, with its intent. */
export interface ReleasedTransaction extends IntendedTransaction {
  readonly intent: ExecutionIntent
  /** Undefined: nobody has stated an outcome. */
  readonly firstWord: FirstWord | undefined
}

/** A page of intents in doubt, the newest first. Its cost grows with the intents in doubt, not with all executions. */
export async function listInDoubt(sql: Sql, range: PageRange): Promise<Page<ReleasedTransaction>> {
  const { rows, next } = await readPageOf<StoredIntent & { firstWord: string | null }>(
    sql,
    {
      name: 'execution_intents_in_doubt',
      table: 'in_doubt_intents',
      time: 'noticed_at',
      id: 'business_transaction_id',
      bytes: 'octet_length(t.body) + octet_length(t.execution_authorization)',
      columns: `${STORED}, item.first_word AS "firstWord"`,
      join: `
        JOIN business_transactions AS t
          ON t.business_transaction_id = item.business_transaction_id AND t.execution_authorization IS NOT NULL
        ${BESIDE}`,
    },
    range,
  )
  const ids = rows.map((row) => row.businessTransactionId)
  const open = await findOpen(sql, ids)
  const transitions = await readTransitions(sql, ids)
  return {
    next,
    // An intent that was closed since the last sweep is still noted.
    rows: rows.flatMap((row) => {
      const { businessTransactionId: id, callerId, body, firstWord } = row
      const intent = intentOf(row, open.get(id), transitions.get(id) ?? [])
      if (intent?.inDoubt !== true) return []
      const word = firstWord === null ? undefined : (JSON.parse(firstWord) as FirstWord)
      return [{ businessTransactionId: id, callerId, body, intent, firstWord: word }]
    }),
  }
}

/** Finds those of the ids whose execution was released. */
export async function findReleased(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql.query<{ id: string }>({
    name: 'execution_intents_find',
    text: `
      SELECT business_transaction_id AS id FROM business_transactions
      WHERE business_transaction_id = ANY($1::uuid[]) AND execution_authorization IS NOT NULL`,
    values: [ids],
  })
  return new Set(rows.map(({ id }) => id))
}
