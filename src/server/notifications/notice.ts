// What approvers are told of an approval request: enough to find it, and nothing that could be approved by answering.
import { actionCode } from '../../core/approval-requests/action-code.ts'
import { canonicalize, type Json } from '../../core/json/canonical.ts'
import { printable, printableJson } from '../../core/printable.ts'
import type { ApprovalRequestContent } from '../../core/schemas/approval-request.ts'
import { sha256Hex } from '../../core/signing/sha256.ts'
import type { StandingRequest } from '../../core/tables/approval-requests.ts'

export interface Notice {
  readonly requestId: string
  readonly capability: string
  readonly requestedBy: string
  readonly actionCode: string
  readonly missing: number
  /** RFC 3339, as `createdAt`. */
  readonly expiresAt: string
  readonly createdAt: string
  /** Approvers who could sign it and have not. */
  readonly eligible: readonly string[]
  /** The request's page in the console; undefined where there is no console. */
  readonly link: string | undefined
  /** Undefined unless the way shows them. */
  readonly details:
    { readonly target: string; readonly parameters: object; readonly note: string } | undefined
}

/**
 * @param row a request that is pending
 * @param how.consoleOrigin undefined: there is no console
 */
export function noticeOf(
  { requestId, quorum, approvals, approvers, body }: StandingRequest,
  { details, consoleOrigin }: { readonly details: boolean; readonly consoleOrigin: string | undefined },
): Notice {
  const content = JSON.parse(body) as ApprovalRequestContent
  const { capability, requestedBy, expiresAt, createdAt, target, parameters, note } = content
  const signed = new Set(approvals.map(({ approverId }) => approverId))
  return {
    requestId,
    capability,
    requestedBy,
    actionCode: actionCode(content, sha256Hex),
    missing: Math.max(quorum - approvals.length, 0),
    expiresAt,
    createdAt,
    eligible: approvers.filter((approverId) => !signed.has(approverId)),
    link: consoleOrigin && `${consoleOrigin}/console/requests/${requestId}`,
    details: details ? { target, parameters, note } : undefined,
  }
}

/** One line. */
export function titleOf({ capability, requestedBy }: Notice): string {
  return printable(`Approval wanted: ${capability}, for ${requestedBy}`)
}

/** Names and values, in the order in which they are shown. Each is one line of printable text. */
export function factsOf({ actionCode: code, missing, expiresAt, details }: Notice): [string, string][] {
  const facts: [string, string][] = [
    ['Action code', code],
    ['Approvals missing', String(missing)],
    ['Open until', `${expiresAt.slice(0, 19).replace('T', ' ')} UTC`],
  ]
  if (details === undefined) return facts
  facts.push(
    ['Target', printable(details.target)],
    ['Parameters', shortened(printableJson(canonicalize(details.parameters as Json)))],
  )
  if (details.note !== '') facts.push(['Note by the requester', shortened(printable(details.note))])
  return facts
}

/** What to do now. */
export function nextStepOf({ link, requestId }: Notice): string {
  return link === undefined
    ? `Look at it and sign it: countersign approver sign-request ${requestId}`
    : `Look at it, then sign or decline it: ${link}`
}

/** The last line of every message. */
export const CAUTION =
  'Nobody approves by answering this message. Compare the action code with the one that the requester shows you.'

/** Messages have limits, and a request may carry 100 KB. */
const VALUE_MAX = 500

function shortened(text: string): string {
  return text.length <= VALUE_MAX ? text : `${text.slice(0, VALUE_MAX)}… (${text.length} characters)`
}
