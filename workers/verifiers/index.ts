// The state verifiers: one row each, by the name that a policy gives them (decisions §6).
import type { SignalVerifier } from '../../src/formats/schemas/policy.ts'
import { approval } from './approval.ts'
import { crmDeal } from './crm-deal.ts'
import { history } from './history.ts'
import type { StateVerifier } from './verifier.ts'

/** The list to add a verifier to. */
const verifiers: {
  readonly [By in SignalVerifier['by']]: StateVerifier<Extract<SignalVerifier, { by: By }>>
} = {
  approval,
  history,
  'crm-deal': crmDeal,
}

export function verifierOf(verifier: SignalVerifier): StateVerifier<SignalVerifier> {
  // Each gets checks of its own kind only.
  return verifiers[verifier.by] as StateVerifier<SignalVerifier>
}
