// Callers' keys, and the changes of keys that humans propose (docs/handbook/callers.md).
import { Type } from 'typebox'
import { ApproverName } from './approval.ts'
import { passkeyMembers, PublicKeyPem } from './approver.ts'
import { Reason } from './governance.ts'
import { closed, Instant, NonEmptyText, Timestamp, Uuid } from './primitives.ts'

/** Records name `anonymous` when authentication is disabled (decisions §2), so no key may have this name. */
export const CallerId = Type.String({
  pattern: '^(?!anonymous$)[!-~]{1,128}$',
  description: "1 to 128 printable ASCII characters without spaces, and not 'anonymous'",
})

export const KeyHash = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'the SHA-256 of the raw key, 64 lowercase hex characters',
})

const KeyId = Type.String({
  pattern: '^[0-9a-f]{16}$',
  description: 'the first 16 characters of the SHA-256 of the raw key, in lowercase hex',
})

export const HolderType = Type.Enum(['USER', 'ROLE', 'SERVICE', 'ORGANIZATION'], {
  type: 'string',
  description: 'one of: USER | ROLE | SERVICE | ORGANIZATION',
})

const names = () =>
  Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
    maxItems: 64,
    description: 'an array of at most 64 non-empty strings of at most 256 characters',
  })

const { credentialId, ...passkey } = passkeyMembers
const StepUpPasskey = closed({
  publicKeyPem: Type.String({ pattern: '\\S', description: 'a PEM public key of Ed25519 or P-256' }),
  ...passkey,
  credentialId: Type.Optional(credentialId),
})
const readAll = Type.Boolean({ description: 'true or false' })

export const CallerKeyProposal = Type.Union([
  closed({
    action: Type.Enum(['issue']),
    callerId: CallerId,
    keyHash: KeyHash,
    allowedPrincipalIds: Type.Optional(names()),
    allowedCapabilities: Type.Optional(names()),
    credentialHolderType: Type.Optional(HolderType),
    stepUpPublicKey: Type.Optional(PublicKeyPem),
    stepUpPasskey: Type.Optional(StepUpPasskey),
    approverId: Type.Optional(ApproverName),
    readAll: Type.Optional(readAll),
    expiresAt: Type.Optional(Timestamp),
    reason: Reason,
  }),
  closed({ action: Type.Enum(['revoke']), callerId: CallerId, keyId: KeyId, reason: Reason }),
])

export const CallerKey = Type.Object({
  callerId: CallerId,
  keyId: KeyId,
  source: Type.Enum(['governance', 'configuration'], {
    description: '`configuration`: an entry of SERVICE_API_KEYS of this instance',
  }),
  status: Type.Enum(['IN_EFFECT', 'EXPIRED', 'REVOKED', 'REFUSED'], {
    description: '`REFUSED`: an entry of the configuration that contradicts what governance has issued',
  }),
  allowedPrincipalIds: Type.Optional(Type.Array(NonEmptyText)),
  allowedCapabilities: Type.Optional(
    Type.Array(NonEmptyText, { description: 'as approved or configured; `*` means all' }),
  ),
  credentialHolderType: Type.Optional(HolderType),
  readAll: Type.Optional(readAll),
  stepUpPublicKey: Type.Optional(PublicKeyPem),
  stepUpPasskey: Type.Optional(StepUpPasskey),
  approverId: Type.Optional(ApproverName),
  expiresAt: Type.Optional(Instant),
  issuedAt: Type.Optional(Instant),
  issuedBy: Type.Optional(
    Type.String({ pattern: '\\S', description: 'the human who approved the change that issued it' }),
  ),
  issuedByChange: Type.Optional(Uuid),
  revokedAt: Type.Optional(Instant),
  revokedBy: Type.Optional(
    Type.String({ pattern: '\\S', description: 'the human who approved the change that revoked it' }),
  ),
  revokedByChange: Type.Optional(Uuid),
})
export type CallerKey = Type.Static<typeof CallerKey>

export const CallerKeyList = Type.Object({ callerKeys: Type.Array(CallerKey) })
