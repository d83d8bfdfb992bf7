// Groups of approvers, and the changes of groups that humans propose (docs/handbook/governing.md).
import { Type } from 'typebox'
import { ApproverName } from './approval.ts'
import { approvedMembers, Reason } from './governance.ts'
import { GROUP_NAME } from './policy.ts'
import { closed } from './primitives.ts'

const Group = Type.String({
  pattern: GROUP_NAME,
  description: 'a name of small letters, digits and -, such as managers',
})

const Members = Type.Array(ApproverName, {
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
  description: 'an array of 1 to 100 different approverIds',
})

export const ApproverGroup = Type.Object({ group: Group, members: Members, ...approvedMembers })

export type ApproverGroup = Type.Static<typeof ApproverGroup>

export const ApproverGroupList = Type.Object({ approverGroups: Type.Array(ApproverGroup) })

export const ApproverGroupProposal = Type.Union([
  closed({ action: Type.Enum(['set']), group: Group, members: Members, reason: Reason }),
  closed({ action: Type.Enum(['remove']), group: Group, reason: Reason }),
])
