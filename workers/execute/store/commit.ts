// The evidence of executions whose effect has happened, and the one commit that stores it: record, verification, receipt, closed intent.
import { sealedText, type Sealed } from '../../../src/store/tables/sealed.ts'
import { insertBatchSignatures } from '../../../src/store/tables/batch-signatures.ts'
import { findAuditEvents, type AuditEventRow } from '../../../src/store/tables/audit-events.ts'
import { readTransitions } from '../../../src/store/tables/intent-transitions.ts'
import type { LogEntries, QueuedEntry } from '../../../src/store/tables/log-queue.ts'
import { lockOpen, takeOutAll, type ReleasedBatch } from '../../../src/store/tables/released-batches.ts'
import { classify, isOfRows } from '../../../src/store/postgres/sql-errors.ts'
import type { Sql } from '../../../src/store/postgres/sql.ts'
import { inOneMessage, inTransaction, type Transaction } from '../../../src/store/postgres/transaction.ts'
import {
  readRecordBodies,
  storeEvidence,
  withoutCopies,
  type Copies,
} from '../../../src/store/tables/trust-records.ts'
import type { ThreadContext } from '../../context.ts'
import { auditAndLog, auditRow } from '../../evidence/recording.ts'
import { inIdOrder } from '../../together-or-alone.ts'
import { receiptEntry, streamsOf } from '../log-entries.ts'
import type { ReceiptedExecution } from '../receipt.ts'

/** The evidence of one execution that is to be stored, and nothing else: it may have to be kept for a while. */
export interface Evidence {
  readonly businessTransactionId: string
  readonly callerId: string
  /** ISO 8601. */
  readonly createdAt: string
  /** The batch in which it was released. */
  readonly batch: ReleasedBatch
  readonly end: 'FINALIZED' | 'ERRORED'
  readonly record: Sealed
  readonly copies: Copies
  readonly verification: string
  readonly receipt: string
  /** The entry of the receipt, for the log. */
  readonly logEntry: QueuedEntry
  /** The id of the audit event that keeps the evidence where its intent was closed by somebody else: one event, however often it is tried. */
  readonly lateEventId: string
}

export function evidenceOf(execution: ReceiptedExecution, lateEventId: string): Evidence {
  const { businessTransactionId: id } = execution.transaction
  const end = execution.outcomeOfCall.kind === 'completed' ? 'FINALIZED' : 'ERRORED'
  const logEntry = receiptEntry({ id, receiptHash: execution.receiptHash }, streamsOf(execution))
  return {
    businessTransactionId: id,
    callerId: execution.request.caller.callerId,
    createdAt: execution.recordCreatedAt,
    batch: execution.batch,
    end,
    record: execution.record,
    copies: {
      authorization: execution.authorization.signed.text.length,
      transaction: execution.canonical.stored.text.length,
    },
    verification: execution.verification.text,
    receipt: execution.receipt,
    logEntry: end === 'FINALIZED' ? logEntry : { ...logEntry, event: 'execution.failed' },
    lateEventId,
  }
}

/** Why evidence is not stored; `cause` is for the log line. */
export type NotStored =
  /** Somebody else has closed the intent: it stays closed, and the audit keeps the record. */
  | { readonly kind: 'intent closed'; readonly cause: string }
  /** The database is away: it may take the evidence later. */
  | { readonly kind: 'unavailable'; readonly cause: unknown }
  /** The intent is closed, and the database does not show its end yet. */
  | { readonly kind: 'end not visible'; readonly cause: unknown }
  /** The database refuses evidence whatever its values: it may take the evidence once it is repaired. */
  | { readonly kind: 'refused'; readonly sqlState: string; readonly cause: unknown }
  /** Anything else, such as a value that its column does not take: another attempt would fail too. */
  | { readonly kind: 'unstorable'; readonly cause: unknown }

const INTENT_CLOSED: NotStored = {
  kind: 'intent closed',
  cause: 'the intent was closed by somebody else',
}

/**
 * Stores evidence in one transaction; where that fails and the database is not away, each item in its own.
 *
 * @param again how often and when to try again while the database is away
 * @returns in the order of `evidence` why each is not stored; undefined: it is
 */
export function commit(
  evidence: readonly Evidence[],
  tools: CommitWith,
  again: Again = (work) => work(),
): Promise<(NotStored | undefined)[]> {
  return inIdOrder<Evidence, NotStored | undefined>(evidence, idOf, {
    work: (items) => again(() => commitTogether(items, tools)),
    failed: whyNotStored,
    failsAll: (error) => whyNotStored(error).kind === 'unavailable',
  })
}

function whyNotStored(error: unknown): NotStored {
  const trouble = classify(error)
  switch (trouble.kind) {
    case 'broken':
    case 'refused':
      return { kind: 'refused', sqlState: trouble.sqlState, cause: error }
    case 'away':
    case 'partly away':
    case 'deadlock':
      return { kind: 'unavailable', cause: error }
    case 'taken':
    case 'values':
    case 'none':
      return { kind: error instanceof EndNotVisible ? 'end not visible' : 'unstorable', cause: error }
    default:
      return trouble satisfies never
  }
}

class EndNotVisible extends Error {
  override readonly name = 'EndNotVisible'
}

/**
 * An intent that is no longer open has a transition or a record. But a Citus node that ends in the moment of a commit shows its rows only
 * when it is back and Citus has finished that commit (`citus.recover_2pc_interval`): it may be an attempt of ours, whose answer was lost.
 * @param recorded those that have a record
 */
