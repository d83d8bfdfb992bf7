// Approval requests as lists show them.
import { Fragment } from 'preact'
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import { odditiesOf, signedText } from '../unusual.ts'
import { cut } from '../../formats/text/text.ts'
import { Badge, Countdown, Said, Time } from './basic.tsx'
import type { Column, Rows } from './list.tsx'
import { namedAmountOf } from '../../core/policy/shown.ts'
import { Amount, ListedLine } from './what.tsx'
import { CallerLink } from './names.tsx'
import { usePolicyOf } from './policy.tsx'

/** A row has room for the beginning of a text; the page has the whole. */
const SAID_MAX = 80

/** The first line of the requester's note. */
export function NoteLine({ of: { request } }: { readonly of: ApprovalRequest }) {
  return request.note === '' ? null : <Said text={cut(request.note.split('\n', 1)[0]!, SAID_MAX)} />
}

const what: Column<ApprovalRequest> = {
  title: 'Action',
  cell: ({ request }) => <ListedLine of={request} />,
  below: (asked) => <NoteLine of={asked} />,
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

/** The status of a request and, once it is used, the outcome of its execution. */
export function RequestStatus({ of: { status, usedBy } }: { readonly of: ApprovalRequest }) {
  return (
    <>
      <Badge status={status} />
      {usedBy?.outcome !== undefined && (
        <>
          {' '}
          <Badge status={usedBy.outcome.toUpperCase()} />
        </>
      )}
    </>
  )
}

export const requestRows: Rows<ApprovalRequest> = {
  ...rows,
  columns: [
    what,
    amount,
    askedBy,
    { title: 'Status', cell: (asked) => <RequestStatus of={asked} /> },
    askedAt,
    ends,
  ],
}

/** Requests that all wait: reasons to look at each of them, in the place of a status that is always the same. */
export const waitingRows: Rows<ApprovalRequest> = {
  ...rows,
  columns: [
    what,
    amount,
    askedBy,
    { title: 'Why look', cell: (asked) => <WhyLook of={asked} /> },
    { ...askedAt, minor: true },
    ends,
  ],
}

/** The oddities of a request, in the words of its page, and the signatures so far. */
export function WhyLook({ of: asked }: { readonly of: ApprovalRequest }) {
  const { document } = usePolicyOf(asked.request.policy)
  const signed = signedText(asked)
  const oddities = odditiesOf(asked, namedAmountOf(document, asked.request))
  return (
    <>
      {[...oddities, ...(signed === undefined ? [] : [{ text: signed, said: undefined }])].map(
        ({ text, said }) => (
          <Fragment key={text}>
            <span class="badge open words">
              {text} {said !== undefined && <Said text={cut(said, SAID_MAX)} />}
            </span>{' '}
          </Fragment>
        ),
      )}
    </>
  )
}
