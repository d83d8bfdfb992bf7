// Fourth stage, the first that acts: ids, nonces and intents of a batch in one transaction, before any connector is called.
// Every outcome is stored here, so the 409 of a taken id wins over all of them (decisions §3).
import { failures, type Failure } from '../../src/core/errors.ts'
import { failureOf } from '../../src/core/failure-of.ts'
import type { Statement } from '../../src/core/postgres/statement-batch.ts'
import { claimTransactions } from '../../src/core/tables/business-transactions.ts'
import { releaseIntents } from '../../src/core/tables/execution-intents.ts'
import { insertHistoryEntries, insertHistoryGroups } from '../../src/core/tables/history-entries.ts'
import { insertRefusals } from '../../src/core/tables/refusal-records.ts'
import { inTransaction, type Transaction } from '../../src/core/postgres/transaction.ts'
import type { Authorized, Claimable } from './decide/authorize.ts'
import type { ThreadContext } from '../context.ts'
import { togetherOrAlone } from '../together-or-alone.ts'
import { Finished, stillGoing } from '../in-flight.ts'
import { authorizationEntry, refusalEntry } from './log-entries.ts'

/** How long after its connector's time-out an intent that is still RELEASED is in doubt (decisions §8). */
const DEADLINE_MARGIN_MS = 2_000

/**
 * Claims a batch: all or nothing per transaction, once across all instances.
 * @param claimable in the order of arrival; an id may occur more than once, and the first one claims it
 * @returns the authorized ones, whose intent is now RELEASED, and the answers of the others: 409 where the id was taken, 503 with nothing
 *   executed where the database is away or refuses evidence. Where the answer to the COMMIT was lost, the id may be claimed
 *   all the same: a repeat is then answered 409, and the intent ends in doubt
 */
export async function admit(
  claimable: readonly (Claimable | Finished)[],
  { pool, storeFault, ...tools }: ClaimWith & Pick<ThreadContext, 'pool' | 'storeFault'>,
): Promise<(Authorized | Finished)[]> {
  const sqlState = storeFault.sqlState()
  if (sqlState !== undefined)
    return claimable.map((item) =>
      item instanceof Finished ? item : new Finished(item.request, failures.evidenceRefused(sqlState)),
    )
  const firsts = firstOfEachId(stillGoing(claimable))
  const notClaimed = await togetherOrAlone([...firsts.values()], {
    work: (some) => inTransaction(pool, (tx) => claimTogether(tx, some, tools)),
    failed: failureOf,
  })
  return claimable.map((item) => {
    if (item instanceof Finished) return item
    const id = item.transaction.businessTransactionId
    const first = firsts.get(id) as Claimable
    // A repeat within the batch shares the first one's failure: where nothing was claimed, no 409 may say otherwise.
    const failure = notClaimed.get(first) ?? (first === item ? undefined : failures.duplicateTransaction(id))
    if (failure !== undefined) return new Finished(item.request, failure)
    return item.outcome === 'authorized' ? item : new Finished(item.request, item.failure)
  })
}

/** Sorted by id: batches of all threads and instances take their ids in one order, so that none waits in a circle. */
function firstOfEachId(items: readonly Claimable[]): Map<string, Claimable> {
  const firsts = new Map<string, Claimable>()
  for (const item of items) {
    const id = item.transaction.businessTransactionId
    if (!firsts.has(id)) firsts.set(id, item)
  }
  return new Map([...firsts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

interface ClaimWith extends Pick<ThreadContext, 'startLogBatch' | 'existingStreams'> {
  readonly now: Date
}

/**
 * Runs in the caller's transaction.
 * @param items sorted by id, each id once
 * @returns those whose id was taken before, each with its 409; the others are claimed now, with all rows that belong to them
 */
export async function claimTogether(
  tx: Transaction,
  items: readonly Claimable[],
  tools: ClaimWith,
): Promise<Map<Claimable, Failure>> {
  const ids = await claimTransactions(tx, items.map(transactionRow))
  const claimed = items.filter((item) => ids.has(item.transaction.businessTransactionId))
  // Waited for before the COMMIT is sent: a claim that loses its database until then leaves nothing, and uses no approval up.
  await tx.run(rowsOfClaim(claimed, tools))
  const duplicates = items.filter((item) => !ids.has(item.transaction.businessTransactionId))
  return new Map(
    duplicates.map((item) => [item, failures.duplicateTransaction(item.transaction.businessTransactionId)]),
  )
}

/**
 * What goes with the claimed ids. An intent that stands already, under an id that nobody had claimed, went through the gateway
 * without the pipeline: its unique violation rolls everything back, and it is not executed again.
 */
function rowsOfClaim(
  claimed: readonly Claimable[],
  { now, startLogBatch, existingStreams }: ClaimWith,
): Statement[] {
  const log = startLogBatch()
  const authorized = claimed.filter((item) => item.outcome === 'authorized')
  const refused = claimed.filter((item) => item.outcome === 'refused')
  return [
    ...releaseIntents(
      authorized.map((item) => ({
        businessTransactionId: item.transaction.businessTransactionId,
        nonce: item.authorization.nonce,
        inDoubtAfterMs: item.connector.timeoutMs + DEADLINE_MARGIN_MS,
        ...log.add(() => authorizationEntry(item)),
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
        ...log.add(() => refusalEntry(item, existingStreams)),
      })),
    ),
    ...log.statements(),
  ]
}

function transactionRow(item: Claimable) {
  return {
    ...ownership(item),
    body: item.canonical.stored.text,
    executionAuthorization: item.outcome === 'authorized' ? item.authorization.signed.text : null,
  }
}

function ownership({ transaction, request, createdAt }: Claimable) {
  return {
    businessTransactionId: transaction.businessTransactionId,
    callerId: request.caller.callerId,
    createdAt,
  }
}
