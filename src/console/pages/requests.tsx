// The page of requests that callers ask humans to approve.
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import { lineOf, type Cell } from '../../formats/text/csv.ts'
import { Filters, timeFilters, type Filter } from '../components/filters.tsx'
import { Listed, listPath } from '../components/list.tsx'
import { requestRows } from '../components/requests.tsx'
import { useLoaded } from '../hooks.ts'
import type { PageProps } from '../page.ts'

const STATUSES = ['PENDING', 'APPROVED', 'DECLINED', 'EXPIRED', 'ENDED', 'USED', 'WITHDRAWN']

const filters: readonly Filter[] = [
  { name: 'status', label: 'Status', values: STATUSES },
  { name: 'capability', label: 'Action' },
  { name: 'target', label: 'Target' },
  { name: 'policy', label: 'Policy' },
  { name: 'policyVersion', label: 'Version' },
  { name: 'callerId', label: 'Asked by' },
  { name: 'signedBy', label: 'Signed by' },
  ...timeFilters,
  { name: 'q', label: 'Contains' },
  { name: 'order', label: 'First', values: ['ending_soon'], without: 'newest' },
]
const ofApprovers: Filter = { name: 'waitingFor', label: 'Waiting for', values: ['me'] }

interface Reply {
  readonly requests: readonly ApprovalRequest[]
}

const COLUMNS = [
  'requestId',
  'status',
  'createdAt',
  'expiresAt',
  'requestedBy',
  'capability',
  'target',
  'policyName',
  'policyVersion',
  'parameters',
  'note',
]

function cellsOf({ request, status, expiresAt }: ApprovalRequest): readonly Cell[] {
  const { requestId, createdAt, requestedBy, capability, target, policy, parameters, note } = request
  return [
    requestId,
    status,
    createdAt,
    expiresAt,
    requestedBy,
    capability,
    target,
    policy.name,
    policy.version,
    JSON.stringify(parameters),
    note,
  ]
}

export function Requests({ query, me }: PageProps) {
  const shown = me.approverId === null ? filters : [...filters, ofApprovers]
  const path = listPath('/approval-requests', query, [...shown.map(({ name }) => name), 'cursor'])
  const loaded = useLoaded<Reply>(path, 10_000)
  return (
    <>
      <h1>Approval requests</h1>
      <Filters
        filters={shown}
        exports={[
          {
            label: 'CSV',
            path: '/approval-requests',
            type: 'text/csv',
            head: lineOf(COLUMNS),
            linesOf: ({ requests }: Reply) => requests.map((one) => lineOf(cellsOf(one))),
          },
          {
            label: 'NDJSON',
            path: '/approval-requests',
            type: 'application/x-ndjson',
            linesOf: ({ requests }: Reply) => requests.map((one) => `${JSON.stringify(one)}\n`),
          },
        ]}
      />
      <Listed
        loaded={loaded}
        rowsOf={({ requests }) => requests}
        empty="No such request. A caller asks by POST /approval-requests, or with the clients' onApprovalNeeded: 'ask'."
        caption={`Approval requests, ${query.get('order') === 'ending_soon' ? 'what ends soon' : 'newest'} first`}
        {...requestRows}
      />
    </>
  )
}
