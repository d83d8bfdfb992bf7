// What the evidence log holds of executions: each signed artifact by its hash, counted for its caller, its capability and its policy.
import { sha256Hex } from '../../src/core/signing/sha256.ts'
import type { QueuedEntry } from '../../src/core/tables/log-queue.ts'
import type { Authorized } from './authorize.ts'
import type { Refused } from './decide.ts'
import type { Accepted } from './validate.ts'

export function authorizationEntry(item: Authorized): QueuedEntry {
  return {
    kind: 'authorization',
    hash: sha256Hex(item.authorization.payload),
    id: item.transaction.businessTransactionId,
    streams: streamsOf(item),
  }
}

export function refusalEntry(item: Refused): QueuedEntry {
  return {
    kind: 'refusal',
    hash: item.refusal.hash,
    id: item.transaction.businessTransactionId,
    streams: streamsOf(item),
  }
}

/** What names a receipt: one record can have several. */
export interface ReceiptIdentity {
  readonly receiptId: string
  readonly receiptHash: string
}

/** @param streams of the execution that it is a receipt of, whoever has asked for it */
export function receiptEntry(
  { receiptId, receiptHash }: ReceiptIdentity,
  streams: QueuedEntry['streams'],
): QueuedEntry {
  return { kind: 'receipt', hash: receiptHash, id: receiptId, streams }
}

export function streamsOf({ transaction, request }: Accepted): QueuedEntry['streams'] {
  return {
    caller: request.caller.callerId,
    capability: transaction.intent.action,
    policy: transaction.policy.name,
  }
}
