// The notice to approvers about an approval request: enough to find the request, and nothing that an answer could approve.
import { actionCode } from '../../formats/approval-requests/action-code.ts'
import { canonicalize, type Json } from '../../formats/json/canonical.ts'
import { printable, printableJson } from '../../formats/text/printable.ts'
import type { ApprovalRequestContent } from '../../formats/schemas/approval-request.ts'
import { sha256Hex } from '../../store/sha256.ts'
import type { AskedAgain } from '../../store/queues/notification-queue.ts'
import type { AskingRequest, StandingRequest } from '../../store/tables/approval-requests.ts'
import { cut } from '../../formats/text/text.ts'

export interface Notice {
  readonly requestId: string
  readonly capability: string
  readonly requestedBy: string
  readonly actionCode: string
  readonly missing: number
  /** RFC 3339, as `createdAt`. */
  readonly expiresAt: string
  readonly createdAt: string
  /** Approvers whom the message is for: they could sign the request and have not. */
  readonly eligible: readonly string[]
  /** The request's page in the console; undefined where there is no console. */
  readonly link: string | undefined
  /** Undefined in a message of new requests. */
  readonly again:
    { readonly why: AskedAgain; readonly at: string; readonly escalateTo: string | undefined } | undefined
  /** Undefined unless the way's messages show details. */
  readonly details:
    { readonly target: string; readonly parameters: object; readonly note: string } | undefined
}

/** The content of one message: requests of one caller, at least one. */
export interface Message {
  /** The same at every attempt. */
  readonly id: string
  readonly notices: readonly Notice[]
}

interface Telling {
  readonly details: boolean
  /** Undefined: all. */
  readonly capabilities: readonly string[] | undefined
  /** Undefined: there is no console. */
  readonly consoleOrigin: string | undefined
}

/**
 * The requests of a reminder or an escalation, each with its recipients: a reminder is for approvers who were told before, and an
 * escalation for those who were not.
 */
export function askedOf(requests: readonly AskingRequest[], why: AskedAgain): StandingRequest[] {
  return requests.map(({ askedFirst, eligible, ask, ...request }) => {
    const { remindAt = '', escalateAt } = ask ?? {}
    const isFirst = (approverId: string) => askedFirst.includes(approverId)
    const areFirst = escalateAt !== undefined && remindAt <= escalateAt
    const told =
      why === 'escalation'
        ? eligible.filter((approverId) => !isFirst(approverId))
        : eligible.filter((approverId) => !areFirst || isFirst(approverId))
    return { ...request, ask, eligible: told }
  })
}

/** The notices of the requests that wait for approvers and that this way announces. */
export function noticesOf(
  requests: readonly StandingRequest[],
  { capabilities, ...telling }: Telling,
  why?: AskedAgain,
): Notice[] {
  return requests
    .filter(({ status }) => status === 'PENDING')
    .map((request) => noticeOf(request, telling, why))
    .filter(({ capability }) => capabilities?.includes(capability) ?? true)
}

function noticeOf(
  { requestId, missing, eligible, ask, body }: StandingRequest,
  { details, consoleOrigin }: Omit<Telling, 'capabilities'>,
  why: AskedAgain | undefined,
): Notice {
  const content = JSON.parse(body) as ApprovalRequestContent
  const { capability, requestedBy, expiresAt, createdAt, target, parameters, note } = content
  return {
    requestId,
    capability,
    requestedBy,
    actionCode: actionCode(content, sha256Hex),
    missing,
    expiresAt,
    createdAt,
    eligible,
    link: consoleOrigin && `${consoleOrigin}/console/requests/${requestId}`,
    again: why && {
      why,
      at: (why === 'reminder' ? ask?.remindAt : ask?.escalateAt) ?? createdAt,
      escalateTo: ask?.escalateTo,
    },
    details: details ? { target, parameters, note } : undefined,
  }
}

