// POST /execution-intents/{id}/resolve (decisions §8): a human states the outcome of an execution in doubt, or two
// say the same (INTENT_CLOSE_QUORUM=2, or `closeQuorum: 2` of the policy that released it).
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { isSamePerson } from '../../src/formats/people/persons.ts'
import { IntentResolutionRead } from '../../src/formats/schemas/execution-intent.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import { isResolutionStepUp, type ResolutionStepUp } from '../../src/formats/schemas/governance.ts'
import type { IntendedTransaction } from '../../src/store/tables/execution-intents.ts'
import { readFirstWord, type FirstWord } from '../../src/store/tables/in-doubt-intents.ts'
import { consumeStepUpNonce } from '../../src/store/tables/pending-changes.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import { checkStepUp } from '../authority/step-up.ts'
import type { ThreadContext } from '../context.ts'
import type { WorkerRequest } from '../in-flight.ts'
import { closeIntent } from './close.ts'
import { proofOf } from '../../src/core/intents/proof.ts'

const resolutionOf = bodyOf(IntentResolutionRead)

export async function resolveIntent(request: WorkerRequest, thread: ThreadContext) {
  const given = resolutionOf(request.body)
  if (given instanceof Failure) return given
  const { stepUpAuthorization, ...said } = given
  const { callerId: by } = request.caller
  // A session of the console only says who is looking: closing takes a signature of the human.
  const mustSign = request.params['stepUp'] === 'required'
  return closeIntent(request, thread, {
    type: 'intent.resolved',
    async endOf({ businessTransactionId: id, body, intent }, sql) {
      const stepUp =
        mustSign || stepUpAuthorization !== undefined
          ? await authorized(sql, { stepUpAuthorization, said, id, intent, caller: request.caller })
          : undefined
      if (stepUp instanceof Failure) return stepUp
      const resolution = { ...said, ...(stepUp === undefined ? {} : { stepUpAuthorization: stepUp }) }
      // A valid stored record outweighs any statement, even the same one.
      const proof = await proofOf(id, { sql, crypto: thread.crypto })
      if (proof.kind === 'proven')
        return failures.conflict('A stored Execution Trust Record proves the outcome: finalize the intent.')
      if (quorumOf(body, thread) === 1) return { state: 'RESOLVED', ...resolution }
      const first = await readFirstWord(sql, id)
      // The first human may change the statement, and is still one human, under any name.
      if (first === undefined || isSamePerson(thread.persons.current(), first.by, by))
        return { firstWord: resolution }
      if (first.resolution === resolution.resolution)
        return {
          state: 'RESOLVED',
          ...resolution,
          agreedWith: first.by,
          ...(first.stepUpAuthorization === undefined
            ? {}
            : { agreedStepUpAuthorization: first.stepUpAuthorization }),
        }
      return failures.conflict(
        `${first.by} says ${first.resolution}: two humans must state the same outcome. The one who is wrong must correct it.`,
      )
    },
  })
}

/** Consumes the nonce of the step-up, under the id of the execution. */
async function authorized(
  sql: Sql,
  {
    stepUpAuthorization,
    said,
    id,
    intent,
    caller,
  }: Pick<WorkerRequest, 'caller'> & {
    readonly stepUpAuthorization: unknown
    readonly said: Pick<FirstWord, 'resolution' | 'note'>
    readonly id: string
    readonly intent: IntendedTransaction['intent']
  },
): Promise<ResolutionStepUp | Failure> {
  const now = new Date()
  const stepUp = checkStepUp(stepUpAuthorization, {
    isShaped: isResolutionStepUp,
    mismatch(payload) {
      const { payload: released } = JSON.parse(intent?.authorization ?? '{"payload":{}}') as {
        payload: { businessTransactionHash?: string }
      }
      if (payload.businessTransactionId.toLowerCase() !== id) return 'it is for another execution'
      if (payload.businessTransactionHash !== released.businessTransactionHash)
        return 'its businessTransactionHash is not that of the execution'
      if (payload.resolution !== said.resolution) return 'its resolution is not that of the body'
      return payload.note === said.note ? undefined : 'its note is not that of the body'
    },
    by: caller,
    now,
  })
  if (stepUp instanceof Failure) return stepUp
  const { nonce } = stepUp.payload
  const isFresh = await consumeStepUpNonce(sql, { nonce, changeId: id, at: now.toISOString() })
  return isFresh ? stepUp : failures.stepUpInvalid('its nonce has been used')
}

/** A version that this release cannot read may ask for two. */
function quorumOf(body: string, { intentCloseQuorum, policies }: ThreadContext): number {
  const { policy } = JSON.parse(body) as { policy: { name: string; version: string } }
  return Math.max(intentCloseQuorum, policies.find(policy)?.policy.closeQuorum ?? 2)
}
