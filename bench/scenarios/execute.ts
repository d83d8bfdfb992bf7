// Unique transactions that are approved and executed: the road of one execution, whole.
import { executions, type Scenario } from '../scenario.ts'

export const execute: Scenario = {
  name: 'execute',
  description: 'POST /execute, approved: every request a transaction of its own',
  connections: [1, 4, 16, 64, 256, 1024],
  hasYardsticks: true,
  setUp: ({ subject }) => Promise.resolve({ kinds: [executions(subject.transaction)], stored: [] }),
}
