// Opens the resources that the handlers of a worker thread share.
import { readSigningKeys } from '../src/core/signing/keys.ts'
import { publishedKeys, type PublishedKeys } from '../src/core/signing/published.ts'
import { openCrypto } from '../src/core/signing/crypto.ts'
import { openEvidenceFaults } from '../src/core/threads/evidence-fault.ts'
import { notLogged, startLogEntries } from '../src/store/tables/log-queue.ts'
import { openPool } from '../src/store/postgres/sql.ts'
import { openApprovers } from './approvers.ts'
import { connectionsOf } from './connections.ts'
import { openConnectors } from './connectors/index.ts'
import { openSemaphores } from './execute/prove/prove-and-claim.ts'
import type { ExecutionContext } from './execute/index.ts'
import { openFresh } from './fresh.ts'
import { openExistingStreams } from './existing-streams.ts'
import { openPendingEvidence } from './execute/store/pending-evidence.ts'
import { openPersons } from './persons.ts'
import { openPolicies } from './policies.ts'
import { openWebhookRules, type WebhookRules } from './webhooks/rules.ts'
import { openPolicyOutcomes } from './policy-outcomes.ts'
import { newestOrigin, type Boot, type PendingCount } from '../src/core/threads/thread-messages.ts'

export type Thread = ReturnType<typeof openThread>

/**
 * Opens the shared resources of this thread's handlers: its connections, its keys, and the policies, approvers, connectors and webhook rules in
 * effect.
 */
export function openThread(given: Boot) {
  const { lane, config, database, evidenceLog, authority, evidenceFaultMemory } = given
  const { signingKeyDir, hubspot, production } = config
  const pool = openPool(database, connectionsOf(lane))
  const { ed25519, receipt } = readSigningKeys(signingKeyDir, config.receiptAlgorithms)
  // A file that cannot be read is reported by the front end; here its key is unknown, and nothing verifies by it.
  const published = publishedKeys(signingKeyDir, { onError: () => undefined })
  const findKey = published.get
  const approvers = openApprovers(authority.approvers)
  const persons = openPersons(authority.persons)
  const fresh = openFresh()
  const connectors = openConnectors({ hubspot, key: ed25519, production, clock: fresh.clock })
  connectors.replaceExternal(authority.externalConnectors)
  const evidenceFaults = openEvidenceFaults(evidenceFaultMemory)
  const logging = {
    originName: evidenceLog?.name ?? 'countersign',
    logOrigin: () => evidenceLog && newestOrigin(evidenceLog),
    startLogEntries: evidenceLog === undefined ? () => notLogged : startLogEntries,
  }
  const policies = openPolicies(authority.policies)
  const pendingCount: PendingCount = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  // Compiled before the first execution comes.
  if (lane === 'execution') policies.has('')
  return {
    ...fresh,
    ...logging,
    existingStreams: openExistingStreams({ policies, connectors, approvers }),
    pool,
    pendingEvidence: openPendingEvidence({
      ...fresh,
      ...logging,
      pool,
      key: ed25519,
      count: pendingCount,
      faults: evidenceFaults,
    }),
    pendingCount,
    evidenceFaults,
    policies,
    approvers,
    persons,
    connectors,
    webhookRules: openWebhookRules(authority.webhookRules),
    semaphores: openSemaphores(),
    outcomes: openPolicyOutcomes(),
    receiptKeys: receipt,
    key: ed25519,
    published,
    findKey,
    batchSignatures: config.batchSignatures,
    intentCloseQuorum: config.intentCloseQuorum,
    crypto: openCrypto({ findKey, findApproverKey: approvers.find }),
  } satisfies ExecutionContext & {
    pendingCount: PendingCount
    published: PublishedKeys
    webhookRules: WebhookRules
  }
}
