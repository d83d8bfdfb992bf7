// Fourth stage, the first that acts: ids, nonces and intents of a batch in one message, before any connector is called.
// Every outcome is stored here, so the 409 of a taken id wins over all of them (decisions §3).
import { randomUUID } from 'node:crypto'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { failureOf } from '../../src/core/errors/failure-of.ts'
import type { Statement } from '../../src/store/postgres/statement-batch.ts'
import {
  claimAllTransactions,
  claimTransactions,
  placeAuthorizations,
  readAuthorization,
  type BusinessTransactionRow,
} from '../../src/store/tables/business-transactions.ts'
import { insertHistoryEntries, insertHistoryGroups } from '../../src/store/tables/history-entries.ts'
import { unlogged, type LogPosition } from '../../src/store/tables/log-queue.ts'
import { insertRefusals } from '../../src/store/tables/refusal-records.ts'
import { releaseBatches, type ReleasedBatch } from '../../src/store/tables/released-batches.ts'
import { isOfRows, mayHaveCommitted } from '../../src/store/postgres/sql-errors.ts'
import { takeLocks } from '../../src/store/postgres/sql.ts'
import { inOneMessage, inTransaction, type Transaction } from '../../src/store/postgres/transaction.ts'
import type { Authorized, Claimable } from './decide/authorize.ts'
import type { ThreadContext } from '../context.ts'
import { inIdOrder } from '../together-or-alone.ts'
import { Finished, stillGoing } from '../in-flight.ts'
import { authorizationEntry, refusalEntry } from './log-entries.ts'

/** How long after its connector's time-out an intent that is still RELEASED is in doubt (decisions §8). */
const DEADLINE_MARGIN_MS = 2_000

/** Its id, its nonce and its intent are claimed: its connector is called once, and no other call with its id follows. */
export interface Released extends Omit<Authorized, 'outcome'> {
  readonly outcome: 'released'
  readonly batch: ReleasedBatch
}

/** The batch that it was released in; undefined where a refusal was claimed, which releases nothing; or why it is not claimed. */
type Claimed = ReleasedBatch | undefined | Failure

/**
 * Claims a batch: all or nothing per transaction, once across all instances.
 * @param claimable in the order of arrival; an id may occur more than once, and the first one claims it
 * @returns the released ones, and the answers of the others: 409 where the id was taken, 503 with nothing executed where the database is
 *   away. Where it is away before the outcome of a lost message is known, the id may be claimed all the same: a repeat is then answered
 *   409, and the intent ends in doubt
 */
export async function claim(
  claimable: readonly (Claimable | Finished)[],
  { pool, ...tools }: ClaimWith & Pick<ThreadContext, 'pool'>,
): Promise<(Released | Finished)[]> {
  const { firsts, placeOf } = firstOfEachId(stillGoing(claimable))
  const claimed = await inIdOrder<Claimable, Claimed>(firsts, idOf, {
    work: (some) => claimInOneMessage(some, { pool, ...tools }),
    failed: failureOf,
  })
  return claimable.map((item) => {
    if (item instanceof Finished) return item
    const place = placeOf.get(idOf(item))!
    const first = claimed[place]
    // A repeat within the batch shares the first one's failure: where nothing was claimed, no 409 may say otherwise.
    if (first instanceof Failure) return new Finished(item.request, first)
    if (firsts[place] !== item) return new Finished(item.request, duplicate(item))
    return item.outcome === 'approved' ? released(item, first!) : new Finished(item.request, item.failure)
  })
}

export function released(item: Authorized, batch: ReleasedBatch): Released {
  return { ...item, outcome: 'released', batch }
}

function idOf({ transaction }: Claimable): string {
  return transaction.businessTransactionId
}

function duplicate(item: Claimable): Failure {
  return failures.duplicateTransaction(idOf(item))
}

/** @returns the first item with each id, and the place of each id among them */
function firstOfEachId(items: readonly Claimable[]) {
  const firsts: Claimable[] = []
  const placeOf = new Map<string, number>()
  for (const item of items) {
    if (placeOf.has(idOf(item))) continue
    placeOf.set(idOf(item), firsts.length)
    firsts.push(item)
  }
  return { firsts, placeOf }
}

interface ClaimWith extends Pick<ThreadContext, 'startLogEntries' | 'existingStreams'> {
  readonly now: Date
}

/**
 * Nearly every batch is claimed by one message, which fails as a whole if one id is taken. A batch that has failed is claimed again in a
 * transaction, which tells the ids apart and waits for other transactions that hold them.
 *
 * @param items sorted by id, each id once
 */
async function claimInOneMessage(
  items: readonly Claimable[],
  { pool, ...tools }: ClaimWith & Pick<ThreadContext, 'pool'>,
): Promise<Claimed[]> {
  const { transactions, others, claimedOf } = rowsOfClaim(items, tools)
  const failure = await inOneMessage(pool, [...claimAllTransactions(transactions), ...others])
  if (failure === undefined) return items.map(claimedOf)
  const isLost = mayHaveCommitted(failure)
  if (!isLost && !isOfRows(failure)) throw failure
  return inTransaction(pool, async (tx) => {
    // In one order also on Citus, which takes the locks of a statement's rows shard by shard.
    await takeLocks(
      tx,
      items.map((item) => ({ key: idOf(item) })),
    )
    const claimed = await claimTogether(tx, items, tools)
    // If the lost message has committed, the batches are those of that message.
    const hasCommitted = isLost && (await wasClaimed(tx, items, { claimed, failure }))
    return hasCommitted ? items.map(claimedOf) : claimed
  })
}