/** The title of a message, in one line. */
export function titleOf(notices: readonly Notice[]): string {
  const { capability, requestedBy, again } = notices[0]!
  const what =
    again === undefined
      ? 'wanted'
      : again.why === 'reminder'
        ? 'still wanted'
        : `escalated to ${again.escalateTo ?? 'others'}`
  const asked =
    notices.length === 1 ? `Approval ${what}: ${capability}` : `${notices.length} approvals ${what}`
  return printable(`${asked}, for ${requestedBy}`)
}

/** A notice as one part of a message: names and values, each one line of printable text. */
export interface Part {
  readonly facts: readonly (readonly [name: string, value: string])[]
  readonly link: string | undefined
  readonly nextStep: string
}

/** The title names the capability of a single request; with several requests, each part names its own. */
export function partsOf(notices: readonly Notice[]): Part[] {
  return notices.map((notice) => ({
    facts: [
      ...(notices.length === 1 ? [] : [['Capability', printable(notice.capability)] as const]),
      ...factsOf(notice, Math.max(VALUE_MIN, Math.floor(VALUE_MAX / notices.length))),
    ],
    link: notice.link,
    nextStep: nextStepOf(notice),
  }))
}

/**
 * Names and values, in the order in which they are shown.
 * @param valueMax characters that each of the requester's texts may take
 */
function factsOf(
  { actionCode: code, missing, expiresAt, details }: Notice,
  valueMax: number,
): [string, string][] {
  const facts: [string, string][] = [
    ['Action code', code],
    ['Approvals missing', String(missing)],
    ['Open until', `${expiresAt.slice(0, 19).replace('T', ' ')} UTC`],
  ]
  if (details === undefined) return facts
  const { target, parameters, note } = details
  facts.push(
    ['Target', shown(printable(target), valueMax)],
    ['Parameters', shown(printableJson(canonicalize(parameters as Json)), valueMax)],
  )
  if (note !== '') facts.push(['Note by the requester', shown(printable(note), valueMax)])
  return facts
}

/** Schemes that some programs turn into links without `//`. Other schemes stay whole: ids such as `vendor:17` look like them. */
const SCHEMES = 'mailto|tel|sms|sips?|xmpp|callto|skype|facetime|webcal|news|file|magnet|javascript|data'
const SCHEME_END = new RegExp(String.raw`:(?=//|\\\\)|(?<=\b(?:${SCHEMES})):(?=\S)`, 'giu')
/** The dots in host names, and in addresses of four numbers. */
const HOST_DOT =
  /(?<=[\p{L}\p{N}])[.\u3002\uff0e\uff61](?=[\p{L}\p{N}-]*\p{L})|(?<=\b\d{1,3})\.(?=\d{1,3}\.\d{1,3}\.\d{1,3}\b)/gu

/**
 * Makes a stranger's text free of links for mail and chat programs: schemes, host names, mail addresses and network shares are broken as
 * incident reports break them, `https[:]//evil[.]example`.
 */
function unlinked(text: string): string {
  return text.replaceAll(SCHEME_END, '[:]').replaceAll(HOST_DOT, '[.]').replaceAll('\\\\', '\\ \\')
}

/** Names the next step of an approver. */
function nextStepOf({ link, requestId }: Notice): string {
  return link === undefined
    ? `Look at it and sign it: countersign approver sign-request ${requestId}`
    : `Look at it, then sign or decline it: ${link}`
}

/** The last line of every message. */
export const CAUTION =
  'Answering this message approves nothing. Compare the action code with the one that the requester shows you.'

/**
 * Slack refuses a section above 3,000 characters, and Teams a message above 28 KB: longer texts of a requester, with their links broken,
 * would keep approvers from being told.
 */
const VALUE_MAX = 500
/** The length of each text in a message about many requests: the ten that a chat shows stay below its limit. */
const VALUE_MIN = 80

/** Text of the requester without links, cut to a length. */
function shown(text: string, max: number): string {
  const safe = unlinked(text.slice(0, max + 1))
  return safe.length <= max ? safe : `${cut(safe, max)} (${text.length} characters)`
}
