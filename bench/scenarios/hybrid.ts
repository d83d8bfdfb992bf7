// Records and receipts with two signatures each, so that one of the algorithms may fall (decisions §4 "Hybrid").
import { execute } from './execute.ts'
import type { Scenario } from '../scenario.ts'

export const hybrid: Scenario = {
  name: 'hybrid',
  description: 'POST /execute, approved, with records and receipts signed by Ed25519 and by ML-DSA-65',
  isLocal: true,
  service: { env: { RECEIPT_ALGORITHMS: 'ed25519,ml-dsa-65' } },
  connections: [1, 64],
  setUp: execute.setUp,
}
