// What an approval request wants done, in one line: in the words of its policy where it has some, and with the requester's values set apart.
import type { ApprovalRequestContent } from '../../formats/schemas/approval-request.ts'
import { displayOf, moneyOf } from '../../core/policy/display.ts'
import type { PolicyDocument } from '../../formats/schemas/policy.ts'
import { oneLine, shownMoney, shownValue } from '../text.ts'
import { Said } from './basic.tsx'
import { usePolicyOf } from './policy.tsx'

interface Piece {
  readonly text: string
  /** The requester wrote it. */
  readonly said: boolean
}

/** What an action is, asked for or done. */
type Action = Pick<ApprovalRequestContent, 'capability' | 'target' | 'parameters' | 'signals'>

function piecesOf(document: PolicyDocument | undefined, asked: Action): readonly Piece[] {
  const pieces = document && displayOf(document, asked)
  if (pieces !== undefined) {
    const { amount } = moneyOf(document!, asked)
    return pieces.map((piece) =>
      'words' in piece
        ? { text: oneLine(piece.words).replace(/\.$/, ''), said: false }
        : { text: shownPlace(piece.value, amount), said: true },
    )
  }
  return [
    { text: asked.capability, said: true },
    { text: ' → ', said: false },
    { text: asked.target, said: true },
  ]
}

/** @param amount of the action, as a decimal number; null: it has none */
function shownPlace(value: unknown, amount: string | null): string {
  const isAmount = typeof value === 'number' && amount !== null && value === Number(amount)
  return isAmount ? shownMoney(value, undefined) : shownValue(value)
}

/** The line as a text, for titles. */
export function lineOf(document: PolicyDocument | undefined, asked: Action): string {
  return oneLine(
    piecesOf(document, asked)
      .map(({ text }) => text)
      .join(''),
  )
}

export function Line({
  of: asked,
  document,
}: {
  readonly of: Action
  readonly document: PolicyDocument | undefined
}) {
  return (
    <span class="line-of-words">
      {piecesOf(document, asked).map(({ text, said }, i) => (said ? <Said key={i} text={text} /> : text))}
    </span>
  )
}

/** The line of a request in a list, which loads the policy that has the words. */
export function ListedLine({ of: asked }: { readonly of: ApprovalRequestContent }) {
  return <Line of={asked} document={usePolicyOf(asked.policy).document} />
}

/** A sum of money; null: its currency is not known. */
export interface Money {
  readonly amount: number
  readonly currency: string | null
}

/** The amount of an action where its policy says so in its `display`: the catalogue has these, and no others. */
export function namedAmountOf(document: PolicyDocument | undefined, asked: Action): Money | undefined {
  const { amount = null, currency = null } = document === undefined ? {} : moneyOf(document, asked)
  return amount === null ? undefined : { amount: Number(amount), currency }
}

/** The amount of an action: where its policy says, else under the names that parameters of money mostly have; undefined: it has none. */
export function amountOf(document: PolicyDocument | undefined, asked: Action): Money | undefined {
  const named = namedAmountOf(document, asked)
  if (named !== undefined) return named
  const { parameters } = asked
  if (typeof parameters['amount'] !== 'number') return undefined
  return {
    amount: parameters['amount'],
    currency: typeof parameters['currency'] === 'string' ? parameters['currency'] : null,
  }
}

export function Amount({ of: asked }: { readonly of: ApprovalRequestContent }) {
  const { document } = usePolicyOf(asked.policy)
  const money = amountOf(document, asked)
  return money === undefined ? null : <>{shownMoney(money.amount, money.currency ?? undefined)}</>
}

/** Sums by currency, such as `1,410 EUR, 20.50 USD`; '' where there is nothing to sum. */
export function sumsOf(all: readonly (Money | undefined)[]): string {
  const sums = new Map<string | null, number>()
  for (const one of all)
    if (one !== undefined) sums.set(one.currency, (sums.get(one.currency) ?? 0) + one.amount)
  return [...sums]
    .map(([currency, sum]) =>
      shownMoney(Math.round(sum * CENTS_OF_CENTS) / CENTS_OF_CENTS, currency ?? undefined),
    )
    .join(', ')
}

/** A sum of binary fractions is not exact: what is smaller than this is its error. */
const CENTS_OF_CENTS = 10_000
