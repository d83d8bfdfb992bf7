// What many callers do together: executions and reads of what was executed.
import { executions, storedRecords, type Scenario } from '../scenario.ts'
import { reads } from './read.ts'

export const mixed: Scenario = {
  name: 'mixed',
  description: '80 % POST /execute, 20 % GET /trust-records/{id}',
  connections: [1, 64],
  setUp: async (setting) => ({
    kinds: [
      { ...executions(setting.subject.transaction), weight: 80 },
      { ...reads, weight: 20 },
    ],
    stored: await storedRecords(setting),
  }),
}
