// The sentence in which a policy says what an action does, for the humans who are asked to approve it.
import type { PolicyDocument } from '../../formats/schemas/policy.ts'
import { memberAt } from '../../formats/json/fields.ts'
import { cut } from '../../formats/text/text.ts'

/** A piece of the sentence: the policy's own words, or what a request has at a place. */
type DisplayPiece =
  | { readonly words: string }
  /** `value` is undefined where the request has nothing there. */
  | { readonly place: string; readonly value: unknown }

/** Splits a sentence: what stands at odd indexes is a place. */
export const PLACE = /\{([^{}]*)\}/

/** The values that the policy's words are about. */
interface Displayed {
  readonly capability: string
  readonly target: unknown
  readonly parameters: unknown
  readonly signals: unknown
}

/** The length of a value that the requester writes into one place of the sentence: enough for a name, and no room for a second sentence. */
const VALUE_MAX = 80

/**
 * The sentence shows a value as JSON, so that a text has quotation marks around it and none of its own can end it. Else the
 * requester could go on in the policy's words. The whole value stands with the parameters.
 */
export function valueText(value: unknown): string {
  if (value === undefined) return '(not given)'
  return typeof value === 'string'
    ? JSON.stringify(cut(value, VALUE_MAX))
    : cut(JSON.stringify(value), VALUE_MAX)
}

/** @returns the sentence for a request, piece by piece; undefined where the policy has none for its capability */
export function displayOf(
  policy: Pick<PolicyDocument, 'display'>,
  displayed: Displayed,
): DisplayPiece[] | undefined {
  const shown = shownFor(policy, displayed)
  return shown?.text
    .split(PLACE)
    .map((part, i) => (i % 2 === 0 ? { words: part } : { place: part, value: valueAt(part, displayed) }))
}

/** @returns the sentence as one text, for lists; a value of several words stands in quotation marks and so cannot go on in the policy's words */
export function sentenceOf(pieces: readonly DisplayPiece[]): string {
  return pieces
    .map((piece) => {
      if ('words' in piece) return piece.words
      return typeof piece.value === 'string' && ONE_WORD.test(piece.value)
        ? piece.value
        : valueText(piece.value)
    })
    .join('')
}

/** A text that no second sentence fits into, so that it needs no quotation marks. */
export const ONE_WORD = new RegExp(`^[\\p{L}\\p{N}][\\p{L}\\p{N}._:@/#+-]{0,${VALUE_MAX - 1}}$`, 'u')

/** Larger ones are nobody's money, and sums of them would be no numbers that JSON has. */
const AMOUNT = /^-?(0|[1-9]\d{0,14})(\.\d{1,20})?$/

/** @returns the amount as a decimal number, and its currency; null where the policy names none for its capability, or the request has none there */
export function moneyOf(
  policy: Pick<PolicyDocument, 'display'>,
  displayed: Displayed,
): { readonly amount: string | null; readonly currency: string | null } {
  const { amount, currency } = shownFor(policy, displayed) ?? {}
  const sum = amount === undefined ? undefined : valueAt(amount, displayed)
  if (!(typeof sum === 'number' || typeof sum === 'string') || !AMOUNT.test(String(sum)))
    return { amount: null, currency: null }
  const unit = currency === undefined ? undefined : valueAt(currency, displayed)
  // As PostgreSQL writes it.
  const decimal = String(sum)
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '')
  return {
    amount: decimal === '-0' ? '0' : decimal,
    currency: typeof unit === 'string' && unit !== '' ? unit : null,
  }
}

/** The forms of `display` as one. */
interface Shown {
  readonly text: string
  /** Places, as `currency` is. */
  readonly amount?: string | undefined
  readonly currency?: string | undefined
}

function shownFor(
  { display = {} }: Pick<PolicyDocument, 'display'>,
  { capability }: Displayed,
): Shown | undefined {
  return Object.hasOwn(display, capability) ? shownOf(display[capability]!) : undefined
}

export function shownOf(display: NonNullable<PolicyDocument['display']>[string]): Shown {
  return typeof display === 'string' ? { text: display } : display
}

function valueAt(place: string, { target, parameters, signals }: Displayed): unknown {
  return memberAt({ intent: { target, parameters }, signals }, place.split('.'))
}

/** Enough for a row of a list. */
const SUMMARY_MAX = 300

/**
 * An action in a row of a list: the sentence of its policy, or its action and target, and its sum of money, under the names that parameters
 * of money mostly have where the policy names no place.
 */
export function rowOf(
  policy: Pick<PolicyDocument, 'display'>,
  displayed: Displayed & { readonly parameters: Readonly<Record<string, unknown>> },
): { readonly summary: string; readonly amount?: number; readonly currency?: string } {
  const pieces = displayOf(policy, displayed)
  const { amount, currency } = moneyOf(policy, displayed)
  const { amount: plainAmount, currency: plainCurrency } = displayed.parameters
  const sum = amount === null ? plainAmount : Number(amount)
  const unit = amount === null ? plainCurrency : currency
  return {
    summary: cut(
      pieces === undefined ? `${displayed.capability} → ${String(displayed.target)}` : sentenceOf(pieces),
      SUMMARY_MAX,
    ),
    ...(typeof sum === 'number' ? { amount: sum } : {}),
    ...(typeof sum === 'number' && typeof unit === 'string' && unit !== '' ? { currency: unit } : {}),
  }
}
