// The ApprovalRequest of the routes: the signed content as it is stored, and its current state.
import type { ApprovalRequestContent } from '../../formats/schemas/approval-request.ts'
import { sha256Hex } from '../../store/sha256.ts'
import type { StandingRequest } from '../../store/tables/approval-requests.ts'
import { actionCode } from '../../formats/approval-requests/action-code.ts'

/** How long a caller that does not wait should leave between two looks. */
const INTERVAL_SECONDS = 5

/** @returns JSON; what is signed in it is spliced and never rendered again */
export function approvalRequestText(row: StandingRequest): string {
  const { requestId, requestHash, quorum, status, approvals, eligible, endedByChange, body, seal } = row
  const content = JSON.parse(body) as ApprovalRequestContent
  const standing = JSON.stringify({
    requestHash,
    actionCode: actionCode(content, sha256Hex),
    status,
    missing: Math.max(quorum - approvals.length, 0),
    intervalSeconds: INTERVAL_SECONDS,
    expiresAt: content.expiresAt,
    url: `/approval-requests/${requestId}`,
    eligible,
    approvals,
    ...(endedByChange === null ? {} : { endedBy: { changeId: endedByChange } }),
  })
  return `{"request":${body},${standing.slice(1, -1)}${closedText(row)},"signature":${seal}}`
}

function closedText({ closeBody, closeSeal }: StandingRequest): string {
  return closeBody === null ? '' : `,"closed":${closeBody.slice(0, -1)},"signature":${closeSeal}}`
}
