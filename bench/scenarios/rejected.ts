// Unique transactions that the policy rejects: a signed Refusal Record in place of an execution (interface §7).
import { executions, type Scenario } from '../scenario.ts'
import { isSandbox } from '../transaction.ts'

export const rejected: Scenario = {
  name: 'rejected',
  description: 'POST /execute, rejected by the policy: a 500 RUNTIME_ERROR and a signed Refusal Record',
  connections: [1, 64],
  isPossible: isSandbox,
  setUp({ subject }) {
    const tooLarge = { parameters: { amount: 1001 }, signals: { approved: true, amount: 1001 } }
    const kind = {
      ...executions({ ...subject.transaction, ...tooLarge }),
      name: 'rejected',
      status: 500,
      stores: { business_transactions: 1, refusal_records: 1 },
      evidence: 'refusal-record' as const,
    }
    return Promise.resolve({ kinds: [kind], stored: [] })
  },
}
