// Changes that one human proposes and another resolves, of every kind.
import type { ImpactReport } from '../../core/schemas/impact-report.ts'
import { Badge, Said, Time } from './basic.tsx'
import { Table } from './list.tsx'

/** A change as its routes answer it. */
export interface ChangeRow {
  readonly changeId: string
  readonly kind: string
  readonly target: string
  readonly proposed: unknown
  readonly reason: string
  readonly proposedBy: string
  readonly proposedAt: string
  readonly changeHash: string
  readonly status: string
  readonly resolvedBy?: string
  readonly resolvedAt?: string
  readonly rejectionReason?: string
  readonly stepUpAuthorization?: { readonly payload: { readonly impactHash?: string } }
  readonly impactReport?: ImpactReport
  readonly warnings: readonly string[]
  readonly diff?: object
}

/** Where a change of each kind is read and resolved. */
export const changePaths: Readonly<Record<string, string>> = {
  policy: '/policies/pending-changes',
  approver: '/approvers/changes',
  'external-connector': '/external-connectors/changes',
  'webhook-rules': '/webhook-rules/changes',
  'event-endpoint': '/event-endpoints/changes',
  'caller-key': '/caller-keys/changes',
}

export function ChangeTable({
  caption,
  changes,
}: {
  readonly caption: string
  readonly changes: readonly ChangeRow[]
}) {
  return (
    <Table
      caption={caption}
      rows={changes}
      keyOf={({ changeId }) => changeId}
      hrefOf={({ kind, changeId }) => `/console/changes/${kind}/${changeId}`}
      columns={[
        { title: 'What', cell: ({ kind, target }) => <Said text={`${kind.replace('-', ' ')} ${target}`} /> },
        { title: 'Proposed by', cell: ({ proposedBy }) => <Said text={proposedBy} /> },
        { title: 'Reason', minor: true, cell: ({ reason }) => <Said text={reason} /> },
        { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
        { title: 'When', cell: ({ proposedAt }) => <Time at={proposedAt} /> },
      ]}
    />
  )
}
