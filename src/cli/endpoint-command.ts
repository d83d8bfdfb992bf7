// `countersign approver sign-endpoint`: the step-up of a human for an event endpoint (docs/handbook/events.md).
import { readFileSync } from 'node:fs'
import { ed25519SigningKey } from '../core/signing/keys.ts'
import { endpointStepUpPayload, STEP_UP_MS } from '../formats/step-up-payload.ts'
import { newNonce, show, signedStepUp } from './approver-command.ts'

export interface EndpointToSign {
  /** A file. */
  readonly key: string
  /** Its endpointId. */
  readonly endpoint: string
  readonly action: 'redeliver' | 'secret'
  readonly after?: string
  readonly keyId: string
}

/**
 * Prints the body of `POST /event-endpoints/{id}/redeliver` or `/secret`.
 * @throws Error with a sentence for an `after` that belongs to the other action
 */
export function signEndpoint({ key: file, endpoint, action, after, keyId }: EndpointToSign, now: Date): void {
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
