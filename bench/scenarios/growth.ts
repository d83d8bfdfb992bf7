// The same executions in a database that holds more and more: what the indexes and the WAL of one execution cost then.
import { execute } from './execute.ts'
import type { Scenario } from '../scenario.ts'

export const growth: Scenario = {
  name: 'growth',
  description: 'POST /execute, approved, with more and more records stored before',
  isLocal: true,
  connections: [64],
  hasLevels: true,
  setUp: execute.setUp,
}
