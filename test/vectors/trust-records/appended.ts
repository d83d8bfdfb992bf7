// What is appended to a record outside its signature: verifications and receipts of something else, or of nothing.
import type { Cases } from '../case.ts'
import { at, drop, membersAt, put, type Json, type Members } from '../edit.ts'
import { aReceipt, aRecord, aVerification, receiptOf, uuid } from '../evidence.ts'
import { keys, modes, sha256 } from '../keys.ts'

const VERIFICATIONS = ['verifications']
const RECEIPTS = ['receipts']
const BOTH = [...VERIFICATIONS, ...RECEIPTS]

export function appendedTo(all: Cases): void {
  const record = aRecord({ name: 'first' }, modes.ed25519)
  const other = aRecord({ name: 'second' }, modes.ed25519)
  const add = (id: string, what: string, path: string, value: Json, failing: readonly string[]) =>
    all.add(id, what, put(record, path, value), failing)
  add(
    'verification-of-other-transaction',
    'Its verification names another transaction.',
    'verifications.0.businessTransactionId',
    uuid('another'),
    VERIFICATIONS,
  )
  add(
    'verification-of-other-hash',
    'Its verification names the hash of another record.',
    'verifications.0.trustRecordHash',
    at(other, 'trustRecordHash'),
    VERIFICATIONS,
  )
  add(
    'verification-foreign',
    'Its verification is that of another record.',
    'verifications',
    at(other, 'verifications'),
    BOTH,
  )
  add(
    'verification-foreign-beside',
    'The verification of another record stands beside its own.',
    'verifications.1',
    at(other, 'verifications.0'),
    VERIFICATIONS,
  )
  add('verification-null', 'One of its verifications is null.', 'verifications.1', null, BOTH)
  add(
    'verification-removed',
    'The verification that its receipt names is not there.',
    'verifications',
    [],
    RECEIPTS,
  )
  add(
    'verification-failed',
    'The verification that its receipt names is FAILED.',
    'verifications.0.status',
    'FAILED',
    RECEIPTS,
  )
  add(
    'verification-renamed',
    'The verification that its receipt names has another id.',
    'verifications.0.verificationId',
    uuid('another'),
    RECEIPTS,
  )
  add(
    'verification-status-unknown',
    'The status of its verification is none.',
    'verifications.0.status',
    'verified',
    BOTH,
  )
  all.add(
    'verification-without-hash',
    'Its verification names no hash.',
    drop(record, 'verifications.0.trustRecordHash'),
    VERIFICATIONS,
  )
  all.add(
    'verification-without-transaction',
    'Its verification names no transaction.',
    drop(record, 'verifications.0.businessTransactionId'),
    VERIFICATIONS,
  )
  add(
    'both-foreign-beside',
    'Verification and receipt of another record stand beside its own.',
    'verifications.1',
    at(other, 'verifications.0'),
    VERIFICATIONS,
  )

  add(
    'receipt-foreign',
    'Its receipt is a true one, of another record.',
    'receipts',
    at(other, 'receipts'),
    RECEIPTS,
  )
  add(
    'receipt-foreign-beside',
    'The receipt of another record stands beside its own.',
    'receipts.1',
    at(other, 'receipts.0'),
    RECEIPTS,
  )
  add('receipt-null', 'One of its receipts is null.', 'receipts.1', null, RECEIPTS)
  add('receipt-empty', 'One of its receipts is empty.', 'receipts.1', {}, RECEIPTS)
  add(
    'receipt-changed',
    'Its receipt was changed.',
    'receipts.0.issuedAt',
    '2026-11-21T01:00:00.021Z',
    RECEIPTS,
  )
  add(
    'receipt-hash-changed',
    "Its receipt's hash was changed.",
    'receipts.0.receiptHash',
    sha256('another'),
    RECEIPTS,
  )
  add(
    'receipt-signature-of-record',
    "Its receipt carries the record's signature.",
    'receipts.0.signature',
    at(record, 'signature.value'),
    RECEIPTS,
  )
  add(
    'receipt-key-changed',
    'Its receipt names another published key.',
    'receipts.0.keyId',
    keys.oldEd25519.keyId,
    RECEIPTS,
  )
  add('receipt-signature-missing', "Its receipt's signature is empty.", 'receipts.0.signature', '', RECEIPTS)

  const content = receiptOf(record, membersAt(record, 'verifications.0'))
  const receipted = (changes: Members) => [aReceipt({ ...content, ...changes }, modes.ed25519)]
  add(
    'receipt-signed-unknown-verification',
    'The right key signed a receipt of a verification that is not there.',
    'receipts',
    receipted({ verificationId: uuid('another') }),
    RECEIPTS,
  )
  add(
    'receipt-signed-other-transaction',
    'The right key signed a receipt of another transaction.',
    'receipts',
    receipted({ businessTransactionId: uuid('another') }),
    RECEIPTS,
  )
  add(
    'receipt-signed-other-hash',
    'The right key signed a receipt of another hash.',
    'receipts',
    receipted({ trustRecordHash: at(other, 'trustRecordHash') }),
    RECEIPTS,
  )
  add(
    'receipt-signed-no-verification',
    'The right key signed a receipt that names no verification.',
    'receipts',
    [aReceipt(drop(content, 'verificationId'), modes.ed25519)],
    RECEIPTS,
  )
  const failed = aVerification(record, 'FAILED')
  all.add(
    'receipt-signed-failed-verification',
    'The right key signed a receipt of the FAILED one of two verifications.',
    {
      ...record,
      verifications: [failed, at(record, 'verifications.0')],
      receipts: [aReceipt(receiptOf(record, failed), modes.ed25519)],
    },
    RECEIPTS,
  )
  const hybrid = aReceipt(content, modes.hybrid)
  add(
    'receipt-hybrid-stripped',
    'Its hybrid receipt lacks the second signature.',
    'receipts',
    [put(hybrid, 'signatures', [at(hybrid, 'signatures.0')])],
    RECEIPTS,
  )
}
