// An execution that humans must approve, also by a client that was killed between any two of its steps: each step finds what the one
// before left at the service.
import { v5 } from 'uuid'
import { CountersignError } from './errors.ts'
import { executeOrRead, recordOf, type ExecutionCalls } from './execute.ts'
import type { Pacing } from './retry.ts'
import type { components } from './schema.ts'

type Schemas = components['schemas']
type SubmittedTransaction = Schemas['SubmittedTransaction']
type TrustRecord = Schemas['ExecutionTrustRecord']

/**
 * Executes, and where approvals are missing asks for them, waits, and executes under the id that follows from the refused one. Repeated
 * with the same id it goes on where it stopped: it waits for the request that is open, and reads the record where there is one.
 * @param approve asks humans and waits; rejects where they do not approve
 * @throws as `executeOrRead` and `approve`; CountersignError with `needsApproval` where another execution used the approvals up
 */
export async function executeAsking(
  transaction: SubmittedTransaction,
  {
    callsOf,
    approve,
    pacing,
  }: {
    readonly callsOf: (transaction: SubmittedTransaction) => ExecutionCalls
    readonly approve: (transaction: SubmittedTransaction) => Promise<void>
    readonly pacing: Pacing
  },
): Promise<TrustRecord> {
  let refusal: unknown
  try {
    return await executeOrRead(transaction, callsOf(transaction), pacing)
  } catch (error) {
    if (!lacksApproval(error)) throw error
    refusal = error
  }
  for (let next = following(transaction); ; next = following(next)) {
    try {
      // An id that is unknown is used with approvals only: sent without, it would be refused and used up.
      const record = await recordOf(next, callsOf(next), pacing, refusal)
      if (record !== null) return record
    } catch (error) {
      if (!lacksApproval(error)) throw error
      refusal = error
      continue
    }
    await approve(next)
    return executeOrRead(next, callsOf(next), pacing)
  }
}

function lacksApproval(error: unknown): boolean {
  return error instanceof CountersignError && error.needsApproval
}

/** The same content under the id that every client derives: `deterministicId(businessTransactionId, 'approved')`. */
function following(transaction: SubmittedTransaction): SubmittedTransaction {
  const businessTransactionId = v5('approved', transaction.businessTransactionId)
  const metadata = { ...transaction.metadata, businessTransactionId }
  return { ...transaction, businessTransactionId, metadata }
}
