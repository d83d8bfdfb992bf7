// Approval requests as lists show them.
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import { Badge, Countdown, Said, Time } from './basic.tsx'
import type { Rows } from './list.tsx'

export const requestRows: Rows<ApprovalRequest> = {
  keyOf: ({ request }) => request.requestId,
  hrefOf: ({ request }) => `/console/requests/${request.requestId}`,
  columns: [
    {
      title: 'Action',
      cell: ({ request }) => <Said text={`${request.capability} → ${request.target}`} />,
    },
    { title: 'Asked by', cell: ({ request }) => <Said text={request.requestedBy} /> },
    { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
    {
      title: 'Who can sign',
      minor: true,
      cell: ({ status, eligible, missing }) =>
        status === 'PENDING' ? <Said text={`${eligible.join(', ')} (${missing} needed)`} /> : '',
    },
    {
      title: 'When',
      cell: ({ status, request, expiresAt }) =>
        ['PENDING', 'APPROVED'].includes(status) ? (
          <Countdown to={expiresAt} />
        ) : (
          <Time at={request.createdAt} />
        ),
    },
  ],
}
