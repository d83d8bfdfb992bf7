// The caller and the streams of what belongs to an execution.
import type { OfExecution, Streams } from './kind.ts'

/** @throws Error where the transaction cannot be read */
export function executionStreams({
  caller,
  transaction,
}: Omit<OfExecution, 'isReleased'>): Required<Pick<Streams, 'caller' | 'capability' | 'policy'>> {
  const { intent, policy } = JSON.parse(transaction) as {
    intent: { action: string }
    policy: { name: string }
  }
  return { caller, capability: intent.action, policy: policy.name }
}

/** As `owner` of a kind: whose execution it is. */
export const ownerOfExecution = {
  column: 'caller_id',
  of: 'business_transactions',
  by: 'business_transaction_id',
} as const
