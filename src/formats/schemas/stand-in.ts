// Stand-ins of approvers, and the changes of stand-ins that humans propose (docs/handbook/governing.md).
import { Type } from 'typebox'
import { ApproverName } from './approval.ts'
import { approvedMembers, Reason } from './governance.ts'
import { closed, Instant, Timestamp } from './primitives.ts'

export const StandIn = Type.Object({
  for: ApproverName,
  by: ApproverName,
  from: Instant,
  until: Instant,
  ...approvedMembers,
})
export type StandIn = Type.Static<typeof StandIn>

export const StandInList = Type.Object({ standIns: Type.Array(StandIn) })

export const StandInProposal = Type.Union([
  closed({
    action: Type.Enum(['set']),
    for: ApproverName,
    by: ApproverName,
    from: Timestamp,
    until: Timestamp,
    reason: Reason,
  }),
  closed({ action: Type.Enum(['remove']), for: ApproverName, from: Timestamp, reason: Reason }),
])
