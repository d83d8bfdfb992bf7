// What the bench posts: transactions that `sandbox-echo` 1.0.0 approves, each with ids of its own.
import { randomUUID } from 'node:crypto'

/** Every member of interface §2.1 that a caller sends. */
function transaction(businessTransactionId: string, authorityId: string, authorizationId: string) {
  const now = new Date().toISOString()
  return {
    businessTransactionId,
    metadata: {
      businessTransactionId,
      correlationId: '$3',
      sourceSystem: 'bench',
      submittedBy: 'bench',
      submittedAt: now,
    },
    authority: {
      authorityId,
      authorityType: 'SERVICE',
      principalId: 'bench',
      displayName: 'Bench',
      issuedAt: now,
    },
    authorization: { authorizationId, authorityId, purpose: 'measurement', issuedAt: now },
    intent: {
      intentId: '$4',
      authorizationId,
      action: 'sandbox:echo',
      target: 'bench',
      parameters: { amount: 42, currency: 'EUR', reference: 'bench-0001' },
      createdAt: now,
    },
    policy: { name: 'sandbox-echo', version: '1.0.0', schemaVersion: '1.0.0' },
    signals: { approved: true, amount: 42 },
  }
}

// Cut where the ids go: filling in random ones is all that a request costs the generator. Random, because ids in rising order
// would spare the database's indexes what callers do to them.
const pieces = JSON.stringify(transaction('$0', '$1', '$2')).split(/\$(\d)/)

export function freshBody(): string {
  const ids = [randomUUID(), randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  let body = ''
  for (let i = 0; i < pieces.length; i += 2) body += pieces[i] + (ids[Number(pieces[i + 1])] ?? '')
  return body
}
