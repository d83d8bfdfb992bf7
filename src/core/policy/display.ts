// The sentence by which a policy describes an action, for the humans who are asked to approve it.
import type { PolicyDocument } from '../../formats/schemas/policy.ts'
import { memberAt } from '../../formats/json/fields.ts'
import { cut } from '../../formats/text/text.ts'

/** A piece of the sentence: the policy's own words, or the request's value at a place. */
type DisplayPiece =
  | { readonly words: string }
  /** `value` is undefined when the request has no value there. */
  | { readonly place: string; readonly value: unknown }

/** Splits a sentence: the parts at odd indexes are places. */
export const PLACE = /\{([^{}]*)\}/

/** The values that the policy's words are about. */
interface Displayed {
  readonly capability: string
  readonly target: unknown
  readonly parameters: unknown
  readonly signals: unknown
}

/** Maximum length of a requester's value in one place of the sentence: enough for a name, too short for a second sentence. */
const VALUE_MAX = 80

/**
 * The sentence shows a value as JSON, so that quotation marks enclose a text and none of its own can end it. Otherwise the
 * requester could continue in the policy's words. The whole value is shown with the parameters.
 */
export function valueText(value: unknown): string {
  if (value === undefined) return '(not given)'
  return typeof value === 'string'
    ? JSON.stringify(cut(value, VALUE_MAX))
    : cut(JSON.stringify(value), VALUE_MAX)
}

/** @returns the sentence for a request, piece by piece; undefined when the policy has none for its capability */
export function displayOf(
  policy: Pick<PolicyDocument, 'display'>,
  displayed: Displayed,
): DisplayPiece[] | undefined {
  const shown = shownFor(policy, displayed)
  return shown?.text
    .split(PLACE)
    .map((part, i) => (i % 2 === 0 ? { words: part } : { place: part, value: valueAt(part, displayed) }))
}

/** @returns the sentence as one text, for lists; a value of several words is quoted, so it cannot continue in the policy's words */
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

/** A text that is too short for a second sentence, so that it needs no quotation marks. */
export const ONE_WORD = new RegExp(`^[\\p{L}\\p{N}][\\p{L}\\p{N}._:@/#+-]{0,${VALUE_MAX - 1}}$`, 'u')

/** Larger numbers are no real amounts, and their sums would exceed the numbers of JSON. */
const AMOUNT = /^-?(0|[1-9]\d{0,14})(\.\d{1,20})?$/

/** @returns the amount as a decimal number, and its currency; null when the policy names no place for it, or the request has no value there */
export function moneyOf(
  policy: Pick<PolicyDocument, 'display'>,
  displayed: Displayed,
): { readonly amount: string | null; readonly currency: string | null } {
  const { amount, currency } = shownFor(policy, displayed) ?? {}
  const sum = amount === undefined ? undefined : valueAt(amount, displayed)
  if (!(typeof sum === 'number' || typeof sum === 'string') || !AMOUNT.test(String(sum)))
    return { amount: null, currency: null }
  const unit = currency === undefined ? undefined : valueAt(currency, displayed)
  // In PostgreSQL's notation.
  const decimal = String(sum)
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '')
  return {
    amount: decimal === '-0' ? '0' : decimal,
    currency: typeof unit === 'string' && unit !== '' ? unit : null,
  }
}

/** Both forms of `display` in one. */
interface Shown {
  readonly text: string
  /** Places, as `currency` is too. */
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
 * An action in a row of a list: the sentence of its policy, or its action and target, and its sum of money. If the policy names no place for
 * the sum, the usual parameter names are used.
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
