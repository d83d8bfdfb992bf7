// The entries of an execution in the evidence log: its authorization, refusal or receipt by its hash, counted for its caller, its capability
// and its policy.
import { authorization } from '../../src/formats/artifacts/authorization.ts'
import { entryOf } from '../../src/formats/artifacts/kinds.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import type { QueuedEntry } from '../../src/store/tables/log-queue.ts'
import type { ExistingStreams } from '../existing-streams.ts'
import type { Authorized } from './decide/authorize.ts'
import type { Refused } from './decide/decide.ts'
import type { Accepted } from './validate/validate.ts'

export function authorizationEntry(item: Authorized): QueuedEntry {
  return {
    ...entryOf(authorization, item.authorization.payload, sha256Hex),
    id: item.transaction.businessTransactionId,
    streams: streamsOf(item),
  }
}

/** @param existing leaves out streams of names that do not exist: a refused action may be any text */
export function refusalEntry(item: Refused, existing: ExistingStreams): QueuedEntry {
  return {
    kind: 'refusal',
    hash: item.refusal.hash,
    id: item.transaction.businessTransactionId,
    streams: existing(streamsOf(item)),
  }
}

/**
 * @param receipt.id the businessTransactionId: a proof that there is no receipt is asked for by it, and a record can have several
 *   receipts
 * @param streams of the execution of the receipt, for any requester
 */
export function receiptEntry(
  { id, receiptHash }: { readonly id: string; readonly receiptHash: string },
  streams: QueuedEntry['streams'],
): QueuedEntry {
  return { kind: 'receipt', hash: receiptHash, id, streams }
}

export function streamsOf({ transaction, request }: Accepted): QueuedEntry['streams'] {
  return {
    caller: request.caller.callerId,
    capability: transaction.intent.action,
    policy: transaction.policy.name,
  }
}
