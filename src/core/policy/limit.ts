// The number by which the rules of a policy bound a signal.
import type { PolicyDocument } from '../../formats/schemas/policy.ts'

/** @returns the number that the rules compare the signal with, if all rules have the same number */
export function limitIn({ rules }: Pick<PolicyDocument, 'rules'>, signal: string): number | undefined {
  const compared = new RegExp(String.raw`\bsignals\.${signal}\b[^&|<>=]*[<>]=?\s*(\d+(?:\.\d+)?)`, 'g')
  const numbers = new Set(
    rules.flatMap(({ when }) => Array.from(when.matchAll(compared), ([, number]) => Number(number))),
  )
  return numbers.size === 1 ? [...numbers][0] : undefined
}
