// The context of the stages of every operation, opened once per worker thread.
import type { Pool } from 'pg'
import type { PublicKey, SigningKey } from '../src/core/signing/keys.ts'
import type { LogEntries } from '../src/store/tables/log-queue.ts'
import type { EvidenceFaults } from '../src/core/threads/evidence-fault.ts'
import type { Crypto } from '../src/formats/artifacts/evidence.ts'
import type { Approvers } from './approvers.ts'
import type { Connectors } from './connectors/index.ts'
import type { Fresh } from './fresh.ts'
import type { ExistingStreams } from './existing-streams.ts'
import type { PersonsInEffect } from './persons.ts'
import type { PolicyOutcomes } from './policy-outcomes.ts'
import type { Policies } from './policies.ts'

export interface ThreadContext extends Fresh {
  readonly pool: Pool
  /** The faults that stop all executions: evidence that the database refuses, or that did not verify. All threads share them. */
  readonly evidenceFaults: EvidenceFaults
  readonly policies: Policies
  readonly approvers: Approvers
  readonly persons: PersonsInEffect
  readonly connectors: Connectors
  /** One for each of RECEIPT_ALGORITHMS: they sign records and receipts. */
  readonly receiptKeys: readonly SigningKey[]
  /** The Ed25519 key: it signs every other artifact. */
  readonly key: SigningKey
  /** BATCH_SIGNATURES: one signature for the authorizations or records of a batch. */
  readonly batchSignatures: boolean
  /** Stands before `/batch/` in the origins of batches, and before `/log/` in that of the log. */
  readonly originName: string
  /** Origin of the newest evidence log, which receipts promise their inclusion in; undefined: LOG=off. */
  readonly logOrigin: () => string | undefined
  /** The entries of one commit, for the transaction that stores their artifacts. With LOG=off they are dropped. */
  readonly startLogEntries: () => LogEntries
  /** Leaves out streams whose names do not exist. */
  readonly existingStreams: ExistingStreams
  readonly findKey: (keyId: string) => PublicKey | undefined
  readonly crypto: Crypto
  readonly outcomes: PolicyOutcomes
  /** INTENT_CLOSE_QUORUM. */
  readonly intentCloseQuorum: number
}
