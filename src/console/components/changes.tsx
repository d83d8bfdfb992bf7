// Changes that one human proposes and another resolves, of every kind.
import { useEffect, useState } from 'preact/hooks'
import type { ImpactReport } from '../../core/schemas/impact-report.ts'
import { get, isAborted, problemText } from '../api.ts'
import { whileSeen, type Loaded } from '../hooks.ts'
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

/** Where the changes of each kind are. */
export const changePaths: Readonly<Record<string, string>> = {
  policy: '/policies/pending-changes',
  approver: '/approvers/changes',
  'external-connector': '/external-connectors/changes',
  'webhook-rules': '/webhook-rules/changes',
  'event-endpoint': '/event-endpoints/changes',
  'caller-key': '/caller-keys/changes',
}

/** Those of every kind that are open, loaded again every so often. */
export function useOpenChanges(everyMs: number): Loaded<readonly ChangeRow[]> {
  const [state, setState] = useState<{ data?: readonly ChangeRow[]; problem?: string }>({})
  const load = async (signal: AbortSignal) => {
    try {
      const pages = await Promise.all(
        Object.values(changePaths).map((path) =>
          get<{ changes: ChangeRow[] }>(`${path}?status=PENDING_APPROVAL`, { signal }),
        ),
      )
      setState({ data: pages.flatMap(({ data }) => data.changes) })
    } catch (error) {
      if (!isAborted(error)) setState((before) => ({ ...before, problem: problemText(error) }))
    }
  }
  useEffect(() => whileSeen(load, everyMs), [everyMs])
  return { data: state.data, problem: state.problem, next: undefined, reload: () => undefined }
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
