// The checks of a receipt (interface §2.4, decisions §4 "Receipt"), from its text alone. whole-record.ts checks whether it
// belongs to a certain record.
import type { Json } from '../json/canonical.ts'
import { canonicalText, check, checkSigned, string, type Check, type Crypto } from './evidence.ts'
import { isMembers, type Members } from '../json/members.ts'
import { instantMs } from './instant.ts'
import { requiredSignatures } from './signatures.ts'
import { executionStreams, ownerOfExecution } from './execution-streams.ts'
import type { ArtifactKind } from './kind.ts'
import * as shape from './known-members.ts'
import { textAt } from './account-text.ts'

/**
 * Checks a receipt; never throws.
 * @param evidence the parsed receipt, or any other JSON that was sent as one
 * @returns at least one check
 */
export function checkReceipt(evidence: Json, given: Crypto): Check[] {
  const receipt = isMembers(evidence) ? evidence : {}
  const { signature, signatures: _, ...signedMembers } = receipt
  const { receiptHash, ...hashedMembers } = signedMembers
  const hashed = canonicalText(hashedMembers)
  const signed = canonicalText(signedMembers)
  return [
    check('receipt hash', 'The receipt hash does not match the canonical receipt', () => {
      return hashed !== undefined && given.sha256Hex(hashed) === receiptHash
    }),
    checkSigned('receipt signature', 'The receipt signature is not valid', given, (crypto) => {
      if (signed === undefined) return false
      const { algorithm, keyId } = receipt
      const first = { algorithm: string(algorithm), keyId: string(keyId), value: string(signature) }
      return requiredSignatures(receipt, first).every((one) => crypto.verifySignature('receipt', signed, one))
    }),
  ]
}

/** Notes a promise that no check covers and that a reader should know: a log was to contain it, which this evidence does not show. */
export function notesOnReceipt(receipt: Members, subject = 'It'): readonly string[] {
  const { transparency } = receipt
  if (!isMembers(transparency)) return []
  const { log, by } = transparency
  if (typeof log !== 'string' || typeof by !== 'string' || Number.isNaN(instantMs(by))) return []
  return [
    `${subject} is promised to the log ${JSON.stringify(log)} by ${by}; no proof of inclusion was given.`,
  ]
}

export const receipt = {
  name: 'receipt',
  times: ['issuedAt'],
  logged: {
    kind: 'receipt',
    event: 'execution.completed',
    hashIn({ receiptHash }) {
      if (typeof receiptHash !== 'string') throw new Error('it has no receiptHash')
      return receiptHash
    },
    counted: (_, of) => ({ streams: executionStreams(of) }),
  },
  stored: {
    table: 'receipts',
    id: 'businessTransactionId',
    at: 'issuedAt',
    owner: ownerOfExecution,
    joined: true,
  },
  evidence: {
    marks: ['receiptId'],
    idOf: ({ receiptId }) => receiptId,
    check: checkReceipt,
    notesOn: (evidence) => notesOnReceipt(evidence),
    members: shape.signed({ signatures: [shape.SIGNATURE] }),
    title: 'Receipt',
    plainTitle: 'Receipt',
    account: (evidence) => ({
      said: { 'Receipt for': textAt(evidence, 'businessTransactionId'), When: textAt(evidence, 'issuedAt') },
    }),
    notProven: [
      'What was executed: a receipt names a record by its hash. Verify the record, and compare its trustRecordHash.',
      'That the verification which it names was run as it says: the signer says so.',
    ],
  },
  feed: {
    types: ['execution.completed', 'execution.failed'],
    details: (
      { issuedAt, trustRecordHash, receiptId, receiptHash },
      { id: businessTransactionId, callerId },
    ) => ({
      occurredAt: issuedAt!,
      businessTransactionId,
      callerId,
      trustRecordHash,
      receiptId,
      receiptHash,
    }),
  },
} as const satisfies ArtifactKind
