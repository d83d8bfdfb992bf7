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
  { display = {} }: Pick<PolicyDocument, 'display'>,
  { capability, target, parameters, signals }: Displayed,
): DisplayPiece[] | undefined {
  if (!Object.hasOwn(display, capability)) return undefined
  const facts = { intent: { target, parameters }, signals }
  return display[capability]!.split(PLACE).map((part, i) =>
    i % 2 === 0 ? { words: part } : { place: part, value: memberAt(facts, part.split('.')) },
  )
}
