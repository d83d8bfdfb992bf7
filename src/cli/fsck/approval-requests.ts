// approval_requests, approval_request_notes and approval_request_closes (docs/handbook/approving.md): the requests, the notes on them, and how they
// ended.
import { canonicalize } from '../../formats/json/canonical.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { approvalRequest, approvalRequestClose } from '../../formats/artifacts/approval-request.ts'
import { approvalRequestNote } from '../../formats/artifacts/approval-request-note.ts'
import { isPolicyRetired } from '../../store/tables/policy-versions.ts'
import { members } from '../../formats/artifacts/evidence.ts'
import { checkOf } from './check.ts'
import { auditedWith, columnsOf, repeats, signedIn, verifies } from './sealed.ts'

/** Columns that follow from the request, or change after it. */
const UNSIGNED = [
  'requestHash',
  'askedHash',
  'status',
  'policyName',
  'policyVersion',
  'noticeAt',
  'neededSignals',
  'remindAt',
  'escalateAt',
  'escalateTo',
  'askNextAt',
]

/** Whether approvers are asked again only while it is open, and an escalation names its group. */
function isAskedInTime({
  createdAt,
  expiresAt,
  remindAt,
  escalateAt,
  escalateTo,
  askNextAt,
}: AskTimes): boolean {
  const times = [remindAt, escalateAt].filter((at) => at !== null)
  return (
    times.every((at) => at >= createdAt && at < expiresAt) &&
    (escalateAt === null) === (escalateTo === null) &&
    (askNextAt === null || times.some((at) => at.getTime() === askNextAt.getTime()))
  )
}

interface AskTimes {
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly remindAt: Date | null
  readonly escalateAt: Date | null
  readonly escalateTo: string | null
  readonly askNextAt: Date | null
}

export const approvalRequests = checkOf({
  table: 'approval_requests',
  columns: {
    ...columnsOf(approvalRequest),
    // Its time was over, or its policy version retired.
    over: ['boolean', `(c.expires_at <= now() OR ${isPolicyRetired('c')})`],
    audited: auditedWith(approvalRequest),
    // By the last member of the close, whatever the rest of its text has become.
    closedAs: [
      'text?',
      `(SELECT substring(x.body from '"status":"([A-Z]+)"}$') FROM approval_request_closes AS x WHERE x.request_id = c.request_id)`,
    ],
    // Whether an approval for it is used up.
    used: [
      'boolean',
      `EXISTS (SELECT FROM approvals AS a WHERE a.request_hash = c.request_hash AND a.consumed_by IS NOT NULL)`,
    ],
  },
  read: (row) => signedIn(row, approvalRequest),
  rules: [
    ['does not verify', (row, tools) => verifies(approvalRequest, row, tools)],
    [
      'columns differ from the body',
      (row) => {
        const { requestId: _id, createdAt: _at, expiresAt: _end, ...asked } = row.signed()
        const { name, version } = members(asked['policy'])
        return (
          repeats(approvalRequest, row, UNSIGNED) &&
          // A release that did not store them left them null.
          (row.policyName ?? name) === name &&
          (row.policyVersion ?? version) === version &&
          row.requestHash === sha256Hex(row.body) &&
          row.askedHash === sha256Hex(canonicalize(asked))
        )
      },
    ],
    [
      'status differs from how it was closed',
      ({ status, closedAs }) =>
        closedAs === null ? status !== 'DECLINED' && status !== 'WITHDRAWN' : status === closedAs,
    ],
    ['asks again outside of its time', isAskedInTime],
    ['expired before its time', ({ status, over }) => status !== 'EXPIRED' || over],
    ['status differs from its approvals', ({ status, used }) => (status === 'USED') === used],
    ['audit event approval_request.opened is missing', ({ audited }) => audited],
  ],
})

export const approvalRequestCloses = checkOf({
  table: 'approval_request_closes',
  columns: {
    ...columnsOf(approvalRequestClose),
    // Null where the request is missing.
    requestHash: ['text?', 'r.request_hash'],
    audited: auditedWith(approvalRequestClose),
  },
  joins: 'LEFT JOIN approval_requests AS r USING (request_id)',
  read: (row) => signedIn(row, approvalRequestClose),
  rules: [
    ['does not verify', (row, tools) => verifies(approvalRequestClose, row, tools)],
    ['columns differ from the body', (row) => repeats(approvalRequestClose, row)],
    ['approval request is missing', ({ requestHash }) => requestHash !== null],
    [
      'is of another content of the approval request',
      ({ requestHash, signed }) => requestHash === null || signed()['requestHash'] === requestHash,
    ],
    ['audit event is missing', ({ audited }) => audited],
  ],
})

export const approvalRequestNotes = checkOf({
  table: 'approval_request_notes',
  columns: {
    ...columnsOf(approvalRequestNote),
    // Null where the request is missing.
    requestHash: ['text?', 'r.request_hash'],
    audited: auditedWith(approvalRequestNote),
  },
  joins: 'LEFT JOIN approval_requests AS r USING (request_id)',
  read: (row) => signedIn(row, approvalRequestNote),
  rules: [
    ['does not verify', (row, tools) => verifies(approvalRequestNote, row, tools)],
    ['columns differ from the body', (row) => repeats(approvalRequestNote, row)],
    ['approval request is missing', ({ requestHash }) => requestHash !== null],
    [
      'is of another content of the approval request',
      ({ requestHash, signed }) => requestHash === null || signed()['requestHash'] === requestHash,
    ],
    ['audit event is missing', ({ audited }) => audited],
  ],
})
