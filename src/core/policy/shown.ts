// Describes an action and its amount in a person's words: in the words of its policy if it has some, with the requester's values marked.
// The console and the commands share it. Browser-safe.
import { lazy } from '../../formats/lazy.ts'
import { printable } from '../../formats/text/printable.ts'
import type { ApprovalRequestContent } from '../../formats/schemas/approval-request.ts'
import type { PolicyDocument } from '../../formats/schemas/policy.ts'
import { displayOf, moneyOf, ONE_WORD, valueText } from './display.ts'

/** The content of an action, requested or done. */
export type Action = Pick<ApprovalRequestContent, 'capability' | 'target' | 'parameters' | 'signals'>

// Creating a formatter takes fifty times as long as using it, and the first in a process a hundred times as long as that.
const numbers = lazy(() => new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 }))
const fractions = lazy(
  () => new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 20 }),
)

/** A value within a sentence: a number with grouped digits, a name as it is, anything else as its JSON text, cut. */
export function shownValue(value: unknown): string {
  if (typeof value === 'number') return numbers().format(value)
  return typeof value === 'string' && ONE_WORD.test(value) ? value : valueText(value)
}

/** A sum of money; fractions have at least two digits. */
export function shownMoney(amount: number, currency: unknown): string {
  const sum = (Number.isInteger(amount) ? numbers() : fractions()).format(amount)
  return typeof currency === 'string' ? `${sum} ${shownValue(currency)}` : sum
}

interface Piece {
  readonly text: string
  /** Whether the requester wrote the text. */
  readonly said: boolean
}

/** The line of an action, piece by piece. */
export function piecesOf(document: PolicyDocument | undefined, asked: Action): readonly Piece[] {
  const pieces = document && displayOf(document, asked)
  if (pieces !== undefined) {
    const { amount } = moneyOf(document!, asked)
    return pieces.map((piece) =>
      'words' in piece
        ? { text: printable(piece.words).replace(/\.$/, ''), said: false }
        : { text: shownPlace(piece.value, amount), said: true },
    )
  }
  return [
    { text: asked.capability, said: true },
    { text: ' → ', said: false },
    { text: asked.target, said: true },
  ]
}

/** @param amount amount of the action, as a decimal number; null: it has none */
function shownPlace(value: unknown, amount: string | null): string {
  const isAmount = typeof value === 'number' && amount !== null && value === Number(amount)
  return isAmount ? shownMoney(value, undefined) : shownValue(value)
}

/** The line of an action as one text, printable. */
export function lineOf(document: PolicyDocument | undefined, asked: Action): string {
  return printable(
    piecesOf(document, asked)
      .map(({ text }) => text)
      .join(''),
  )
}

/** A sum of money. A null currency is unknown. */
export interface Money {
  readonly amount: number
  readonly currency: string | null
}

/** The amount of an action, if its policy names it in its `display`: the catalogue has only these amounts. */
export function namedAmountOf(document: PolicyDocument | undefined, asked: Action): Money | undefined {
  const { amount = null, currency = null } = document === undefined ? {} : moneyOf(document, asked)
  return amount === null ? undefined : { amount: Number(amount), currency }
}

/** The amount of an action: from the place that its policy names, else from the usual parameter names; undefined: it has none. */
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

/** Sums by currency, such as `1,410 EUR, 20.50 USD`; '' when there is nothing to sum. */
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

/**
 * Sums by currency, to stand behind their subject, such as ` (1,410 EUR)`.
 * @param sums '' is an unknown currency; undefined: there are no sums
 * @returns '' when there is nothing to sum
 */
export function inMoney(sums: Readonly<Record<string, number>> | undefined): string {
  const text = sumsOf(
    Object.entries(sums ?? {}).map(([currency, sum]) => ({ amount: sum, currency: currency || null })),
  )
  return text === '' ? '' : ` (${text})`
}

/** A sum of binary fractions is not exact: smaller fractions are rounding errors. */
const CENTS_OF_CENTS = 10_000
