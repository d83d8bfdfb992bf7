// Where a policy decides nothing and only the default rejects (decisions §6 "no match is REJECTED"): a note for its author.
import type { PolicyDocument } from '../schemas/policy.ts'
import { ruleEnvironment } from './facts.ts'
import { whereNoneHolds } from './reach.ts'

/** in  document  one that compiles · out  an example in words; undefined where some rule always applies, or nobody can say */
export function whereNoRuleApplies({ signals, rules }: PolicyDocument): string | undefined {
  const environment = ruleEnvironment(new Map(Object.entries(signals)))
  return whereNoneHolds(rules.map(({ when }) => environment.parse(when).ast))
}
