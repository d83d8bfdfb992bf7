// Oddities that an approver should look at twice: how a request differs from earlier executions, and which similar requests are open or were
// declined. The inbox and the page of a request use the same sentences.
import type { ApprovalRequest, Compared } from '../formats/schemas/approval-request.ts'
import { counted } from '../formats/text/text.ts'
import { shownMoney, shownValue } from './text.ts'

/** An execution that was carried out. */
export interface Done {
  readonly target: string
  readonly parameters: Readonly<Record<string, unknown>>
}

export interface Oddity {
  readonly text: string
  /** A stranger's words, shown after the text. */
  readonly said?: string
  /** The page of the execution or request that the text is about. */
  readonly href?: string
}

/**
 * The oddities of a request, the worst first; none where the service does not supply the data to compare the request with.
 * @param money the amount of the request, where its policy names it; undefined: no amount
 */
export function odditiesOf(
  { compared }: Pick<ApprovalRequest, 'compared'>,
  money: Money | undefined,
): readonly Oddity[] {
  if (compared === undefined) return []
  return [
    ...doubtsOf(compared),
    ...compared.elsewhere.map((one) => elsewhereOf(one, money)),
    ...onTargetOf(compared, money),
    ...byCallerOf(compared, money),
    ...ofOthers(compared.requests),
  ]
}

const moneyText = ({ amount, currency }: Money) => shownMoney(amount, currency ?? undefined)

/** An execution in doubt may have happened: an approver may be about to pay a second time. */
function doubtsOf({ onTarget = [] }: Compared): Oddity[] {
  const doubts = onTarget.filter(({ status }) => status === 'in_doubt')
  const count = doubts.reduce((sum, one) => sum + one.count, 0)
  if (count === 0) return []
  const amounts = doubts.flatMap(({ highest, currency }) =>
    highest === null ? [] : moneyText({ amount: highest, currency }),
  )
  const which = amounts.length === 0 ? '' : ` (${count > 1 ? 'up to ' : ''}${amounts.join(', ')})`
  return [
    {
      text: `${counted(count, 'execution')} on this target ${count === 1 ? 'is' : 'are'} in doubt${which}: it may have happened`,
    },
  ]
}

const HOW_ELSEWHERE = {
  PENDING: 'asked for on TARGET, too',
  APPROVED: 'asked for on TARGET, signed',
  DECLINED: 'asked for on TARGET, declined',
  completed: 'carried out on TARGET',
  in_doubt: 'released on TARGET, in doubt',
} as const

function elsewhereOf(
  { target, status, requestId, businessTransactionId, shared }: Compared['elsewhere'][number],
  money: Money | undefined,
): Oddity {
  const what = [...(money === undefined ? [] : [moneyText(money)]), ...shared.map(shownValue)].join(', ')
  return {
    text: `The same (${what}) was ${HOW_ELSEWHERE[status].replace('TARGET', () => shownValue(target))}`,
    href:
      requestId === undefined
        ? `/console/executions/${businessTransactionId}`
        : `/console/requests/${requestId}`,
  }
}

export const FIRST_BY_CALLER = 'First time on this target by this caller'

function onTargetOf({ onTarget }: Compared, money: Money | undefined): Oddity[] {
  if (onTarget === undefined) return []
  const done = onTarget.filter(({ status }) => status === 'completed')
  if (done.length === 0) return [{ text: 'First time on this target, by anybody' }]
  const first = done.some(({ byCaller }) => byCaller > 0) ? [] : [{ text: FIRST_BY_CALLER }]
  if (money === undefined) return first
  const highest = done.find(({ currency }) => currency === money.currency)?.highest ?? null
  if (highest === null)
    return [
      {
        text: `Nobody has done this on this target in ${shownValue(money.currency ?? 'this currency')} before`,
      },
      ...first,
    ]
  const higher = higherThan(money.amount, highest)
  return [
    ...(higher === undefined
      ? []
      : [
          {
            text: `${higher} that anybody had on this target (${moneyText({ ...money, amount: highest })})`,
          },
        ]),
    ...first,
  ]
}

function byCallerOf({ byCaller = [] }: Compared, money: Money | undefined): Oddity[] {
  if (money === undefined || byCaller.length === 0) return []
  // 5,000 is much in euros and little in yen.
  const done = byCaller.find(({ currency }) => currency === money.currency)
  if (done === undefined)
    return money.currency === null
      ? []
      : [{ text: `First time in ${shownValue(money.currency)} by this caller` }]
  const higher = done.highest === null ? undefined : higherThan(money.amount, done.highest)
  return higher === undefined
    ? []
    : [{ text: `${higher} of this caller (${moneyText({ ...money, amount: done.highest! })})` }]
}

/** An amount that went to a target, or was to go there, whichever caller asked. */
export interface PastAmount {
  readonly id: string
  readonly amount: number
  readonly how: 'done' | 'doubt' | 'open' | 'declined'
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
  in_doubt: 'doubt',
  PENDING: 'open',
  APPROVED: 'open',
  DECLINED: 'declined',
}

/**
 * The amounts of one currency on the target of a request: carried out, in doubt, open in other requests, or declined. Refusals of the policy
 * are left out: anybody can make a target look well known by trying.
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

/** The number of signatures, and the groups of those that are missing: `0 of 2 signed, one of directors`. Undefined: any one approver is enough. */
export function signedText(asked: ApprovalRequest): string | undefined {
  const { request, missing } = asked
  const groups = groupsText(asked)
  if (request.quorum === 1 && groups === '') return undefined
  return `${request.quorum - missing} of ${request.quorum} signed${groups}`
}

/** The groups whose approvals are missing, such as `, one of directors`; '' where every approver counts. */
export function groupsText({ signals = [] }: Pick<ApprovalRequest, 'signals'>): string {
  return signals
    .flatMap(({ quorum, from, approvedBy }) =>
      from === undefined || approvedBy.length >= quorum
        ? []
        : `, ${groupText(quorum - approvedBy.length, from)}`,
    )
    .join('')
}

/** `one of directors`, `2 of directors or treasury`. */
function groupText(count: number, from: readonly string[]): string {
  return `${count === 1 ? 'one' : count} of ${from.join(' or ')}`
}

/** Numbers of a request that are higher than in its caller's past. @param parameters without the amount, which other oddities cover */
export function higherThanBefore(parameters: Done['parameters'], before: readonly Done[]): Oddity[] {
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

/** @returns the start of a sentence about an amount that is higher than any before; undefined: the amount is not higher */
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

/** The time of the last decision on a request, whose approvers saw the state of that time; undefined: the request is open. ISO 8601 */
export function decidedAt(asked: ApprovalRequest): string | undefined {
  if (isOpen(asked)) return undefined
  return asked.closed?.closedAt ?? asked.approvals.at(-1)?.approvedAt ?? asked.request.createdAt
}

/** Requests as they stood at a time, as far as their data say: a request that was declined, withdrawn or expired later was open then. */
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

function ofOthers({ same, pending, approved, declined, declinedBecause }: Compared['requests']): Oddity[] {
  return [
    ...(same > 0
      ? [{ text: 'Another open request asks for exactly the same' }]
      : [
          ...(pending > 0 ? [{ text: `${counted(pending, 'other open request')} for this target` }] : []),
          ...(approved > 0
            ? [{ text: `${counted(approved, 'other request')} for this target signed and not used yet` }]
            : []),
        ]),
    ...(declined > 0
      ? [
          {
            text: `${counted(declined, 'request')} for this target declined, the newest because:`,
            said: declinedBecause ?? '',
          },
        ]
      : []),
  ]
}
