// The number that the rules of a policy bound a signal by.
import type { PolicyDocument } from '../../formats/schemas/policy.ts'

/** @returns the number behind the comparison in which the signal stands, where all rules have the same one */
export function limitIn({ rules }: Pick<PolicyDocument, 'rules'>, signal: string): number | undefined {
  const compared = new RegExp(String.raw`\bsignals\.${signal}\b[^&|<>=]*[<>]=?\s*(\d+(?:\.\d+)?)`, 'g')
  const numbers = new Set(
    rules.flatMap(({ when }) => Array.from(when.matchAll(compared), ([, number]) => Number(number))),
  )
  return numbers.size === 1 ? [...numbers][0] : undefined
}
