// POST /execution-intents/{id}/finalize (decisions §8): closes an intent from the stored record that proves how it ended. The record
// and the closed intent are one commit; one stands without the other after a restored backup, or a commit that only part of a
// distributed database has.
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { NoMembers } from '../../src/formats/schemas/execution-intent.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import type { ThreadContext } from '../context.ts'
import type { WorkerRequest } from '../in-flight.ts'
import { closeIntent } from './close.ts'
import { proofOf } from '../../src/core/intents/proof.ts'

const nothingOf = bodyOf(NoMembers)

export async function finalizeIntent(request: WorkerRequest, thread: ThreadContext) {
  // No body is needed, and a given one must have no members.
  const given = request.body.byteLength === 0 ? undefined : nothingOf(request.body)
  if (given instanceof Failure) return given
  return closeIntent(request, thread, {
    type: 'intent.finalized',
    async endOf({ businessTransactionId: id }, sql) {
      const proof = await proofOf(id, { sql, crypto: thread.crypto })
      if (proof.kind === 'proven') return proof.end
      return failures.conflict(
        proof.kind === 'none'
          ? 'No Execution Trust Record is stored for this execution intent.'
          : `The stored Execution Trust Record proves nothing: ${proof.problem}.`,
      )
    },
  })
}
