// Changes that one human proposes and another resolves, of every kind.
import type { ProposedPolicy } from '../../formats/impact-report.ts'
import { changeTitle } from '../../formats/change-text.ts'
import { changePaths as pathsByKind } from '../../formats/change-paths.ts'
import type { Change } from '../../formats/schemas/governance.ts'
import { Badge, Said, Time } from './basic.tsx'
import type { Rows } from './list.tsx'

/** Paths by kind. The key may be any text, because a URL may hold any. */
export const changePaths: Readonly<Record<string, string>> = pathsByKind

/** Reads the policy that a change proposes. */
export function policyIn({ proposed }: Change): ProposedPolicy {
  return proposed as unknown as ProposedPolicy
}

export const changeRows: Rows<Change> = {
  keyOf: ({ changeId }) => changeId,
  hrefOf: ({ kind, changeId }) => `/console/changes/${kind}/${changeId}`,
  columns: [
    { title: 'What', cell: (change) => <Said text={changeTitle(change)} /> },
    { title: 'Proposed by', cell: ({ proposedBy }) => <Said text={proposedBy} /> },
    { title: 'Reason', minor: true, cell: ({ reason }) => <Said text={reason} /> },
    { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
    { title: 'When', cell: ({ proposedAt }) => <Time at={proposedAt} /> },
  ],
}
