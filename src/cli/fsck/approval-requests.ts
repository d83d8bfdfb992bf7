// approval_requests and approval_request_closes (docs/handbook/approving.md): what was asked, and how it ended.
import { canonicalize } from '../../formats/json/canonical.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { isPolicyRetired } from '../../store/tables/policy-versions.ts'
import { members } from '../../formats/artifacts/evidence.ts'
import { sameTime, signedIn, checkOf } from './check.ts'
import type { Tools } from './tools.ts'

export const approvalRequests = checkOf({
  table: 'approval_requests',
  columns: {
    key: ['text', 'c.request_id'],
    requestHash: 'text',
    askedHash: 'text',
    // They repeat members of the body.
    columns: [
      'json',
      `json_build_object('requestId', c.request_id, 'requestedBy', c.requested_by, 'principalId', c.principal_id,
        'quorum', c.quorum)`,
    ],
    // Null in a request of a release that did not store them.
    policyName: 'text?',
    policyVersion: 'text?',
    createdAt: 'time',
    expiresAt: 'time',
    status: 'text',
    body: 'text',
    seal: 'text',
    // Its time was over, or its policy version retired.
    over: ['boolean', `(c.expires_at <= now() OR ${isPolicyRetired('c')})`],
    audited: [
      'boolean',
      `EXISTS (SELECT FROM audit_events AS e WHERE e.type = 'approval_request.opened' AND e.occurred_at = c.created_at
        AND strpos(e.body, c.request_id::text) > 0)`,
    ],
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
  read: (row) => signedIn(row, 'approval_requests'),
  rules: [
    ['does not verify', ({ body, seal }, tools) => isSigned('approval-request', { body, seal }, tools)],
    [
      'columns differ from the body',
      ({
        columns,
        policyName,
        policyVersion,
        requestHash,
        askedHash,
        createdAt,
        expiresAt,
        body,
        signed,
      }) => {
        const { requestId: _id, createdAt: signedAt, expiresAt: end, ...asked } = signed()
        const { name, version } = members(asked['policy'])
        return (
          Object.entries(columns).every(([column, value]) => signed()[column] === value) &&
          (policyName ?? name) === name &&
          (policyVersion ?? version) === version &&
          requestHash === sha256Hex(body) &&
          askedHash === sha256Hex(canonicalize(asked)) &&
          sameTime(createdAt, signedAt) &&
          sameTime(expiresAt, end)
        )
      },
    ],
    [
      'status differs from how it was closed',
      ({ status, closedAs }) =>
        closedAs === null ? status !== 'DECLINED' && status !== 'WITHDRAWN' : status === closedAs,
    ],
    ['expired before its time', ({ status, over }) => status !== 'EXPIRED' || over],
    ['status differs from its approvals', ({ status, used }) => (status === 'USED') === used],
    ['audit event approval_request.opened is missing', ({ audited }) => audited],
  ],
})

export const approvalRequestCloses = checkOf({
  table: 'approval_request_closes',
  columns: {
    key: ['text', 'c.close_id'],
    requestId: 'text',
    closedAt: 'time',
    body: 'text',
    seal: 'text',
    // Null where the request is missing.
    requestHash: ['text?', 'r.request_hash'],
    audited: [
      'boolean',
      `EXISTS (SELECT FROM audit_events AS e
        WHERE e.type IN ('approval_request.declined', 'approval_request.withdrawn') AND e.occurred_at = c.closed_at
          AND strpos(e.body, c.close_id::text) > 0)`,
    ],
  },
  joins: 'LEFT JOIN approval_requests AS r USING (request_id)',
  read: (row) => signedIn(row, 'approval_request_closes'),
  rules: [
    ['does not verify', ({ body, seal }, tools) => isSigned('approval-request-close', { body, seal }, tools)],
    [
      'columns differ from the body',
      ({ key, requestId, closedAt, signed }) => {
        const { closeId, requestId: of, closedAt: at } = signed()
        return closeId === key && of === requestId && sameTime(closedAt, at)
      },
    ],
    ['approval request is missing', ({ requestHash }) => requestHash !== null],
    [
      'is of another content of the approval request',
      ({ requestHash, signed }) => requestHash === null || signed()['requestHash'] === requestHash,
    ],
    ['audit event is missing', ({ audited }) => audited],
  ],
})

function isSigned(
  artifact: 'approval-request' | 'approval-request-close',
  { body, seal }: { body: string; seal: string },
  { crypto }: Tools,
): boolean {
  const signature = JSON.parse(seal) as Parameters<Tools['crypto']['verifySignature']>[2]
  return crypto.verifySignature(artifact, body, signature)
}
