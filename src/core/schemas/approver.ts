// Approvers' keys and the changes of them that humans propose (decisions §7).
import { Type } from 'typebox'
import { ApproverName, closed } from './approval.ts'
import { Reason } from './governance.ts'
import { Instant } from './primitives.ts'

const PublicKeyPem = Type.String({ pattern: '\\S', description: 'a PEM Ed25519 public key' })

export const Approver = Type.Object({
  approverId: ApproverName,
  keyId: ApproverName,
  publicKeyPem: PublicKeyPem,
  enrolledAt: Instant,
  revokedAt: Type.Optional(Instant),
})

export const ApproverList = Type.Object({ approvers: Type.Array(Approver) })

const approverKey = { approverId: ApproverName, keyId: ApproverName }

export const ApproverProposal = Type.Union([
  closed({ action: Type.Enum(['add']), ...approverKey, publicKeyPem: PublicKeyPem, reason: Reason }),
  // What is enrolled under the name is revoked, whatever key is given.
  closed({
    action: Type.Enum(['revoke']),
    ...approverKey,
    publicKeyPem: Type.Optional(PublicKeyPem),
    reason: Reason,
  }),
])
