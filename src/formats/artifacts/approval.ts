// A signed approval: a human's signature over exactly one action. It is checked in the record or the refusal that contains it (approvals.ts).
import type { ArtifactKind } from './kind.ts'

export const approval = {
  name: 'approval',
  logged: {
    kind: 'approval',
    // The approver's key is enrolled, so the stream exists; the capability is the human's own text.
    counted: ({ approverId, capability }) => ({
      streams: { approver: approverId as string },
      named: { capability: capability as string },
    }),
  },
  stored: {
    table: 'approvals',
    id: 'approvalId',
    at: 'deliveredAt',
    columns: {
      approvalId: 'text',
      nonce: 'text',
      approverId: 'text',
      keyId: 'text',
      capability: 'text',
      target: 'text',
      /** Null: the scope consists of limits. */
      parametersHash: 'text?',
      /** An approval of version 2 or 3 has the hash of the approval request that it is for. */
      requestHash: 'text?',
      issuedAt: 'timestamptz',
      expiresAt: 'timestamptz',
      deliveredBy: 'text',
      deliveredAt: 'timestamptz',
    },
    owner: { column: 'delivered_by' },
    audited: ['approval.delivered'],
  },
} as const satisfies ArtifactKind
