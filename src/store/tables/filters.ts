// Filters of lists as SQL. A list has one table with the condition of each of its filters.

import { plainText } from '../postgres/json.ts'

type Parameter = (value: string) => string

/** SQL over a row `item` in which `$` stands for the value; or a function that makes it. */
export type Conditions = Readonly<Record<string, string | ((value: string, parameter: Parameter) => string)>>

/** A filter that is left out or null does not apply. */
export type FiltersOf<Of extends Conditions> = { readonly [Name in keyof Of]?: string | null }

/**
 * @param first the number of the first parameter
 * @returns the condition of all filters together, and its parameters in order
 */
export function whereOf<Of extends Conditions>(
  conditions: Of,
  filters: FiltersOf<Of>,
  first: number,
): { readonly where: string; readonly values: string[] } {
  const values: string[] = []
  const parameter: Parameter = (value) => `$${first + values.push(plainText(value)) - 1}`
  const parts = Object.entries(conditions).flatMap(([name, condition]) => {
    const value = filters[name] ?? null
    if (value === null) return []
    return [
      typeof condition === 'string'
        ? condition.replace('$', () => parameter(value))
        : condition(value, parameter),
    ]
  })
  return { where: parts.length === 0 ? 'true' : parts.join(' AND '), values }
}

/** A pattern of LIKE for texts in lower case that have this part. */
export function patternOf(part: string): string {
  return `%${part.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
}

const ID_DIGITS = 32
const ID_DIGITS_MIN = 4

/** @returns the range of the UUIDs that begin with it; undefined where none does */
export function idsFrom(prefix: string): { readonly first: string; readonly last: string } | undefined {
  if (!/^[0-9a-f-]+$/i.test(prefix)) return undefined
  const digits = prefix.replaceAll('-', '').toLowerCase()
  if (digits.length < ID_DIGITS_MIN || digits.length > ID_DIGITS) return undefined
  return { first: digits.padEnd(ID_DIGITS, '0'), last: digits.padEnd(ID_DIGITS, 'f') }
}

/** An amount as pages and reports print it, with its currency or without. */
const PRINTED_AMOUNT = /^(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?: [a-z]{3,4})?$/i

/** @returns the digits of a printed amount as JSON has them, where it is printed in another way: `28,284.60 EUR` is 28284.6 */
function plainAmount(q: string): string[] {
  const [, whole, fraction = ''] = PRINTED_AMOUNT.exec(q.trim()) ?? []
  if (whole === undefined) return []
  const plain = `${whole.replaceAll(',', '')}${fraction.replace(/\.?0+$/, '')}`
  return plain === q ? [] : [plain]
}

/**
 * A condition for `q`: a part of a text, or the beginning of an id.
 * @param of.text SQL of a text in lower case
 * @param of.id a column of type uuid
 */
export const textOrId =
  ({ text, id }: { readonly text: string; readonly id: string }) =>
  (q: string, parameter: Parameter): string => {
    const parts = [q, ...plainAmount(q)].map((part) => `${text} LIKE ${parameter(patternOf(part))}::text`)
    const found = parts.length === 1 ? parts[0]! : `(${parts.join(' OR ')})`
    const ids = idsFrom(q)
    if (ids === undefined) return found
    return `(${found} OR ${id} BETWEEN ${parameter(ids.first)}::uuid AND ${parameter(ids.last)}::uuid)`
  }
