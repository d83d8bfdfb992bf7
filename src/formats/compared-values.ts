// Shows the values that a comparison of a webhook rule names, for a reader who wants amounts rather than the expression. Browser-safe.
import type { Json } from './json/canonical.ts'
import { isMembers } from './json/members.ts'

/** Places in the delivery or the transaction, such as `payload.amount`. */
const PLACES = /\b(payload|headers|transaction)((?:\.[A-Za-z_]\w*)+)/g

/**
 * The expression, followed by the value at each place that it names. The expression is not evaluated.
 * @param roots values of `payload`, `headers` and `transaction`; a value that is left out is unknown
 * @returns for example `payload.amount == transaction.intent.parameters.amount (payload.amount is 90; transaction.intent.parameters.amount is 100)`
 */
export function withValues(expression: string, roots: Readonly<Record<string, Json | undefined>>): string {
  const said = new Set(
    Array.from(expression.matchAll(PLACES), ([place, root = '', path = '']) => {
      const value = path
        .slice(1)
        .split('.')
        .reduce<Json | undefined>((at, name) => (isMembers(at) ? at[name] : undefined), roots[root])
      return roots[root] === undefined
        ? ''
        : `${place} is ${value === undefined ? 'missing' : JSON.stringify(value)}`
    }),
  )
  said.delete('')
  return said.size === 0 ? expression : `${expression} (${[...said].join('; ')})`
}
