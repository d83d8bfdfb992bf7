// A worker without its thread: the real steps of the pipeline over a real database, to run batches by hand.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { joinPersons } from '../../src/formats/people/persons.ts'
import { readPolicies } from '../../src/core/policy/load.ts'
import { generateKeys, readPublicKeys, readSigningKeys } from '../../src/core/signing/keys.ts'
import type { Algorithm } from '../../src/formats/schemas/signature.ts'
import { openEvidenceFaults } from '../../src/core/threads/evidence-fault.ts'
import { startLogEntries } from '../../src/store/tables/log-queue.ts'
import { COMMAND_PATIENCE, openPool } from '../../src/store/postgres/sql.ts'
import { openApprovers } from '../../workers/approvers.ts'
import { openConnectors } from '../../workers/connectors/index.ts'
import { released, type Released } from '../../workers/execute/claim.ts'
import type { Authorized } from '../../workers/execute/decide/authorize.ts'
import { openSemaphores } from '../../workers/execute/prove/prove-and-claim.ts'
import { execute, finish, type ExecutionContext } from '../../workers/execute/index.ts'
import { openPendingEvidence } from '../../workers/execute/store/pending-evidence.ts'
import type { Finished, InFlight } from '../../workers/in-flight.ts'
import { openPolicyOutcomes } from '../../workers/policy-outcomes.ts'
import { openExistingStreams } from '../../workers/existing-streams.ts'
import { openFresh } from '../../workers/fresh.ts'
import { openPersons } from '../../workers/persons.ts'
import { openPolicies } from '../../workers/policies.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { publishedCrypto } from '../evidence.ts'

const POLICY_DIR = join(import.meta.dirname, '..', '..', 'policies')

/** As if it was claimed alone. */
export function releasedAlone(item: Authorized): Released {
  const { businessTransactionId: id } = item.transaction
  return released(item, { batch: id, ids: [id] })
}

/** The steps that decide and sign work with this: everything but a database. Every shipped policy is approved. */
export type Steps = Omit<ExecutionContext, 'pool' | 'pendingEvidence' | 'semaphores'>

/** @param receiptAlgorithms by default ed25519 */
export function openSteps(receiptAlgorithms: readonly Algorithm[] = ['ed25519']): Steps {
  const dir = mkdtempSync(join(tmpdir(), 'countersign-steps-'))
  generateKeys({ dir, now: new Date() })
  const { ed25519, receipt } = readSigningKeys(dir, receiptAlgorithms)
  const published = readPublicKeys(dir)
  const crypto = publishedCrypto(published)
  rmSync(dir, { recursive: true })
  const policies = openPolicies(
    readPolicies(POLICY_DIR).map((source) => ({
      ...source,
      loadedAt: '2026-01-01T00:00:00.000Z',
      approvedBy: 'genesis',
      approvedAt: new Date(0).toISOString(),
      approvedByChange: null,
      retiredBy: null,
      retiredAt: null,
      retiredByChange: null,
    })),
  )
  const fresh = openFresh()
  const connectors = openConnectors({
    hubspot: undefined,
    key: ed25519,
    production: false,
    clock: fresh.clock,
  })
  const approvers = openApprovers([])
  return {
    ...fresh,
    policies,
    connectors,
    approvers,
    persons: openPersons(joinPersons([])),
    existingStreams: openExistingStreams({ policies, connectors, approvers }),
    receiptKeys: receipt,
    batchSignatures: true,
    originName: 'countersign.example',
    logOrigin: () => 'countersign.example/log/1',
    startLogEntries,
    key: ed25519,
    findKey: (keyId) => published.get(keyId),
    crypto,
    intentCloseQuorum: 1,
    outcomes: openPolicyOutcomes(),
    evidenceFaults: openEvidenceFaults(),
  }
}

export function openThread(databaseUrl: string, receiptAlgorithms?: readonly Algorithm[]): ExecutionContext {
  const steps = openSteps(receiptAlgorithms)
  // It gets as little of a busy machine as a command does.
  const pool = openPool(databaseUrl, 4, COMMAND_PATIENCE)
  const count = new Int32Array(new SharedArrayBuffer(4))
  const pendingEvidence = openPendingEvidence({ ...steps, pool, count, faults: steps.evidenceFaults })
  return { ...steps, pool, pendingEvidence, semaphores: openSemaphores() }
}

/** Gives the tests of a file a database and a thread on it, from before the first of them to after the last. */
export function withThread(
  take: (made: { readonly database: TestDatabase; readonly thread: ExecutionContext }) => void,
  receiptAlgorithms?: readonly Algorithm[],
): void {
  let database: TestDatabase
  let thread: ExecutionContext
  beforeAll(async () => {
    database = await createDatabase()
    thread = openThread(database.url, receiptAlgorithms)
    take({ database, thread })
  })
  afterAll(async () => {
    await thread.pool.end()
    await database.drop()
  })
}

/** A request as a thread unpacks it. */
export function aRequest(transaction: object): InFlight {
  return {
    request: {
      ticket: 0,
      takenMs: performance.now(),
      caller: { callerId: 'tester', reads: 'tester', scope: 'unchecked' },
      body: Buffer.from(JSON.stringify(transaction)),
      params: {},
      costMs: 0,
    },
  }
}

/**
 * Runs transactions through the pipeline as one batch, deferred ones too.
 * @returns statuses and bodies in caller order
 */
export async function executeAll(
  transactions: readonly object[],
  thread: ExecutionContext,
): Promise<{ status: number; body: Record<string, unknown> }[]> {
  const batch = transactions.map(aRequest)
  const { answered, deferred } = await execute(batch, thread)
  const all = [...answered, ...(await finish(await Promise.all(deferred), thread))]
  const answerTo = ({ request }: InFlight) => all.find((answer) => answer.request === request) as Finished
  return batch.map(answerTo).map(({ answer: { status, body } }) => ({ status, body: JSON.parse(body) }))
}
