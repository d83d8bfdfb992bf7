// A record as it is answered and saved: its own checks, and those of what was appended to it outside its signature
// (interface §2.2: verifications and receipts).
import type { Json } from '../canonical.ts'
import { check, isMembers, list, members, string } from './evidence.ts'
import type { Check, Crypto, Members } from './evidence.ts'
import { checkReceipt } from './receipt.ts'
import { checkTrustRecord } from './trust-record.ts'

/** in  evidence  the parsed record, or whatever was sent as one · out never throws, never empty */
export function checkWholeRecord(evidence: Json, crypto: Crypto): Check[] {
  const record = isMembers(evidence) ? evidence : {}
  return [
    ...checkTrustRecord(record, crypto),
    check('verifications', 'A verification is not one of this record', () =>
      list(record['verifications'])
        .map(members)
        .every((verification) => isOf(record, verification) && isVerification(verification)),
    ),
    check('receipts', 'A receipt is not a valid one of this record', () =>
      list(record['receipts'])
        .map(members)
        .every((receipt) => isOf(record, receipt) && isReceipted(record, receipt, crypto)),
    ),
  ]
}

function isOf(record: Members, appended: Members): boolean {
  return (
    string(appended['businessTransactionId']) === record['businessTransactionId'] &&
    string(appended['trustRecordHash']) === record['trustRecordHash']
  )
}

function isVerification({ verificationId, status, message, verifiedAt }: Members): boolean {
  return (
    [verificationId, message, verifiedAt].every((member) => typeof member === 'string') &&
    (status === 'VERIFIED' || status === 'FAILED')
  )
}

/** fails with the problems of the receipt itself */
function isReceipted(record: Members, receipt: Members, crypto: Crypto): boolean {
  const problems = checkReceipt(receipt, crypto).flatMap(({ problem }) => problem ?? [])
  if (problems.length > 0) throw new Error(problems.join('; '))
  const verificationId = string(receipt['verificationId'])
  return list(record['verifications'])
    .map(members)
    .some((one) => one['verificationId'] === verificationId && one['status'] === 'VERIFIED')
}

/** Every member of a record that a check covers or that was appended; what else stands there is anybody's word. */
const KNOWN = new Set([
  'trustRecordId',
  'businessTransactionId',
  'transaction',
  'authorization',
  'executions',
  'overrides',
  'createdAt',
  'requiredAlgorithms',
  'trustRecordHash',
  'signature',
  'signatures',
  'verifications',
  'receipts',
])

/** What no check fails on and a reader should know. */
export function notesOnRecord(record: Members): readonly string[] {
  const { verifications, receipts } = record
  const unsigned = Object.keys(record).filter((name) => !KNOWN.has(name))
  const latest = Array.isArray(verifications) ? (verifications.at(-1) as Json | undefined) : undefined
  return [
    ...(Array.isArray(receipts) && receipts.length > 0 ? [] : ['The record carries no receipt.']),
    ...(isMembers(latest) && latest['status'] === 'FAILED'
      ? ['The latest verification that was stored with it is FAILED.']
      : []),
    ...unsigned.map((name) => `Nothing signs its member ${JSON.stringify(name)}.`),
  ]
}
