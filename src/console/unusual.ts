// What an approver should look at twice: how a request differs from what its caller has done before, and what else is asked or was declined.
import { canonicalize, type Json } from '../formats/json/canonical.ts'
import type { ApprovalRequest } from '../formats/schemas/approval-request.ts'
import { counted } from '../formats/text/text.ts'
import { shownValue } from './text.ts'

/** An execution that was carried out. */
export interface Done {
  readonly target: string
  readonly parameters: Readonly<Record<string, unknown>>
}

export const FIRST_BY_CALLER = 'First time on this target by this caller'

export interface Oddity {
  readonly text: string
  /** A stranger's words about it. */
  readonly said?: string
}

/**
 * @param done what the same caller has carried out of the same capability
 * @param others requests of anybody
 */
export function odditiesOf(
  asked: ApprovalRequest,
  done: readonly Done[],
  others: readonly ApprovalRequest[],
): readonly Oddity[] {
  const { request } = asked
  const { currency } = request.parameters
  // 5,000 is much in euros and little in yen.
  const comparable = done.filter(({ parameters }) => parameters['currency'] === currency)
  const isFirst = !done.some(({ target }) => target === request.target)
  return [
    ...(isFirst ? [{ text: FIRST_BY_CALLER }] : []),
    ...(typeof currency === 'string' && done.length > 0 && comparable.length === 0
      ? [{ text: 'First time in this currency:', said: currency }]
      : []),
    ...higherThanBefore(request.parameters, comparable),
    ...ofOthers(asked, others),
  ]
}

/** One amount that went to a target, or was to go there, whoever asked. */
export interface PastAmount {
  readonly id: string
  readonly amount: number
  readonly how: 'done' | 'open' | 'declined'
}

interface Money {
  readonly amount: number
  readonly currency: string | null
}

/** An execution as the catalogue has it. */
interface Executed {
  readonly businessTransactionId: string
  readonly status: string
  readonly amount?: number
  readonly currency?: string
}

const HOW: Readonly<Record<string, PastAmount['how']>> = {
  completed: 'done',
  in_doubt: 'done',
  PENDING: 'open',
  APPROVED: 'open',
  DECLINED: 'declined',
}

/**
 * The amounts of one currency on the target of a request: what was carried out or may have been, what else is open, and what was declined.
 * What the policy refused is left out: anybody can make a target look well known by trying.
 * @param executions of the same action on that target, by anybody
 * @param others requests for it, by anybody
 * @param moneyOf reads the amount of a request
 */
export function amountsOnTarget(
  asked: ApprovalRequest,
  executions: readonly Executed[],
  others: readonly ApprovalRequest[],
  moneyOf: (request: ApprovalRequest) => Money | undefined,
): readonly PastAmount[] {
  const currency = moneyOf(asked)?.currency
  const found = [
    ...executions.map(({ businessTransactionId, status, amount, currency: unit = null }) => ({
      id: businessTransactionId,
      how: HOW[status],
      money: amount === undefined ? undefined : { amount, currency: unit },
    })),
    ...onSameTarget(asked, others).map((other) => ({
      id: other.request.requestId,
      how: HOW[other.status],
      money: moneyOf(other),
    })),
  ]
  return found.flatMap(({ id, how, money }) =>
    how === undefined || money === undefined || money.currency !== currency
      ? []
      : [{ id, how, amount: money.amount }],
  )
}

export const NEVER = 'Nobody has done this on this target before, in this currency'

/** What stands out among the amounts on a target. */
export function targetOdditiesOf(amount: number, past: readonly PastAmount[]): readonly Oddity[] {
  const done = past.filter(({ how }) => how === 'done').map((one) => one.amount)
  if (done.length === 0) return [{ text: NEVER }]
  const highest = Math.max(...done)
  const higher = higherThan(amount, highest)
  return higher === undefined
    ? []
    : [{ text: `${higher} that anybody had on this target (${shownValue(highest)})` }]
}

/**
 * Of one request among those that wait, what a list has room for.
 * @param money its amount, where its policy names one; undefined: it has none
 */
