// The pages of a human with a passkey send these: enrolments and approvals by the passkeys of the published vectors.
import { createPublicKey, randomUUID } from 'node:crypto'
import { anApprover, aSignedApproval } from './authority.ts'
import { loginPayload, registrationPayload } from '../src/formats/console-login.ts'
import { canonicalize } from '../src/formats/json/canonical.ts'
import type { Members } from './vectors/edit.ts'
import {
  asserted,
  ORIGIN,
  passkeyJson,
  RP_ID,
  type Otherwise,
  type PasskeyOwner,
} from './vectors/passkeys.ts'

/** Makes what a page sends to have a passkey enrolled. */
export function aPasskeyEnrolment(owner: PasskeyOwner, how?: Otherwise, change: Members = {}) {
  const [approverId = '', keyId = ''] = owner.keyId.split(':')
  const { pem, passkey } = passkeyJson(owner) as { pem: string; passkey: Members }
  const spki = createPublicKey(pem).export({ type: 'spki', format: 'der' }).toString('base64')
  const payload = { version: 1, approverId, keyId, spki, rpId: RP_ID, origin: ORIGIN, ...change }
  const proof = { payload, ...asserted('key-proof', canonicalize(payload), owner, how) }
  return {
    action: 'add',
    approverId,
    keyId,
    publicKeyPem: pem,
    passkey: { ...passkey, credentialId: 'Y3JlZGVudGlhbA', proof },
    reason: 'test',
  }
}

interface Login {
  /** Origin of the console. */
  readonly origin: string
  readonly challenge: string
}

const atOrigin = (origin: string, how: Otherwise): Otherwise => ({
  rpId: new URL(origin).hostname,
  ...how,
  clientData: { origin, ...how.clientData },
})

/** The login page's request body: signed by a passkey, under the credential id from its authenticator. */
export function aPasskeyLogin(
  owner: PasskeyOwner,
  { origin, challenge }: Login,
  { credentialId = credentialIdOf(owner), ...how }: Otherwise & { readonly credentialId?: string } = {},
) {
  const text = canonicalize({ ...loginPayload({ origin, challenge }) })
  const { algorithm: _, ...signed } = asserted('console-login', text, owner, atOrigin(origin, how))
  return { challenge, credentialId, ...signed }
}

/** The page's request body that registers a passkey for logins. */
export function aLoginRegistration(
  owner: PasskeyOwner,
  { key, callerId, origin, challenge }: Login & { readonly key: string; readonly callerId: string },
  how: Otherwise = {},
) {
  const { pem } = passkeyJson(owner) as { pem: string }
  const spki = createPublicKey(pem).export({ type: 'spki', format: 'der' }).toString('base64')
  const payload = registrationPayload({ challenge, origin, callerId, name: 'phone', spki })
  return {
    key,
    name: 'phone',
    challenge,
    publicKeyPem: pem,
    credentialId: credentialIdOf(owner),
    backupEligible: owner.backupEligible,
    proof: asserted('console-login', canonicalize({ ...payload }), owner, atOrigin(origin, how)),
  }
}

function credentialIdOf({ keyId }: PasskeyOwner): string {
  return Buffer.from(keyId).toString('base64url')
}

/** A signed approval of any echo, or of one target. */
export function aPasskeyApproval(
  owner: PasskeyOwner,
  target: string = randomUUID(),
  how?: Otherwise,
  members: Members = {},
) {
  const [approverId = '', keyId = ''] = owner.keyId.split(':')
  const { payload: made } = aSignedApproval(anApprover(approverId, keyId), { target })
  const payload = { ...(made as unknown as Members), ...members }
  return { payload, ...asserted('approval', canonicalize(payload), owner, how) }
}
