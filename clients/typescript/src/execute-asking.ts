// An execution that humans must approve. The client may be killed between any two of its steps: each step finds the result of the step
// before at the service.
import { CountersignError } from './errors.ts'
import { executeOnce, executeOrRead, following, isDuplicate, standingOf, type Sending } from './execute.ts'
import type { components } from './schema.ts'

type SubmittedTransaction = components['schemas']['SubmittedTransaction']
type TrustRecord = components['schemas']['ExecutionTrustRecord']

/**
 * Executes. Where approvals are missing, asks for them, waits, and executes under the id that is derived from the refused id. Repeated
 * with the same id it continues where it stopped: it waits for the open request, or reads the record where there is one.
 * @param approve asks humans and waits; rejects where they do not approve
 * @throws as `executeOrRead` and `approve`; AnswerError with `needsApproval` where another execution used the approvals up
 */
export async function executeAsking(
  transaction: SubmittedTransaction,
  {
    approve,
    ...sending
  }: Sending & { readonly approve: (transaction: SubmittedTransaction) => Promise<void> },
): Promise<TrustRecord> {
  let standing
  try {
    return await executeOnce(transaction, sending)
  } catch (why) {
    if (isDuplicate(why)) standing = await standingOf(transaction, { ...sending, why })
    else if (lacksApproval(why)) standing = await standingOf(following(transaction), { ...sending, why })
    else throw why
  }
  if (standing.record !== null) return standing.record
  if (!lacksApproval(standing.why)) throw standing.why
  // An unknown id is sent with approvals only: without them it would be refused and used up.
  await approve(standing.next)
  return executeOrRead(standing.next, sending)
}

function lacksApproval(error: unknown): boolean {
  return error instanceof CountersignError && error.needsApproval
}
