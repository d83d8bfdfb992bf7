// Approvers' keys and the changes of them that humans propose (decisions §7).
import { Type } from 'typebox'
import { ApproverName } from './approval.ts'
import { Reason } from './governance.ts'
import { Instant } from './primitives.ts'

const PublicKeyPem = Type.String({ description: 'a PEM Ed25519 public key' })
export const Approver = Type.Object({
  approverId: ApproverName,
  keyId: ApproverName,
  publicKeyPem: PublicKeyPem,
  enrolledAt: Instant,
  revokedAt: Type.Optional(Instant),
})

export const ApproverList = Type.Object({ approvers: Type.Array(Approver) })

export const ApproverProposal = Type.Object({
  action: Type.Enum(['add', 'revoke'], { description: 'one of add, revoke' }),
  approverId: ApproverName,
  keyId: ApproverName,
  publicKeyPem: Type.Optional(PublicKeyPem),
  reason: Reason,
})
