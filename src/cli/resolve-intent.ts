// countersign intents resolve: a human says how an execution in doubt ended, and signs exactly that (decisions §8). The hash is computed here from
// the action that is shown: a service that shows another action than it has released gets no signature.
import { readFileSync } from 'node:fs'
import { ed25519SigningKey } from '../core/signing/keys.ts'
import { shapeOf } from '../core/json/shape.ts'
import { actionText } from '../formats/action-text.ts'
import { BusinessTransaction } from '../formats/schemas/business-transaction.ts'
import { ExecutionIntent } from '../formats/schemas/execution-intent.ts'
import type { Resolution } from '../formats/schemas/intent-states.ts'
import { isUuid } from '../formats/schemas/primitives.ts'
import { resolutionStepUpPayload } from '../formats/step-up-payload.ts'
import { printable } from '../formats/text/printable.ts'
import { sha256Hex } from '../store/sha256.ts'
import { newNonce, show, signedStepUp } from './approver.ts'
import type { Given } from './command.ts'
import type { intents } from './commands.ts'
import { isConfirmed } from './confirm.ts'
import { serviceOf, stepUpKeyOf } from './profile.ts'
import { get, post, shapedAnswer } from './service.ts'

const OUTCOMES = { executed: 'EXECUTED', 'not-executed': 'NOT_EXECUTED' } as const satisfies Record<
  string,
  Resolution
>

const intentShape = shapeOf(ExecutionIntent)
const transactionShape = shapeOf(BusinessTransaction)

/**
 * Shows an execution in doubt, asks, and delivers a human's signed statement on how it ended.
 * @returns the exit code: 1 where it was not signed
 * @throws Error with a sentence where it is not in doubt, or the service refuses the statement
 */
export async function resolveIntent({
  id,
  outcome,
  note,
  json,
  ...given
}: Given<typeof intents.resolve>): Promise<0 | 1> {
  if (!isUuid(id)) throw new Error('The id must be a businessTransactionId, a UUID.')
  const service = serviceOf(given)
  const key = ed25519SigningKey(given.keyId, readFileSync(stepUpKeyOf(given), 'utf8'))
  const path = `/execution-intents/${id.toLowerCase()}`
  const intent = shapedAnswer(intentShape, await get(service, path))
  if (!intent.inDoubt)
    throw new Error(`The execution is ${intent.state} and not in doubt. Nothing was signed.`)
  const submitted = shapedAnswer(transactionShape, await get(service, `/transactions/${id.toLowerCase()}`))
  const { businessTransactionId, businessTransactionHash } = intent.authorization.payload
  const shownHash = sha256Hex(actionText(businessTransactionId, submitted.intent))
  if (businessTransactionId !== id.toLowerCase() || shownHash !== businessTransactionHash)
    throw new Error(
      'The service shows another action than it has released. Nothing was signed: tell the operator.',
    )

  const said = {
    businessTransactionId,
    businessTransactionHash,
    resolution: OUTCOMES[outcome],
    note: note.trim(),
  }
  const { action, target, parameters } = submitted.intent
  show('You say, by this signature, how this action ended:', { action, target, parameters, ...said })
  if (intent.firstWord !== undefined) {
    const { by, resolution, note: theirs } = intent.firstWord
    console.error(printable(`${by} said ${resolution}: ${theirs}`))
  }
  if (!(await isConfirmed('\nSign it? It is final, and nothing is executed again. [y/N] '))) {
    console.error('Nothing was signed. The execution stays in doubt.')
    return 1
  }
  const payload = resolutionStepUpPayload(said, { nonce: newNonce(), now: new Date() })
  const body = {
    resolution: said.resolution,
    note: said.note,
    stepUpAuthorization: signedStepUp(payload, key),
  }
  const answer = await post(service, `${path}/resolve`, { json: body, accept: [202] })
  const closed = shapedAnswer(intentShape, answer)
  if (json) console.log(answer.body.toString())
  console.error(
    closed.state === 'RESOLVED'
      ? `Signed and delivered: it was ${closed.transitions.at(-1)?.transition.resolution ?? said.resolution}.`
      : 'Signed and delivered. A second human must say the same.',
  )
  return 0
}
