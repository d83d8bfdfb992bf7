// The transactions of the soak: one that `sandbox-echo` approves, and what each story changes of it.
import { randomUUID } from 'node:crypto'

export interface Given {
  readonly id?: string
  readonly action?: string
  readonly target?: string
  readonly policy?: { readonly name: string; readonly version: string }
  readonly parameters?: Readonly<Record<string, unknown>>
  readonly signals?: Readonly<Record<string, boolean | number>>
  readonly principal?: string
}

export const ECHO = { name: 'sandbox-echo', version: '1.0.0' }
/** Made and approved while the soak sets itself up. */
export const APPROVED_BY_A_HUMAN = { name: 'soak-approved', version: '1.0.0' }
export const EXTERNAL = { name: 'soak-external', version: '1.0.0', capability: 'soak:act' }

export function aTransaction({
  id = randomUUID(),
  action = 'sandbox:echo',
  target = 'soak',
  policy = ECHO,
  parameters = { amount: 42, currency: 'EUR' },
  signals = { approved: true, amount: 42 },
  principal = 'bench',
}: Given = {}) {
  const now = new Date().toISOString()
  const [authorityId, authorizationId] = [randomUUID(), randomUUID()]
  return {
    businessTransactionId: id,
    metadata: { businessTransactionId: id, sourceSystem: 'soak', submittedAt: now },
    authority: { authorityId, authorityType: 'SERVICE', principalId: principal, issuedAt: now },
    authorization: { authorizationId, authorityId, issuedAt: now },
    intent: { intentId: randomUUID(), authorizationId, action, target, parameters, createdAt: now },
    policy: { ...policy, schemaVersion: '1.0.0' },
    signals,
  }
}
