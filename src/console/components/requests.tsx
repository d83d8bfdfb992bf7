// Approval requests as lists show them.
import { Fragment } from 'preact'
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import { chipsOf } from '../unusual.ts'
import { Badge, Countdown, Said, Time } from './basic.tsx'
import type { Column, Rows } from './list.tsx'
import { namedAmountOf } from '../../core/policy/shown.ts'
import { Amount, ListedLine } from './what.tsx'
import { CallerLink } from './names.tsx'
import { usePolicyOf } from './policy.tsx'

const what: Column<ApprovalRequest> = {
  title: 'Action',
  cell: ({ request }) => <ListedLine of={request} />,
  below: ({ request }) =>
    request.note === '' ? null : <Said text={request.note.split('\n', 1)[0]!.slice(0, 80)} />,
}
const amount: Column<ApprovalRequest> = {
  title: 'Amount',
  number: true,
  cell: ({ request }) => <Amount of={request} />,
}
const askedBy: Column<ApprovalRequest> = {
  title: 'Asked by',
  cell: ({ request }) => <CallerLink id={request.requestedBy} />,
}
const ends: Column<ApprovalRequest> = {
  title: 'Ends',
  cell: ({ status, expiresAt }) =>
    ['PENDING', 'APPROVED'].includes(status) ? <Countdown to={expiresAt} /> : '',
}
const askedAt: Column<ApprovalRequest> = {
  title: 'Asked',
  cell: ({ request }) => <Time at={request.createdAt} />,
}
const rows = {
  keyOf: ({ request }: ApprovalRequest) => request.requestId,
  hrefOf: ({ request }: ApprovalRequest) => `/console/requests/${request.requestId}`,
}

export const requestRows: Rows<ApprovalRequest> = {
  ...rows,
  columns: [
    what,
    amount,
    askedBy,
    { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
    askedAt,
    ends,
  ],
}

/** Requests that all wait: what each of them is looked at for, in the place of a status that is always the same. */
export function waitingRows(all: readonly ApprovalRequest[]): Rows<ApprovalRequest> {
  const chips = (asked: ApprovalRequest) => <Chips of={asked} among={all} />
  return {
    ...rows,
    columns: [what, amount, askedBy, { title: 'Why look', cell: chips }, { ...askedAt, minor: true }, ends],
  }
}

function Chips({
  of: asked,
  among,
}: {
  readonly of: ApprovalRequest
  readonly among: readonly ApprovalRequest[]
}) {
  const { document } = usePolicyOf(asked.request.policy)
  return (
    <>
      {chipsOf(asked, among, namedAmountOf(document, asked.request)).map((chip) => (
        <Fragment key={chip}>
          <span class="badge open">{chip}</span>{' '}
        </Fragment>
      ))}
    </>
  )
}
