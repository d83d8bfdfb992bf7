// The ApprovalRequest of the routes: the signed content as it is stored, and its current state.
import type { ApprovalRequestContent, Compared } from '../../formats/schemas/approval-request.ts'
import { sha256Hex } from '../../store/sha256.ts'
import type { StandingRequest } from '../../store/tables/approval-requests.ts'
import type { Sealed } from '../../store/tables/sealed.ts'
import { seat } from './seats.ts'
import { actionCode } from '../../formats/approval-requests/action-code.ts'

/** Recommended polling interval for a caller that does not wait. */
const INTERVAL_SECONDS = 5

/**
 * @param row with its comparison, for callers who decide on the request
 * @returns JSON; signed parts are inserted as stored and never serialized again
 */
export function approvalRequestText(row: StandingRequest & { readonly compared?: Compared }): string {
  const { requestId, requestHash, status, missing, approvals, eligible, ask, endedByChange, body, seal } = row
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
    ...(ask === null ? {} : { ask }),
    ...(row.compared === undefined ? {} : { compared: row.compared, ...usualIn(row.compared) }),
    approvals,
    ...(row.notCounted.length === 0 ? {} : { notCounted: row.notCounted }),
    ...(row.signals.length === 0 ? {} : { signals: signalsOf(row) }),
    ...(row.usedBy === null ? {} : { usedBy: row.usedBy }),
    ...(endedByChange === null ? {} : { endedBy: { changeId: endedByChange } }),
  })
  return `{"request":${body},${standing.slice(1, -1)}${notesText(row)}${closedText(row)},"signature":${seal}}`
}

/** The member `usual`, which lists of requests had before they had `compared`. */
function usualIn({ onTarget }: Compared) {
  if (onTarget === undefined) return {}
  const priced = onTarget.flatMap(({ currency, count, highest }) =>
    highest === null ? [] : [{ currency, count, highest }],
  )
  const usual = Array.from(
    Map.groupBy(priced, ({ currency }) => currency),
    ([currency, all]) => ({
      currency,
      count: all.reduce((sum, { count }) => sum + count, 0),
      highest: Math.max(...all.map(({ highest }) => highest)),
    }),
  )
  return { usual }
}

function notesText({ notes }: StandingRequest): string {
  return notes.length === 0 ? '' : `,"notes":[${notes.map(signedText).join(',')}]`
}

function closedText({ closeBody, closeSeal }: StandingRequest): string {
  if (closeBody === null || closeSeal === null) return ''
  return `,"closed":${signedText({ body: closeBody, seal: closeSeal })}`
}

/** The signed members with their signature next to them. */
function signedText({ body, seal }: Sealed): string {
  return `${body.slice(0, -1)},"signature":${seal}}`
}

/**
 * Each signal with the approvals that count for it now. An approval that fits several signals may move to another when more approvals arrive.
 * By the same matching, the approvers who can still sign for a signal include those whose approval lets an existing one move to it.
 */
function signalsOf({ signals, approvals, eligible }: StandingRequest) {
  const seated = (signed: readonly string[]) =>
    seat(
      signals.map(({ quorum, approverIds }) => ({
        quorum,
        takes: (one: string) => approverIds.includes(one),
      })),
      signed,
    )
  const signed = approvals.map(({ approverId }) => approverId)
  const now = seated(signed)
  const once = new Map(eligible.map((one) => [one, seated([...signed, one])]))
  return signals.map(({ signal, quorum, from, approverIds }, i) => ({
    signal,
    quorum,
    ...(from === null ? {} : { from }),
    approvedBy: now[i],
    eligible: eligible.filter(
      (one) => approverIds.includes(one) || once.get(one)![i]!.length > now[i]!.length,
    ),
  }))
}