async function mustHaveEnded(
  evidence: readonly Evidence[],
  recorded: ReadonlyMap<string, unknown>,
  sql: Sql,
): Promise<void> {
  const others = evidence.map(idOf).filter((id) => !recorded.has(id))
  const transitioned = await readTransitions(sql, others)
  if (transitioned.size < others.length) throw new EndNotVisible('how the intent ended is not visible yet')
}

type Again = <T>(work: () => Promise<T>) => Promise<T>

export type CommitWith = Pick<ThreadContext, 'pool' | 'key' | 'startLogEntries' | 'clock' | 'newId'>

/**
 * Commits in one message; where an intent is closed already, or a record exists, in a transaction that tells the items apart.
 * @returns in the order of `evidence` why each is not stored: only because somebody else has closed its intent
 */
async function commitTogether(
  evidence: readonly Evidence[],
  tools: CommitWith,
): Promise<(NotStored | undefined)[]> {
  const entries = tools.startLogEntries()
  const failure = await inOneMessage(tools.pool, [
    ...takeOutAll(endedTogether(evidence)),
    ...storeEvidence(rowsOf(evidence, entries)),
    ...entries.statements(),
  ])
  if (failure === undefined) return evidence.map(() => undefined)
  // An intent that was closed already shows as a division by zero, a record that exists as a key that is taken.
  if (!isOfRows(failure)) throw failure
  return commitApart(evidence, tools)
}

function commitApart(
  evidence: readonly Evidence[],
  { pool, key, startLogEntries }: CommitWith,
): Promise<(NotStored | undefined)[]> {
  return inTransaction(pool, async (tx) => {
    const entries = startLogEntries()
    // The transaction that takes an intent out of its batch decides its outcome, and later ones find it closed.
    const { open, takeOut } = await lockOpen(tx, evidence.map(idOf))
    const others = evidence.filter((item) => !open.has(idOf(item)))
    const ours = evidence.filter((item) => open.has(idOf(item)))
    tx.runLast([...takeOut(ours.map(idOf)), ...storeEvidence(rowsOf(ours, entries))])
    if (others.length === 0) {
      tx.runLast(entries.statements())
      return evidence.map(() => undefined)
    }
    const bodies = await readRecordBodies(tx, others.map(idOf))
    // A retry after a commit whose answer was lost finds its own record: that is success.
    const unstored = others.filter((item) => bodies.get(idOf(item)) !== item.record.body)
    await mustHaveEnded(unstored, bodies, tx)
    const events = await lateEvents(unstored, tx, key)
    tx.runLast(auditAndLog(events, entries))
    return evidence.map((item) => (unstored.includes(item) ? INTENT_CLOSED : undefined))
  })
}

/**
 * Tries the statements and keys of a store, and rolls it back.
 * @param id a transaction whose evidence was refused: the same places in the indexes are tried
 * @returns undefined where it would be stored, else the error
 */
export async function whyNotStorable(
  id: string,
  { pool, startLogEntries, clock, newId }: CommitWith,
): Promise<unknown> {
  const rolledBack = new Error('rolled back')
  try {
    return await inTransaction(pool, async (tx) => {
      const { takeOut } = await lockOpen(tx, [id])
      const entries = startLogEntries()
      const texts = { body: '', seal: '', verification: '', receipt: '' }
      const place = entries.add(() => ({ kind: 'receipt', hash: '', id: '', streams: {} }))
      const at = clock().toISOString()
      await tx.run([
        ...takeOut([id]),
        ...insertBatchSignatures([{ batch: newId(), value: '' }]),
        ...storeEvidence([
          { businessTransactionId: id, callerId: '', createdAt: at, ...texts, ...place, errored: false },
        ]),
        ...entries.statements(),
      ])
      throw rolledBack
    })
  } catch (error) {
    // Its evidence may be stored by now.
    return error === rolledBack || classify(error).kind === 'taken' ? undefined : error
  }
}

/** Leaves out those that an earlier attempt has stored: nothing is stored, nor logged, a second time. */
async function lateEvents(
  unstored: readonly Evidence[],
  tx: Transaction,
  key: CommitWith['key'],
): Promise<AuditEventRow[]> {
  const eventIds = unstored.map(({ lateEventId }) => lateEventId)
  const stored = await findAuditEvents(tx, eventIds)
  return unstored.filter(({ lateEventId }) => !stored.has(lateEventId)).map((item) => lateEvent(item, key))
}

/** The intent was closed meanwhile, and stays closed. But proof of an effect is never thrown away: the signed record is kept in the audit. */
function lateEvent(
  { businessTransactionId, end, record, lateEventId: eventId }: Evidence,
  key: CommitWith['key'],
): AuditEventRow {
  return auditRow(
    {
      eventId,
      type: 'intent.late_evidence',
      route: 'service',
      reason: 'Evidence of the execution came when its intent had been closed by somebody else.',
      severity: 'WARNING',
      detail: { businessTransactionId, end, record: sealedText(record) },
    },
    key,
  )
}

/** The evidence by the batches that it was released in. */
function endedTogether(evidence: readonly Evidence[]) {
  const ended = Map.groupBy(evidence, ({ batch }) => batch)
  return Array.from(ended, ([batch, items]) => ({ ...batch, ended: items.map(idOf) }))
}

function rowsOf(evidence: readonly Evidence[], entries: LogEntries) {
  return evidence.map(({ businessTransactionId, callerId, createdAt, record, copies, ...item }) => ({
    businessTransactionId,
    callerId,
    createdAt,
    body: withoutCopies(record.body, copies),
    seal: record.seal,
    verification: item.verification,
    receipt: item.receipt,
    errored: item.end === 'ERRORED',
    ...entries.add(() => item.logEntry),
  }))
}

function idOf({ businessTransactionId }: Evidence): string {
  return businessTransactionId
}
