// Signed approvals of single actions (decisions §7).
import { Type } from 'typebox'
import { failures, Failure } from '../../core/errors/errors.ts'
import { Approval, ApprovalPage, approvalStatuses, SignedApproval } from '../../formats/schemas/approval.ts'
import { isUuid, NonEmptyText, Uuid } from '../../formats/schemas/primitives.ts'
import { approvalText } from '../../store/tables/sealed.ts'
import { listApprovals, readApproval } from '../../store/tables/approvals.ts'
import example from '../openapi/examples/approval.json' with { type: 'json' }
import { listFailures, paging } from '../openapi/parameters.ts'
import { readChoice, readPage } from './paging.ts'
import { get, post, type Route } from '../route.ts'
import { onThread } from './on-thread.ts'

export const approvals = [
  {
    ...post,
    path: '/approvals',
    session: true,
    appends: true,
    cost: 'compute',
    operationId: 'deliverApproval',
    tag: 'Approvals',
    summary: 'Deliver an approval that a human has signed',
    description:
      'Any caller may deliver it, because the approver’s signature authorizes it. The first execution that it covers and whose policy asks for it uses it up. `countersign approver sign-approval` makes it.',
    body: { schema: SignedApproval, example: example.approval },
    answers: {
      201: { description: 'Stored, to be used once.', schema: Approval, example },
    },
    failures: ['malformedJson', 'invalidField', 'conflict', 'overloaded'],
    readsDatabase: true,
    handle: onThread('deliver-approval', { as: 201 }),
  },
  {
    ...get,
    path: '/approvals',
    readers: true,
    operationId: 'listApprovals',
    tag: 'Approvals',
    summary: 'Delivered approvals',
    description: 'For humans and auditors.',
    query: {
      ...paging,
      status: {
        schema: Type.Enum([...approvalStatuses]),
        description: 'Only approvals with this status now.',
      },
      consumedBy: {
        schema: Uuid,
        description: 'Only approvals that the execution with this businessTransactionId used up.',
      },
    },
    answers: {
      200: {
        description: 'One page, the newest delivery first.',
        schema: ApprovalPage,
        example: { approvals: [example] },
      },
    },
    failures: listFailures,
    readsDatabase: true,
    async handle({ query }, { pool }) {
      const page = readPage(query)
      if (page instanceof Failure) return page
      const status = readChoice(query, 'status', approvalStatuses)
      if (status instanceof Failure) return status
      const consumedBy = query.get('consumedBy')
      if (consumedBy !== null && !isUuid(consumedBy))
        return failures.invalidQuery('consumedBy must be a valid UUID.')
      const listed = await listApprovals(pool, { ...page, status, consumedBy })
      return { status: 200, body: `{"approvals":[${listed.map(approvalText).join(',')}]}` }
    },
  },
  {
    ...get,
    path: '/approvals/{id}',
    readers: true,
    operationId: 'getApproval',
    tag: 'Approvals',
    summary: 'One approval and its status',
    description: 'For humans and auditors.',
    params: {
      id: { schema: NonEmptyText, description: 'its approvalId', example: example.approvalId },
    },
    answers: {
      200: { description: 'The approval and its current status.', schema: Approval, example },
    },
    failures: ['approvalNotFound', 'overloaded'],
    readsDatabase: true,
    async handle({ params: { id = '' } }, { pool }) {
      // PostgreSQL refuses a text that holds a NUL.
      const found = id.includes('\0') ? null : await readApproval(pool, id)
      return found === null ? failures.approvalNotFound() : { status: 200, body: approvalText(found) }
    },
  },
] as const satisfies readonly Route[]
