// POST /execution-intents/{id}/resolve (decisions §8): a human states the outcome of an execution in doubt, or two
// say the same (INTENT_CLOSE_QUORUM=2, or `closeQuorum: 2` of the policy that released it).
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { isSamePerson } from '../../src/formats/people/persons.ts'
import { IntentResolution } from '../../src/formats/schemas/execution-intent.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import { readFirstWord } from '../../src/store/tables/in-doubt-intents.ts'
import type { ThreadContext } from '../context.ts'
import type { WorkerRequest } from '../in-flight.ts'
import { closeIntent } from './close.ts'
import { proofOf } from '../../src/core/intents/proof.ts'

const resolutionOf = bodyOf(IntentResolution)

export async function resolveIntent(request: WorkerRequest, thread: ThreadContext) {
  const resolution = resolutionOf(request.body)
  if (resolution instanceof Failure) return resolution
  const { callerId: by } = request.caller
  return closeIntent(request, thread, {
    type: 'intent.resolved',
    async endOf({ businessTransactionId: id, body }, sql) {
      // A valid stored record outweighs any statement, even the same one.
      const proof = await proofOf(id, { sql, crypto: thread.crypto })
      if (proof.kind === 'proven')
        return failures.conflict('A stored Execution Trust Record proves the outcome: finalize the intent.')
      if (quorumOf(body, thread) === 1) return { state: 'RESOLVED', ...resolution }
      const first = await readFirstWord(sql, id)
      // The human who spoke first may say otherwise, and is still one human, by whichever name.
      if (first === undefined || isSamePerson(thread.persons.current(), first.by, by))
        return { firstWord: resolution }
      if (first.resolution === resolution.resolution)
        return { state: 'RESOLVED', ...resolution, agreedWith: first.by }
      return failures.conflict(
        `${first.by} says ${first.resolution}: two humans must state the same outcome. The one who is wrong must correct it.`,
      )
    },
  })
}

/** A version that this release cannot read may ask for two. */
function quorumOf(body: string, { intentCloseQuorum, policies }: ThreadContext): number {
  const { policy } = JSON.parse(body) as { policy: { name: string; version: string } }
  return Math.max(intentCloseQuorum, policies.find(policy)?.policy.closeQuorum ?? 2)
}
