// One execution with all evidence that it was permitted, and that the evidence log contains it.
import { Type } from 'typebox'
import { Change } from './governance.ts'
import { NonEmptyText } from './primitives.ts'
import { PublicSigningKey } from './signing-key.ts'
import { ExecutionTrustRecord } from './trust-record.ts'

export const EvidenceBundle = Type.Object({
  bundle: Type.Enum(['countersign/1']),
  record: ExecutionTrustRecord,
  policy: Type.String({
    description: 'The policy document as it was decided by: its SHA-256 is the policyContentHash.',
  }),
  approverKeys: Type.Array(PublicSigningKey, {
    description:
      'The keys that the approvals in the record are signed by, as `GET /keys/{keyId}` answers them.',
  }),
  changes: Type.Array(Change, {
    description:
      'The changes that put the policy version and those keys into force. None is of a policy that was loaded at the first start.',
  }),
  proofs: Type.Array(
    Type.Object({
      kind: Type.Enum(['change', 'approval-request', 'approval', 'authorization', 'receipt', 'confirmation']),
      id: NonEmptyText,
      proof: Type.String({
        description: 'A C2SP `.tlog-proof`, as `GET /log/proofs/{kind}/{id}` answers it.',
      }),
    }),
    {
      description:
        'Proofs of every change, every approval, the authorization, the newest receipt and every confirmation in the record.',
    },
  ),
})