/**
 * The answer of a message was lost: it has claimed all of `items` or none. The claim behind it has waited for its end, so one signed
 * authorization of ours in the database proves that all are claimed. A batch without any has nothing to execute, and stays unknown: 503.
 */
async function wasClaimed(
  tx: Transaction,
  items: readonly Claimable[],
  { claimed, failure }: { readonly claimed: readonly Claimed[]; readonly failure: unknown },
): Promise<boolean> {
  if (!claimed.some((one) => one instanceof Failure)) return false
  const authorized = items.find((item) => item.outcome === 'approved')
  if (authorized === undefined) throw failure
  return (await readAuthorization(tx, idOf(authorized))) === authorized.authorization.signed.text
}

/**
 * Runs in the caller's transaction.
 * @param items sorted by id, each id once
 * @returns in the order of `items` the 409 of each whose id was taken before; the others are claimed now, with all rows that belong to them
 */
export async function claimTogether(
  tx: Transaction,
  items: readonly Claimable[],
  tools: ClaimWith,
): Promise<Claimed[]> {
  const all = rowsOfClaim(items, tools)
  const ids = await claimTransactions(tx, all.transactions)
  const claimed = items.filter((item) => ids.has(idOf(item)))
  // An item that was not claimed is not logged either, so the others have other places in the entries of this commit.
  const rows = claimed.length === items.length ? all : rowsOfClaim(claimed, tools)
  const placed = rows === all ? [] : placeAuthorizations(rows.transactions)
  // Waited for before the COMMIT is sent: a claim that loses its database until then leaves nothing, and uses no approval up.
  await tx.run([...placed, ...rows.others])
  return items.map((item) => (ids.has(idOf(item)) ? rows.claimedOf(item) : duplicate(item)))
}

interface RowsOfClaim {
  readonly transactions: readonly BusinessTransactionRow[]
  /** The other statements of the claim. */
  readonly others: Statement[]
  readonly claimedOf: (item: Claimable) => ReleasedBatch | undefined
}

/**
 * Makes the rows of a claim. An unclaimed id that is the name of a batch went through the gateway without the pipeline: its unique violation
 * rolls everything back, and it is not executed again.
 */
function rowsOfClaim(
  items: readonly Claimable[],
  { now, startLogEntries, existingStreams }: ClaimWith,
): RowsOfClaim {
  const entries = startLogEntries()
  const authorized = items.filter((item) => item.outcome === 'approved')
  const refused = items.filter((item) => item.outcome === 'refused')
  const positions = new Map(
    authorized.map((item) => [idOf(item), entries.add(() => authorizationEntry(item))]),
  )
  const batches = batchesOf(authorized)
  const batchOf = new Map(batches.flatMap((batch) => batch.ids.map((id) => [id, batch])))
  const others = [
    ...releaseBatches(batches),
    ...insertHistoryEntries(
      authorized
        .filter(({ counted }) => counted)
        .map((item) => ({
          ...ownership(item),
          policy: item.transaction.policy.name,
          releasedAt: now.toISOString(),
        })),
    ),
    ...insertHistoryGroups(
      authorized.flatMap(({ groups, transaction }) =>
        groups.map((groupHash) => ({
          businessTransactionId: transaction.businessTransactionId,
          groupHash,
          releasedAt: now.toISOString(),
        })),
      ),
    ),
    ...insertRefusals(
      refused.map((item) => ({
        ...ownership(item),
        ...item.refusal,
        ...entries.add(() => refusalEntry(item, existingStreams)),
      })),
    ),
    ...entries.statements(),
  ]
  return {
    transactions: items.map((item) => transactionRow(item, positions.get(idOf(item)) ?? unlogged)),
    others,
    claimedOf: (item) => batchOf.get(idOf(item)),
  }
}

/** Nearly always one batch: executions whose connectors have the same time-out are in doubt at the same time. */
function batchesOf(authorized: readonly Authorized[]) {
  return Array.from(Map.groupBy(authorized, inDoubtAfterMs), ([afterMs, items]) => ({
    batch: randomUUID(),
    ids: items.map(idOf),
    inDoubtAfterMs: afterMs,
  }))
}

function inDoubtAfterMs({ connector }: Authorized): number {
  return connector.timeoutMs + DEADLINE_MARGIN_MS
}

function transactionRow(item: Claimable, position: LogPosition) {
  const isAuthorized = item.outcome === 'approved'
  return {
    ...ownership(item),
    body: item.canonical.stored.text,
    executionAuthorization: isAuthorized ? item.authorization.signed.text : null,
    inDoubtAfterMs: isAuthorized ? inDoubtAfterMs(item) : null,
    ...position,
  }
}

function ownership({ transaction, request, createdAt }: Claimable) {
  return {
    businessTransactionId: transaction.businessTransactionId,
    callerId: request.caller.callerId,
    createdAt,
  }
}
