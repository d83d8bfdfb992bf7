// A pipeline thread without the thread: the road's real parts over a real database, to send batches down by hand.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readPolicies } from '../../src/core/policy/load.ts'
import { generateKeys, readPublicKeys, readSigningKeys, type Algorithm } from '../../src/core/signing/keys.ts'
import { openStoreFault } from '../../src/core/store-fault.ts'
import { openPool } from '../../src/core/tables/sql.ts'
import { openApprovers } from '../../workers/approvers.ts'
import { openConnectors } from '../../workers/connectors/index.ts'
import { openSemaphores } from '../../workers/execute/admit-proven.ts'
import { execute, finish, type ExecutionContext } from '../../workers/execute/index.ts'
import { openPendingEvidence } from '../../workers/execute/pending-evidence.ts'
import type { Answered, InFlight } from '../../workers/execute/pipeline.ts'
import { openPolicyOutcomes } from '../../workers/outcomes.ts'
import { openPolicies } from '../../workers/policies.ts'
import { publishedCrypto } from '../evidence.ts'

const POLICY_DIR = join(import.meta.dirname, '..', '..', 'policies')

/** What the steps work with that decide and sign: everything but a database. Every shipped policy is approved. */
export type Road = Omit<ExecutionContext, 'pool' | 'pendingEvidence' | 'storeFault' | 'semaphores'>

/** in  receiptAlgorithms  default ed25519 */
export function openRoad(receiptAlgorithms: readonly Algorithm[] = ['ed25519']): Road {
  const dir = mkdtempSync(join(tmpdir(), 'countersign-road-'))
  generateKeys({ dir, now: new Date() })
  const { ed25519, receipt } = readSigningKeys(dir, receiptAlgorithms)
  const published = readPublicKeys(dir)
  const crypto = publishedCrypto(published)
  rmSync(dir, { recursive: true })
  return {
    policies: openPolicies(
      readPolicies(POLICY_DIR).map((source) => ({
        ...source,
        loadedAt: '2026-01-01T00:00:00.000Z',
        approvedBy: 'genesis',
      })),
    ),
    connectors: openConnectors({ hubspot: undefined, key: ed25519, production: false }),
    approvers: openApprovers([]),
    signingKeys: receipt,
    key: ed25519,
    findKey: (keyId) => published.get(keyId),
    crypto,
    outcomes: openPolicyOutcomes(),
  }
}

export function openThread(databaseUrl: string): ExecutionContext {
  const road = openRoad()
  const pool = openPool(databaseUrl, 4)
  const storeFault = openStoreFault()
  const count = new Int32Array(new SharedArrayBuffer(4))
  const pendingEvidence = openPendingEvidence({ pool, key: road.key, count, fault: storeFault })
  return { ...road, pool, pendingEvidence, storeFault, semaphores: openSemaphores() }
}

/** A request as a thread unpacks it. */
export function aRequest(transaction: object): InFlight {
  return {
    request: {
      ticket: 0,
      caller: { callerId: 'tester', reads: 'tester', scope: 'unchecked' },
      body: Buffer.from(JSON.stringify(transaction)),
      params: {},
      costMs: 0,
    },
  }
}

/** Takes transactions down the road as one batch, those with a slow connector too. out  statuses and bodies in caller order */
export async function executeAll(
  transactions: readonly object[],
  thread: ExecutionContext,
): Promise<{ status: number; body: Record<string, unknown> }[]> {
  const batch = transactions.map(aRequest)
  const { answered, later } = await execute(batch, thread)
  const all = [...answered, ...(await finish(await Promise.all(later), thread))]
  const answerTo = ({ request }: InFlight) => all.find((answer) => answer.request === request) as Answered
  return batch.map(answerTo).map(({ status, body }) => ({ status, body: JSON.parse(body) }))
}