export function chipsOf(
  asked: ApprovalRequest,
  others: readonly ApprovalRequest[],
  money?: Money,
): readonly string[] {
  const { request, missing, usual } = asked
  const done = usual?.find(({ currency }) => currency === money?.currency)
  const higher = done && money && higherThan(money.amount, done.highest)
  return [
    ...(higher === undefined ? [] : [`${higher} on this target`]),
    ...(usual !== undefined && money !== undefined && done === undefined
      ? ['first time on this target']
      : []),
    ...(isAskedTwice(asked, others) ? ['same as another open one'] : []),
    ...(request.quorum > 1 ? [`${request.quorum - missing} of ${request.quorum} signed`] : []),
  ]
}

function higherThanBefore(parameters: Done['parameters'], before: readonly Done[]): Oddity[] {
  return Object.entries(parameters).flatMap(([name, value]) => {
    if (typeof value !== 'number') return []
    const past = numbersOf(before, name)
    const greatest = Math.max(...past)
    if (past.length === 0 || value <= greatest) return []
    const times = greatest > 0 ? value / greatest : 0
    return [
      {
        text:
          times >= 1.1
            ? `${timesText(times)} times the highest before (${shownValue(greatest)}):`
            : `Higher than any before (${shownValue(greatest)}):`,
        said: name,
      },
    ]
  })
}

const timesText = (times: number) => (times < 10 ? times.toFixed(1) : String(Math.round(times)))

/** @returns begins a sentence about an amount that is higher than the highest before; undefined: it is not */
function higherThan(amount: number, highest: number): string | undefined {
  if (amount <= highest) return undefined
  const times = highest > 0 ? amount / highest : 0
  return times >= 1.1 ? `${timesText(times)} times the highest` : 'Higher than any'
}

/** The numbers that executions had in one parameter. */
export function numbersOf(done: readonly Done[], name: string): readonly number[] {
  return done.map(({ parameters }) => parameters[name]).filter((value) => typeof value === 'number')
}

const isOpen = ({ status }: ApprovalRequest) => status === 'PENDING' || status === 'APPROVED'

/** When a request was decided on for the last time, which is what its approvers saw; undefined: it is open. ISO 8601 */
export function decidedAt(asked: ApprovalRequest): string | undefined {
  if (isOpen(asked)) return undefined
  return asked.closed?.closedAt ?? asked.approvals.at(-1)?.approvedAt ?? asked.request.createdAt
}

/** Requests as they stood at a time, as far as they say it: one that was declined or withdrawn, or ended, later was open then. */
export function asOf(others: readonly ApprovalRequest[], at: string | undefined): readonly ApprovalRequest[] {
  if (at === undefined) return others
  const isLater = (iso: string) => Date.parse(iso) > Date.parse(at)
  return others
    .filter(({ request }) => !isLater(request.createdAt))
    .map(({ closed, ...other }) => {
      const wasOpen =
        closed === undefined
          ? other.status === 'EXPIRED' && isLater(other.expiresAt)
          : isLater(closed.closedAt)
      return wasOpen ? { ...other, status: 'PENDING' } : { ...other, ...(closed && { closed }) }
    })
}

function onSameTarget({ request }: ApprovalRequest, others: readonly ApprovalRequest[]): ApprovalRequest[] {
  return others.filter(
    (other) =>
      other.request.requestId !== request.requestId &&
      other.request.capability === request.capability &&
      other.request.target === request.target,
  )
}

const parametersText = ({ request }: ApprovalRequest) => canonicalize(request.parameters as Json)

function isAskedTwice(asked: ApprovalRequest, others: readonly ApprovalRequest[]): boolean {
  const text = parametersText(asked)
  return onSameTarget(asked, others).some((other) => isOpen(other) && parametersText(other) === text)
}

function ofOthers(asked: ApprovalRequest, others: readonly ApprovalRequest[]): Oddity[] {
  const same = onSameTarget(asked, others)
  const pending = same.filter(({ status }) => status === 'PENDING').length
  const signed = same.filter(({ status }) => status === 'APPROVED').length
  const declined = same.filter(({ closed }) => closed?.status === 'DECLINED')
  return [
    ...(isAskedTwice(asked, others)
      ? [{ text: 'Another open request asks for exactly the same' }]
      : [
          ...(pending > 0 ? [{ text: `${counted(pending, 'other open request')} for this target` }] : []),
          ...(signed > 0
            ? [{ text: `${counted(signed, 'other request')} for this target signed and not used yet` }]
            : []),
        ]),
    ...declined.slice(0, 1).map(({ closed }) => ({
      text: `${counted(declined.length, 'request')} for this target declined, the newest because:`,
      said: closed?.reason ?? '',
    })),
  ]
}
