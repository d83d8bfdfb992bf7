// Records by their id (interface §4.3).
import type { RequestKind } from '../request.ts'
import { storedRecords, type Scenario } from '../scenario.ts'

export const reads: RequestKind = {
  name: 'read',
  method: 'GET',
  path: '/trust-records/{{stored}}',
  status: 200,
  evidence: 'trust-record',
}

export const read: Scenario = {
  name: 'read',
  description: 'GET /trust-records/{id}',
  connections: [1, 64],
  setUp: async (setting) => ({ kinds: [reads], stored: await storedRecords(setting) }),
}
