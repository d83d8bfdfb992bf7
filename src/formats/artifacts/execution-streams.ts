// The caller and the streams of artifacts that belong to an execution.
import type { OfExecution, Streams } from './kind.ts'

/** @throws Error when the transaction cannot be read */
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

/** The `owner` of a kind that belongs to the caller of its execution. */
export const ownerOfExecution = {
  column: 'caller_id',
  of: 'business_transactions',
  by: 'business_transaction_id',
} as const
