// The values that a comparison of a webhook rule speaks of, for a reader who wants the amounts and not the expression. Browser-safe.
import type { Json } from './json/canonical.ts'
import { isMembers } from './json/members.ts'

/** Places in the delivery or the transaction, such as `payload.amount`. */
const PLACES = /\b(payload|headers|transaction)((?:\.[A-Za-z_]\w*)+)/g

/**
 * The expression, and behind it what stands at each place that it names: nothing of it is evaluated.
 * @param roots what `payload`, `headers` and `transaction` are; one that is left out is not known
 * @returns such as `payload.amount == transaction.intent.parameters.amount (payload.amount is 90; transaction.intent.parameters.amount is 100)`
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
