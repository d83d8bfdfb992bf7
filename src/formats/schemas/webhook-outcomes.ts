/**
 * The outcomes of a delivery whose job has run:
 * no-rules     no rules are in effect for the provider
 * no-match     no rule matches the delivery
 * ambiguous    the delivery names several transactions
 * unknown      the delivery names a transaction that is not stored
 * rule-failed  a rule could not be evaluated
 * pending      the provider has not decided
 * confirmed    the delivery agrees with this service, or closed an execution in doubt
 * contradicted the delivery contradicts this service
 */
export const deliveryOutcomes = [
  'no-rules',
  'no-match',
  'ambiguous',
  'unknown',
  'rule-failed',
  'pending',
  'confirmed',
  'contradicted',
] as const
export type DeliveryOutcome = (typeof deliveryOutcomes)[number]
