// Stand-ins of approvers, who count in groups in place of others for a time, and changes of them (docs/handbook/governing.md).
import { StandInList, StandInProposal } from '../../formats/schemas/stand-in.ts'
import { standInTarget } from '../../store/tables/authority.ts'
import { readStandIns } from '../../store/tables/stand-ins.ts'
import { standInChange as change } from '../openapi/examples/changes.ts'
import { changeRoutes } from './changes.ts'
import { wholeList } from './list.ts'
import { governingGet, type Route } from '../route.ts'

const { changeId, proposed, resolvedBy, resolvedAt } = change.approved
const { action: _, ...standIn } = proposed

export const standIns = [
  wholeList({
    ...governingGet,
    path: '/stand-ins',
    readers: true,
    operationId: 'listStandIns',
    tag: 'Approvals',
    summary: 'Stand-ins of approvers',
    description:
      'Those that were set and not removed, also those whose time is over or has not come. For humans and auditors.',
    order: 'the approver who is away, then time',
    schema: StandInList,
    member: 'standIns',
    example: {
      standIns: [{ ...standIn, approvedBy: resolvedBy, approvedAt: resolvedAt, approvedByChange: changeId }],
    },
    read: ({ pool }) => readStandIns(pool),
    keyOf: standInTarget,
  }),
  ...changeRoutes({
    kind: 'stand-in',
    noun: 'a stand-in',
    name: 'StandIn',
    example: change,
    proposal: {
      description:
        'From `from` until before `until`, at most 90 days, the approver `by` counts as a member of groups in place of `for`, who does not count there meanwhile. Two for the same approver must not overlap: 409. `remove` ends one, named by `for` and `from`.',
      schema: StandInProposal,
      example: {
        ...change.pending.proposed,
        // A stand-in whose time is over is refused.
        until: '2027-01-15T00:00:00.000Z',
        from: '2027-01-01T00:00:00.000Z',
        reason: change.pending.reason,
      },
    },
  }),
] as const satisfies readonly Route[]
