// Counts the policies' decisions on the executions that were claimed, until the next replies take them to the front end.
import type { PolicyOutcome, PolicyOutcomeCount } from '../src/core/threads/thread-messages.ts'
import { Finished, type InFlight } from './in-flight.ts'

export interface PolicyOutcomes {
  /** `policyName` is the name of a loaded policy, `claimed` the result of `claim`. */
  readonly count: (policyName: string, claimed: InFlight | Finished) => void
  /** Takes the counts since the last call; undefined: there are none. */
  readonly take: () => PolicyOutcomeCount[] | undefined
}

export function openPolicyOutcomes(): PolicyOutcomes {
  let counts = new Map<string, Record<PolicyOutcome, number>>()
  return {
    count(policyName, claimed) {
      // By its answer: a duplicate's decision leaves no trace, so its answer has no outcome of a policy.
      const outcome = claimed instanceof Finished ? claimed.answer.refusalKind : 'approved'
      if (outcome === undefined) return
      let ofPolicy = counts.get(policyName)
      if (ofPolicy === undefined) counts.set(policyName, (ofPolicy = { approved: 0, rejected: 0, denied: 0 }))
      ofPolicy[outcome]++
    },
    take() {
      if (counts.size === 0) return undefined
      const taken = Array.from(counts, ([policy, ofPolicy]) => ({ policy, ...ofPolicy }))
      counts = new Map()
      return taken
    },
  }
}
