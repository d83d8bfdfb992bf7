// POST /execution-intents/{id}/resolve (decisions §8): a human says how an execution ended that nothing else tells of.
import { Failure, failures } from '../../src/core/errors.ts'
import { IntentResolution } from '../../src/core/schemas/execution-intent.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import { answerEach } from '../answer-each.ts'
import type { ThreadContext } from '../context.ts'
import type { Finished, WorkerRequest, InFlight } from '../in-flight.ts'
import { closeIntent } from './close.ts'
import { proofOf } from '../../src/core/intents/proof.ts'

const resolutionOf = bodyOf(IntentResolution)

export function resolveIntents(batch: readonly InFlight[], thread: ThreadContext): Promise<Finished[]> {
  return answerEach(batch, (request) => resolve(request, thread))
}

async function resolve(request: WorkerRequest, thread: ThreadContext) {
  const resolution = resolutionOf(request.body)
  if (resolution instanceof Failure) return resolution
  return closeIntent(request, thread, {
    type: 'intent.resolved',
    async endOf(id, { nonce }, sql) {
      // No word stands against a stored record that holds, be it the same word.
      const proof = await proofOf({ id, nonce }, { sql, crypto: thread.crypto })
      if (proof.kind === 'proven')
        return failures.conflict('A stored Execution Trust Record proves the outcome: finalize the intent.')
      return { state: 'RESOLVED', ...resolution }
    },
  })
}
