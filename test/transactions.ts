// Builders of what callers send: valid by default, so that a test shows only what matters to it.
import { randomUUID } from 'node:crypto'

/** Nested members replace those of the default one by one; everything else replaces whole. */
export interface Changes {
  readonly businessTransactionId?: string
  readonly metadata?: object
  readonly authority?: object
  readonly authorization?: object
  readonly intent?: object
  readonly policy?: object
  readonly signals?: object
}

/** A transaction that `sandbox-echo` 1.0.0 approves. */
export function aTransaction(changes: Changes = {}) {
  const businessTransactionId = changes.businessTransactionId ?? randomUUID()
  const authorityId = randomUUID()
  const authorizationId = randomUUID()
  const now = new Date().toISOString()
  return {
    businessTransactionId,
    metadata: {
      businessTransactionId,
      correlationId: randomUUID(),
      sourceSystem: 'tests',
      submittedBy: 'somebody else',
      submittedAt: now,
      ...changes.metadata,
    },
    authority: {
      authorityId,
      authorityType: 'SERVICE',
      principalId: 'tester',
      displayName: 'Tester',
      issuedAt: now,
      ...changes.authority,
    },
    authorization: { authorizationId, authorityId, purpose: 'test', issuedAt: now, ...changes.authorization },
    intent: {
      intentId: randomUUID(),
      authorizationId,
      action: 'sandbox:echo',
      target: 'test',
      parameters: { amount: 42 },
      createdAt: now,
      ...changes.intent,
    },
    policy: { name: 'sandbox-echo', version: '1.0.0', schemaVersion: '1.0.0', ...changes.policy },
    signals: { approved: true, amount: 42, ...changes.signals },
  }
}

/** One that `sandbox-echo` 1.0.0 rejects by rule `too-large`. */
export function aRejectedTransaction() {
  return aTransaction({ intent: { parameters: { amount: 2000 } }, signals: { amount: 2000 } })
}

/** One whose declared amount is not the intent's. */
export function aMismatchedTransaction() {
  return aTransaction({ intent: { parameters: { amount: 7 } } })
}
