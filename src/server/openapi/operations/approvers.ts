// The keys of approvers, and changes of them (decisions §7).
import { ApproverList, ApproverProposal } from '../../../core/schemas/approver.ts'
import change from '../examples/approver-change.json' with { type: 'json' }
import type { Operation } from '../operation.ts'
import { cursor } from '../parameters.ts'
import { approving, listing, proposing, rejecting, showing } from './changes.ts'

const words = { noun: 'an approver’s key', name: 'Approver' }
const { approverId, keyId, publicKeyPem } = change.pending.proposed

export const approvers = {
  'GET /approvers': {
    operationId: 'listApprovers',
    tag: 'Approvals',
    summary: 'Whose signed approvals count',
    description:
      'Every key ever enrolled, the revoked ones too. For humans. Whole, up to 4 MiB; then `Link` leads on.',
    query: cursor,
    answers: {
      200: {
        description: 'By approverId and keyId.',
        schema: ApproverList,
        example: {
          approvers: [{ approverId, keyId, publicKeyPem, enrolledAt: change.approved.resolvedAt }],
        },
        optionalHeaders: ['Link'],
      },
    },
    failures: ['invalidQuery', 'overloaded'],
    readsDatabase: true,
  },
  'POST /approvers/changes': proposing(words, change, {
    description:
      'A key and its id are enrolled once and for good: a revoked one does not come back. A key pair is made by `countersign approver keygen`.',
    body: {
      schema: ApproverProposal,
      example: { ...change.pending.proposed, reason: change.pending.reason },
    },
  }),
  'GET /approvers/changes': listing(words, change),
  'GET /approvers/changes/{id}': showing(words, change),
  'POST /approvers/changes/{id}/approve': approving(words, change),
  'POST /approvers/changes/{id}/reject': rejecting(words, change),
} as const satisfies Record<string, Operation>
