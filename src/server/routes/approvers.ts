// The keys of approvers, and changes of them (decisions §7). Anyone reads a single key at GET /keys/{keyId}.
import { ApproverList, ApproverProposal } from '../../formats/schemas/approver.ts'
import { readApprovers } from '../../store/tables/approvers.ts'
import { approverChange as change } from '../openapi/examples/changes.ts'
import { changeRoutes } from './changes.ts'
import { wholeList } from './list.ts'
import { governingGet, type Route } from '../route.ts'

const { approverId, keyId, publicKeyPem } = change.pending.proposed

export const approvers = [
  wholeList({
    ...governingGet,
    path: '/approvers',
    readers: true,
    operationId: 'listApprovers',
    tag: 'Approvals',
    summary: 'Approvers and their keys',
    description: 'All keys that were ever enrolled, including revoked ones. For humans and auditors.',
    order: 'approverId and keyId',
    schema: ApproverList,
    member: 'approvers',
    example: {
      approvers: [{ approverId, keyId, publicKeyPem, enrolledAt: change.approved.resolvedAt }],
    },
    read: ({ pool }) => readApprovers(pool),
    // A space sorts before every character of both names, so the keys of one approver are together.
    keyOf: (row) => `${row.approverId} ${row.keyId}`,
  }),
  ...changeRoutes({
    kind: 'approver',
    noun: 'an approver’s key',
    name: 'Approver',
    example: change,
    proposal: {
      description:
        'A key or its id can be enrolled only once: a revoked key cannot be enrolled again. `countersign approver keygen` makes a key pair.',
      schema: ApproverProposal,
    },
  }),
] as const satisfies readonly Route[]
