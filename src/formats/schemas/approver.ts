// Approvers' keys, and the changes of keys that humans propose (decisions §7).
import { Type } from 'typebox'
import { ApproverName, humanSignature } from './approval.ts'
import { Reason } from './governance.ts'
import { Base64, closed, Instant } from './primitives.ts'

export const PublicKeyPem = Type.String({ pattern: '\\S', description: 'a PEM Ed25519 public key' })

/** The passkey's own identifier, base64url. */
export const CREDENTIAL_ID = '^[A-Za-z0-9_-]{1,1364}$'

export const passkeyMembers = {
  rpId: Type.String({
    pattern: '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$',
    description: 'a host name in lower case',
  }),
  origins: Type.Array(
    Type.String({
      pattern: '^https?://[a-z0-9.-]+(:[0-9]{1,5})?$',
      description: 'an origin, such as https://approve.example',
    }),
    { minItems: 1, maxItems: 8, description: '1 to 8 origins' },
  ),
  credentialId: Type.String({ pattern: CREDENTIAL_ID, description: 'base64url' }),
  backupEligible: Type.Boolean({ description: 'true or false' }),
}

/** Signed by the passkey itself, as `key-proof`: it proves that the proposer did not invent the key. */
const KeyProof = closed({
  payload: closed({
    version: Type.Literal(1, { description: '1' }),
    approverId: ApproverName,
    keyId: ApproverName,
    spki: Base64,
    rpId: passkeyMembers.rpId,
    origin: passkeyMembers.origins.items,
  }),
  ...humanSignature,
})

const ProposedPasskey = closed({ ...passkeyMembers, proof: KeyProof })
export type ProposedPasskey = Type.Static<typeof ProposedPasskey>

export const Approver = Type.Object({
  approverId: ApproverName,
  keyId: ApproverName,
  publicKeyPem: PublicKeyPem,
  passkey: Type.Optional(closed(passkeyMembers)),
  enrolledAt: Instant,
  revokedAt: Type.Optional(Instant),
})
export type Approver = Type.Static<typeof Approver>

export const ApproverList = Type.Object({ approvers: Type.Array(Approver) })

const approverKey = { approverId: ApproverName, keyId: ApproverName }

export const ApproverProposal = Type.Union([
  closed({
    action: Type.Enum(['add']),
    ...approverKey,
    publicKeyPem: PublicKeyPem,
    passkey: Type.Optional(ProposedPasskey),
    reason: Reason,
  }),
  // Revokes the enrolled key of this name, even if another key is given.
  closed({
    action: Type.Enum(['revoke']),
    ...approverKey,
    publicKeyPem: Type.Optional(PublicKeyPem),
    reason: Reason,
  }),
])
