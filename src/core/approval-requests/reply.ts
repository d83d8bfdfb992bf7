// The ApprovalRequest of the routes: the signed content as it is stored, and its current state.
import type { ApprovalRequestContent } from '../../formats/schemas/approval-request.ts'
import { sha256Hex } from '../../store/sha256.ts'
import type { StandingRequest } from '../../store/tables/approval-requests.ts'
import { seat } from './seats.ts'
import { actionCode } from '../../formats/approval-requests/action-code.ts'

/** How long a caller that does not wait should leave between two looks. */
const INTERVAL_SECONDS = 5

/** @returns JSON; what is signed in it is spliced and never rendered again */
export function approvalRequestText(row: StandingRequest): string {
  const { requestId, requestHash, status, missing, approvals, eligible, endedByChange, body, seal } = row
  const content = JSON.parse(body) as ApprovalRequestContent
  const standing = JSON.stringify({
    requestHash,
    actionCode: actionCode(content, sha256Hex),
    status,
    missing,
    intervalSeconds: INTERVAL_SECONDS,
    expiresAt: content.expiresAt,
    url: `/approval-requests/${requestId}`,
    eligible,
    approvals,
    ...(row.signals.length === 0 ? {} : { signals: signalsOf(row) }),
    ...(endedByChange === null ? {} : { endedBy: { changeId: endedByChange } }),
  })
  return `{"request":${body},${standing.slice(1, -1)}${closedText(row)},"signature":${seal}}`
}

function closedText({ closeBody, closeSeal }: StandingRequest): string {
  return closeBody === null ? '' : `,"closed":${closeBody.slice(0, -1)},"signature":${closeSeal}}`
}

/** Each signal with the approvals that stand for it as long as no other one comes: one that counts for several may move to another. */
function signalsOf({ signals, approvals, eligible }: StandingRequest) {
  const signed = approvals.map(({ approverId }) => approverId)
  const seated = seat(
    signals.map(({ quorum, approverIds }) => ({ quorum, takes: (one: string) => approverIds.includes(one) })),
    signed,
  )
  return signals.map(({ signal, quorum, from, approverIds }, i) => ({
    signal,
    quorum,
    ...(from === null ? {} : { from }),
    approvedBy: seated[i],
    eligible: eligible.filter((one) => approverIds.includes(one)),
  }))
}
