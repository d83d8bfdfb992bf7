// Fourth stage, the first that acts: ids, nonces and intents of a batch in one message, before any connector is called.
// Every outcome is stored here, so the 409 of a taken id wins over all of them (decisions §3).
import { failures, type Failure } from '../../src/core/errors/errors.ts'
import { failureOf } from '../../src/core/errors/failure-of.ts'
import type { Statement } from '../../src/store/postgres/statement-batch.ts'
import {
  claimAllTransactions,
  claimTransactions,
  readAuthorization,
} from '../../src/store/tables/business-transactions.ts'
import { releaseIntents } from '../../src/store/tables/execution-intents.ts'
import { insertHistoryEntries, insertHistoryGroups } from '../../src/store/tables/history-entries.ts'
import { insertRefusals } from '../../src/store/tables/refusal-records.ts'
import { isOfRows, mayHaveCommitted } from '../../src/store/postgres/sql-errors.ts'
import { takeLocks } from '../../src/store/postgres/sql.ts'
import { inOneMessage, inTransaction, type Transaction } from '../../src/store/postgres/transaction.ts'
import type { Authorized, Claimable } from './decide/authorize.ts'
import type { ThreadContext } from '../context.ts'
import { togetherOrAlone } from '../together-or-alone.ts'
import { inIdOrder } from '../in-id-order.ts'
import { Finished, stillGoing } from '../in-flight.ts'
import { authorizationEntry, refusalEntry } from './log-entries.ts'

/** How long after its connector's time-out an intent that is still RELEASED is in doubt (decisions §8). */
const DEADLINE_MARGIN_MS = 2_000

/** Its id, its nonce and its intent are claimed: its connector is called once, and nothing else with its id ever is. */
export interface Released extends Omit<Authorized, 'outcome'> {
  readonly outcome: 'released'
}

/** Undefined: claimed. */
type NotClaimed = Failure | undefined

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
  const notClaimed = await inIdOrder(firsts, idOf, (sorted) =>
    togetherOrAlone<Claimable, NotClaimed>(sorted, {
      work: (some) => claimInOneMessage(some, { pool, ...tools }),
      failed: failureOf,
    }),
  )
  return claimable.map((item) => {
    if (item instanceof Finished) return item
    const place = placeOf.get(idOf(item))!
    // A repeat within the batch shares the first one's failure: where nothing was claimed, no 409 may say otherwise.
    const failure = notClaimed[place] ?? (firsts[place] === item ? undefined : duplicate(item))
    if (failure !== undefined) return new Finished(item.request, failure)
    return item.outcome === 'approved' ? released(item) : new Finished(item.request, item.failure)
  })
}

export function released(item: Authorized): Released {
  return { ...item, outcome: 'released' }
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
 * Nearly every batch is claimed by one message, which an id that is taken fails as a whole. What has failed is claimed again in a
 * transaction, which tells the ids apart and waits for whoever holds them.
 *
 * @param items sorted by id, each id once
 */
async function claimInOneMessage(
  items: readonly Claimable[],
  { pool, ...tools }: ClaimWith & Pick<ThreadContext, 'pool'>,
): Promise<NotClaimed[]> {
  const failure = await inOneMessage(pool, [
    ...claimAllTransactions(items.map(transactionRow)),
    ...rowsOfClaim(items, tools),
  ])
  if (failure === undefined) return items.map(() => undefined)
  const isLost = mayHaveCommitted(failure)
  if (!isLost && !isOfRows(failure)) throw failure
  return inTransaction(pool, async (tx) => {
    // In one order also on Citus, which takes the locks of a statement's rows shard by shard.
    await takeLocks(
      tx,
      items.map((item) => ({ key: idOf(item) })),
    )
    const notClaimed = await claimTogether(tx, items, tools)
    return isLost ? asLost(tx, items, { notClaimed, failure }) : notClaimed
  })
}

/**
 * The answer of a message was lost: it has claimed all of `items` or none. The claim behind it has waited for its end, and one signed
 * authorization of ours that stands in the database tells of all. A batch without one has nothing to execute, and stays unknown: 503.
 */
async function asLost(
  tx: Transaction,
  items: readonly Claimable[],
  { notClaimed, failure }: { readonly notClaimed: NotClaimed[]; readonly failure: unknown },
): Promise<NotClaimed[]> {
  if (notClaimed.every((taken) => taken === undefined)) return notClaimed
  const authorized = items.find((item) => item.outcome === 'approved')
  if (authorized === undefined) throw failure
  const hasCommitted =
    (await readAuthorization(tx, idOf(authorized))) === authorized.authorization.signed.text
  return hasCommitted ? items.map(() => undefined) : notClaimed
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
): Promise<NotClaimed[]> {
  const ids = await claimTransactions(tx, items.map(transactionRow))
  const claimed = items.filter((item) => ids.has(idOf(item)))
  // Waited for before the COMMIT is sent: a claim that loses its database until then leaves nothing, and uses no approval up.
  await tx.run(rowsOfClaim(claimed, tools))
  return items.map((item) => (ids.has(idOf(item)) ? undefined : duplicate(item)))
}

/**
 * Makes the rows that go with the claimed ids. An intent that exists already, under an unclaimed id, went through the gateway
 * without the pipeline: its unique violation rolls everything back, and it is not executed again.
 */
function rowsOfClaim(
  claimed: readonly Claimable[],
  { now, startLogEntries, existingStreams }: ClaimWith,
): Statement[] {
  const entries = startLogEntries()
  const authorized = claimed.filter((item) => item.outcome === 'approved')
  const refused = claimed.filter((item) => item.outcome === 'refused')
  return [
    ...releaseIntents(
      authorized.map((item) => ({
        businessTransactionId: idOf(item),
        nonce: item.authorization.nonce,
        inDoubtAfterMs: item.connector.timeoutMs + DEADLINE_MARGIN_MS,
        ...entries.add(() => authorizationEntry(item)),
      })),
    ),
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
}

function transactionRow(item: Claimable) {
  return {
    ...ownership(item),
    body: item.canonical.stored.text,
    executionAuthorization: item.outcome === 'approved' ? item.authorization.signed.text : null,
  }
}

function ownership({ transaction, request, createdAt }: Claimable) {
  return {
    businessTransactionId: transaction.businessTransactionId,
    callerId: request.caller.callerId,
    createdAt,
  }
}
