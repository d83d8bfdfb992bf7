// New verifications and new receipts of stored records (interface §4.3).
import type { RequestKind } from '../request.ts'
import { storedRecords, type Scenario } from '../scenario.ts'

const posted = (path: string, table: string): RequestKind => ({
  name: path.slice(1),
  method: 'POST',
  path,
  body: '{"businessTransactionId":"{{stored}}"}',
  status: 200,
  stores: { [table]: 1 },
  evidence: 'trust-record',
})

export const verify: Scenario = {
  name: 'verify',
  description: 'POST /verify: recomputes a stored record and appends a verification',
  connections: [1, 64],
  setUp: async (setting) => ({
    kinds: [posted('/verify', 'verifications')],
    stored: await storedRecords(setting),
  }),
}

export const receipt: Scenario = {
  name: 'receipt',
  description: 'POST /receipt: verifies a stored record and signs one more receipt',
  connections: [1, 64],
  setUp: async (setting) => ({
    kinds: [posted('/receipt', 'receipts')],
    stored: await storedRecords(setting),
  }),
}
