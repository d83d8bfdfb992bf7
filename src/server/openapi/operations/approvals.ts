// Signed approvals of single actions (decisions §7).
import { Type } from 'typebox'
import { Approval, ApprovalPage, SignedApproval } from '../../../core/schemas/approval.ts'
import { NonEmptyText } from '../../../core/schemas/primitives.ts'
import { approvalStatuses } from '../../../core/tables/approvals.ts'
import approval from '../examples/approval.json' with { type: 'json' }
import type { Operation } from '../operation.ts'
import { paging } from '../parameters.ts'

export const approvals = {
  'POST /approvals': {
    operationId: 'deliverApproval',
    tag: 'Approvals',
    summary: 'Deliver an approval that a human has signed',
    description:
      'Any caller may deliver it: the approver’s signature is its authority. It is used up by the first execution that it covers and whose policy asks for it. Made by `countersign approver sign-approval`.',
    body: { schema: SignedApproval, example: approval.approval },
    answers: {
      201: { description: 'Stored, to be used once.', schema: Approval, example: approval },
    },
    failures: ['malformedJson', 'invalidField', 'conflict', 'overloaded'],
    readsDatabase: true,
  },
  'GET /approvals': {
    operationId: 'listApprovals',
    tag: 'Approvals',
    summary: 'Approvals that were delivered',
    description: 'For humans.',
    query: {
      ...paging,
      status: { schema: Type.Enum([...approvalStatuses]), description: 'Only approvals that stand so now.' },
    },
    answers: {
      200: {
        description: 'One page, the newest delivery first.',
        schema: ApprovalPage,
        example: { approvals: [approval] },
      },
    },
    failures: ['invalidPage', 'invalidPageSize', 'invalidQuery', 'overloaded'],
    readsDatabase: true,
  },
  'GET /approvals/{id}': {
    operationId: 'getApproval',
    tag: 'Approvals',
    summary: 'One approval, and what became of it',
    description: 'For humans.',
    params: {
      id: { schema: NonEmptyText, description: 'its approvalId', example: approval.approvalId },
    },
    answers: {
      200: { description: 'As it was delivered.', schema: Approval, example: approval },
    },
    failures: ['approvalNotFound', 'overloaded'],
    readsDatabase: true,
  },
} as const satisfies Record<string, Operation>
