// Describes an artifact in words: the requester, the action, the amount, the approvers, the result. Reads evidence of any shape.
import { cut } from '../text/text.ts'
import { isMembers, type Members } from '../json/members.ts'
import { itemsOf } from './evidence.ts'

export type Ending =
  | 'Done, as the connector reported'
  | 'Not done'
  | 'Refused'
  | 'Refused until humans approve'
  | 'An approval was asked for'

export interface ActionText {
  readonly name: string
  readonly target: string
  readonly ending: Ending
  /** ISO 8601; '' when the evidence states no time. */
  readonly at: string
  /** The parameters `amount` and `currency` of the action, if they are a number and a text. */
  readonly amount?: number
  readonly currency?: string
  /** The action's other parameters, such as `invoice INV-2026-118`; left out when there are none. */
  readonly about?: string
}

/** The statement of a provider about an execution, from a confirmation. */
export interface ProviderWord {
  readonly confirmationId: string
  readonly provider: string
  readonly says: string
  /** ISO 8601. */
  readonly at: string
  /** Comparisons of the delivery with the transaction that do not hold. */
  readonly differing: readonly string[]
}

/** A change of rules or people. */
export interface ChangeText {
  /** ISO 8601: time of the resolution, or of the proposal if it is not resolved. */
  readonly at: string
  readonly what: string
  readonly why: string
  readonly proposedBy: string
  readonly status: string
  /** The human who resolved it, the key, and the time of the signature. */
  readonly resolved: string
}

export interface AccountText {
  /** The businessTransactionId of the execution that the artifact is about. */
  readonly execution?: string
  /** The statements of providers about that execution. */
  readonly words?: readonly ProviderWord[]
  /** How the execution ended according to the party that closed it: EXECUTED or NOT_EXECUTED. */
  readonly closedAs?: string
  readonly change?: ChangeText
  /** Texts by their subject; '' for a text that does not exist. */
  readonly said: Readonly<Record<string, string>>
  /** The description of the action, in evidence about an action. */
  readonly action?: ActionText
  /** The humans who approved the action, each once, by the name under which their key is enrolled. */
  readonly approvers?: readonly string[]
  /** Approver, key and time of signing of each approval, such as `dana with key k1 at 2026-11-02T10:00:00Z`. */
  readonly approvals?: readonly string[]
}

/** Sums of larger numbers are useless and not exact. */
const AMOUNT_MAX = 1e15

/** The maximum length of a text on a page. */
export const TEXT_MAX = 200

/** The action of an intent, with its target and parameters. */
export function ofIntent(intent: Members) {
  return {
    'Asked for': joined(' → ', textAt(intent, 'action'), textAt(intent, 'target')),
    'How much': membersText(membersAt(intent, 'parameters')),
  }
}

/** @param intent intent with the action, its target and parameters */
export function actionOf(intent: Members, { ending, at }: Pick<ActionText, 'ending' | 'at'>): ActionText {
  const parameters = membersAt(intent, 'parameters')
  const { amount, currency: _, ...others } = parameters
  const currency = textAt(parameters, 'currency')
  const about = membersText(others)
  return {
    name: cut(textAt(intent, 'action'), TEXT_MAX),
    target: cut(textAt(intent, 'target'), TEXT_MAX),
    ending,
    at,
    ...(typeof amount === 'number' && Math.abs(amount) <= AMOUNT_MAX ? { amount } : {}),
    ...(currency === '' ? {} : { currency: cut(currency, 10) }),
    ...(about === '' ? {} : { about: cut(about, TEXT_MAX) }),
  }
}

/** The names of the humans whose approvals a decision carries, each once. */
export function approversOf(decision: Members): string[] {
  const names = approvedIn(decision).map((payload) => textAt(payload, 'approverId'))
  return [...new Set(names.filter(Boolean))].map((name) => cut(name, TEXT_MAX))
}

/** Each approval of a decision: who signed it, with which key, and when. */
export function approvalsOf(decision: Members): string[] {
  return approvedIn(decision).map((payload) => {
    const [key, at] = [textAt(payload, 'keyId'), textAt(payload, 'issuedAt')]
    const name = textAt(payload, 'approverId')
    return cut(joined(' ', name, key && `with key ${key}`, at && `at ${at}`), TEXT_MAX)
  })
}

/** The reasons that approvers signed, each after its approver. */
export function reasonsOf(decision: Members): string {
  const said = approvedIn(decision).filter((payload) => textAt(payload, 'reason') !== '')
  return said.map((payload) => `${textAt(payload, 'approverId')}: ${textAt(payload, 'reason')}`).join('; ')
}

/** The payloads of the approvals that a decision carries. */
function approvedIn(decision: Members): Members[] {
  return Object.values(membersAt(decision, 'verifiedSignals'))
    .flatMap((signal) => (isMembers(signal) ? itemsOf(signal['approvals']) : []))
    .map((approval) => (isMembers(approval) ? membersAt(approval, 'payload') : {}))
}

/** Name and version of a policy. */
export function policyText(policy: Members): string {
  return joined(' ', textAt(policy, 'name'), textAt(policy, 'version'))
}

/** Members with their values, on one line. */
export function membersText(members: Members): string {
  return Object.entries(members)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}

/** Joins the texts that are not empty. */
export function joined(separator: string, ...texts: readonly string[]): string {
  return texts.filter(Boolean).join(separator)
}

/** The member as an object; an empty object for any other value. */
export function membersAt(members: Members, name: string): Members {
  const value = members[name]
  return isMembers(value) ? value : {}
}

/** The member as a text; '' for any other value. */
export function textAt(members: Members, name: string): string {
  const value = members[name]
  return typeof value === 'string' ? value : ''
}
