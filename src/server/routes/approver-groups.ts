// Groups of approvers, which policies ask for approvals of, and changes of them (docs/handbook/governing.md).
import { ApproverGroupList, ApproverGroupProposal } from '../../formats/schemas/approver-group.ts'
import { readApproverGroups } from '../../store/tables/approver-groups.ts'
import { approverGroupChange as change } from '../openapi/examples/changes.ts'
import { changeRoutes } from './changes.ts'
import { wholeList } from './list.ts'
import { governingGet, type Route } from '../route.ts'

const { changeId, proposed, resolvedBy, resolvedAt } = change.approved

export const approverGroups = [
  wholeList({
    ...governingGet,
    path: '/approver-groups',
    readers: true,
    operationId: 'listApproverGroups',
    tag: 'Approvals',
    summary: 'Groups of approvers and their members',
    description:
      'The groups in effect. A policy names them in `from`: then only the approvals of their members count. For humans and auditors.',
    order: 'name',
    schema: ApproverGroupList,
    member: 'approverGroups',
    example: {
      approverGroups: [
        {
          group: proposed.group,
          members: proposed.members,
          approvedBy: resolvedBy,
          approvedAt: resolvedAt,
          approvedByChange: changeId,
        },
      ],
    },
    read: ({ pool }) => readApproverGroups(pool),
    keyOf: ({ group }) => group,
  }),
  ...changeRoutes({
    kind: 'approver-group',
    noun: 'a group of approvers',
    name: 'ApproverGroup',
    example: change,
    proposal: {
      description:
        'To make a group, or to replace all its members, send `set` with the members; to end it, send `remove`. An execution counts those who are members as it is released, so approvals of former members stop counting at once.',
      schema: ApproverGroupProposal,
    },
  }),
] as const satisfies readonly Route[]
