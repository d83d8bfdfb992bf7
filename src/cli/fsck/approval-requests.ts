// approval_requests and approval_request_closes (docs/handbook/approving.md): what was asked, and how it ended.
import { canonicalize } from '../../formats/json/canonical.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { isPolicyRetired } from '../../store/tables/policy-versions.ts'
import { members } from '../../formats/artifacts/evidence.ts'
import type { Members } from '../../formats/json/members.ts'
import { lazyMembers, sameTime, tableCheck } from './check.ts'
import type { Tools } from './tools.ts'

interface RequestRow {
  readonly key: string
  readonly requestHash: string
  readonly askedHash: string
  /** The columns that repeat members of the body. */
  readonly columns: Readonly<Record<string, string | number>>
  /** Null in a request of a release that did not store them. */
  readonly policy: { readonly name: string | null; readonly version: string | null }
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly status: string
  readonly body: string
  readonly seal: string
  /** Its time was over, or its policy version retired. */
  readonly over: boolean
  readonly audited: boolean
  /** By the last member of the close, whatever the rest of its text has become. */
  readonly closedAs: string | null
  /** Whether an approval for it is used up. */
  readonly used: boolean
}

interface RequestItem extends RequestRow {
  readonly signed: () => Members
}

export const approvalRequests = tableCheck<RequestRow, RequestItem>({
  table: 'approval_requests',
  text: `
    SELECT r.request_id AS key, r.request_hash AS "requestHash", r.asked_hash AS "askedHash",
      json_build_object('requestId', r.request_id, 'requestedBy', r.requested_by, 'principalId', r.principal_id,
        'quorum', r.quorum) AS columns, json_build_object('name', r.policy_name, 'version', r.policy_version) AS policy,
      r.created_at AS "createdAt", r.expires_at AS "expiresAt", r.status, r.body, r.seal,
      (r.expires_at <= now() OR ${isPolicyRetired('r')}) AS over,
      EXISTS (SELECT FROM audit_events AS e WHERE e.type = 'approval_request.opened' AND e.occurred_at = r.created_at
        AND strpos(e.body, r.request_id::text) > 0) AS audited,
      (SELECT substring(c.body from '"status":"([A-Z]+)"}$') FROM approval_request_closes AS c WHERE c.request_id = r.request_id) AS "closedAs",
      EXISTS (SELECT FROM approvals AS a WHERE a.request_hash = r.request_hash AND a.consumed_by IS NOT NULL) AS used
    FROM $table AS r`,
  read: (row) => ({ ...row, signed: lazyMembers(row.body, 'approval_requests') }),
  rules: [
    ['does not verify', ({ body, seal }, tools) => isSigned('approval-request', { body, seal }, tools)],
    [
      'columns differ from the body',
      ({ columns, policy, requestHash, askedHash, createdAt, expiresAt, body, signed }) => {
        const { requestId: _id, createdAt: signedAt, expiresAt: end, ...asked } = signed()
        const { name, version } = members(asked['policy'])
        return (
          Object.entries(columns).every(([column, value]) => signed()[column] === value) &&
          (policy.name ?? name) === name &&
          (policy.version ?? version) === version &&
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

interface CloseRow {
  readonly key: string
  readonly requestId: string
  readonly closedAt: Date
  readonly body: string
  readonly seal: string
  /** Null where the request is missing. */
  readonly requestHash: string | null
  readonly audited: boolean
}

export const approvalRequestCloses = tableCheck<CloseRow, CloseRow & { signed: () => Members }>({
  table: 'approval_request_closes',
  text: `
    SELECT c.close_id AS key, c.request_id AS "requestId", c.closed_at AS "closedAt", c.body, c.seal,
      r.request_hash AS "requestHash",
      EXISTS (SELECT FROM audit_events AS e
        WHERE e.type IN ('approval_request.declined', 'approval_request.withdrawn') AND e.occurred_at = c.closed_at
          AND strpos(e.body, c.close_id::text) > 0) AS audited
    FROM $table AS c LEFT JOIN approval_requests AS r USING (request_id)`,
  read: (row) => ({ ...row, signed: lazyMembers(row.body, 'approval_request_closes') }),
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
