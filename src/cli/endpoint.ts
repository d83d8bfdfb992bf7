// `countersign approver sign-endpoint`: the step-up of a human for an event endpoint (docs/handbook/events.md).
import { readFileSync } from 'node:fs'
import { ed25519SigningKey } from '../core/signing/keys.ts'
import { endpointStepUpPayload, STEP_UP_MS } from '../formats/step-up-payload.ts'
import { newNonce, show, signedStepUp } from './approver.ts'
import type { Given } from './command.ts'
import type { approver } from './commands.ts'

/**
 * Prints the body of `POST /event-endpoints/{id}/redeliver` or `/secret`.
 * @throws Error with a sentence for an `after` that belongs to the other action
 */
export function signEndpoint(
  { key: file, endpoint, action, after, keyId }: Given<typeof approver.signEndpoint>,
  now: Date,
): void {
  if (action === 'secret' && after !== undefined) throw new Error('--after belongs to --action redeliver.')
  const key = ed25519SigningKey(keyId, readFileSync(file, 'utf8'))
  const payload = endpointStepUpPayload({ endpointId: endpoint, action, after }, { nonce: newNonce(), now })
  show('You authorize, once, by this signature:', payload)
  console.error(`Send it within ${STEP_UP_MS / 1000} seconds.`)
  console.log(
    JSON.stringify({
      ...(after === undefined ? {} : { after }),
      stepUpAuthorization: signedStepUp(payload, key),
    }),
  )
}
