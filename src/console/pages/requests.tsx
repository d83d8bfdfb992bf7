// The page of requests that callers ask humans to approve.
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import { Choice, Listed, listPath } from '../components/list.tsx'
import { requestRows } from '../components/requests.tsx'
import { useLoaded } from '../hooks.ts'
import type { PageProps } from '../page.ts'

const STATUSES = ['PENDING', 'APPROVED', 'DECLINED', 'EXPIRED', 'ENDED', 'USED', 'WITHDRAWN']

export function Requests({ query, me }: PageProps) {
  const path = listPath('/approval-requests', query, [
    'status',
    'waitingFor',
    'policy',
    'policyVersion',
    'cursor',
  ])
  const loaded = useLoaded<{ requests: ApprovalRequest[] }>(path, 10_000)
  return (
    <>
      <h1>Approval requests</h1>
      <div class="filters">
        <Choice label="Status" name="status" values={STATUSES} />
        {me.approverId !== null && <Choice label="Waiting for" name="waitingFor" values={['me']} />}
      </div>
      <Listed
        loaded={loaded}
        rowsOf={({ requests }) => requests}
        empty="No such request. A caller asks by POST /approval-requests, or with the clients' onApprovalNeeded: 'ask'."
        caption="Approval requests"
        {...requestRows}
      />
    </>
  )
}
