// The pages of a human with a passkey send these: enrolments and approvals by the passkeys of the published vectors.
import { createPublicKey, randomUUID } from 'node:crypto'
import { anApprover, aSignedApproval } from './authority.ts'
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
