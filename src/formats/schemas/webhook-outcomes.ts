/**
 * The outcomes of a delivery whose job has run:
 * no-rules     none are in effect for the provider
 * no-match     no rule reads it
 * ambiguous    it names several transactions
 * unknown      it names a transaction that is not stored
 * rule-failed  a rule could not be evaluated
 * pending      the provider has not decided
 * confirmed    it agrees with this service, or closed an execution in doubt
 * contradicted it says something else
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
