import type { Countable } from '../../../src/core/policy/counting.ts'
import type { Accepted } from '../validate/validate.ts'

/** An execution, as the velocity limits of its policy group it. */
export function countable({ request, transaction }: Accepted): Countable {
  const { intent, authority, metadata, policy } = transaction
  return { callerId: request.caller.callerId, name: policy.name, intent, authority, metadata }
}
