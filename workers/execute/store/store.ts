// Last stage: the evidence is stored, in one commit with the closed intent. Only then is the execution answered.
import { setTimeout as delay } from 'node:timers/promises'
import { errorText } from '../../../src/formats/text/error-text.ts'
import { failures, type Failure } from '../../../src/core/errors/errors.ts'
import { trustRecordText } from '../../../src/store/tables/sealed.ts'
import { classify } from '../../../src/store/postgres/sql-errors.ts'
import { commit, evidenceOf, type CommitWith, type NotStored } from './commit.ts'
import type { PendingEvidence } from './pending-evidence.ts'
import type { ReceiptedExecution } from '../receipt.ts'
import { Finished, inTheirPlaces, stillGoing } from '../../in-flight.ts'

// The effect has happened: a caller waits this long for a database that is back soon. Evidence still not stored is handed to `pendingEvidence`.
const RETRY_DELAYS_MS = [50, 200, 500, 1_000]
/** After this time no delay begins: an attempt that waits for a lock alone takes seconds. */
const RETRY_MAX_MS = 2_500

/**
 * Stores a batch and answers it.
 * @returns 200 with the record; 500 for an execution that failed for certain; 502 where the evidence is not stored: it is never
 *   repeated, and pending evidence is stored when the database takes it. Evidence that no later attempt would store is not pending
 */
export async function store(
  executions: readonly (ReceiptedExecution | Finished)[],
  { pendingEvidence, ...tools }: CommitWith & { pendingEvidence: PendingEvidence },
): Promise<Finished[]> {
  const receipted = stillGoing(executions)
  const evidence = receipted.map((item) => evidenceOf(item, tools.newId()))
  const notStored = await commit(evidence, tools, withRetries)
  const isLost = pendingEvidence.add(evidence, notStored)
  const answers = receipted.map((item, i) => {
    const why = notStored[i]
    if (why === undefined) return new Finished(item.request, reply(item))
    return new Finished(item.request, isLost[i] ? evidenceLost(why) : failures.outcomeUnknown(why.cause))
  })
  return inTheirPlaces(executions, answers)
}

/** Answered like any evidence that is not stored; the log line says that it never will be. */
function evidenceLost({ cause }: NotStored): Failure {
  return failures.outcomeUnknown(
    `the evidence is lost, because too much is pending already; not stored: ${errorText(cause)}`,
  )
}

function reply({ outcomeOfCall, record, verification, receipt }: ReceiptedExecution) {
  if (outcomeOfCall.kind === 'failed') return failures.executionFailed(outcomeOfCall.reason)
  return {
    body: trustRecordText({ ...record, verifications: verification.text, receipts: receipt }),
  }
}

async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now()
  for (const delayMs of RETRY_DELAYS_MS) {
    try {
      return await work()
    } catch (error) {
      const { kind } = classify(error)
      // A node of Citus that is away takes seconds to fail an attempt.
      if (kind !== 'away' && kind !== 'deadlock') throw error
      if (performance.now() - startedMs > RETRY_MAX_MS) throw error
      await delay(delayMs)
    }
  }
  return work()
}
