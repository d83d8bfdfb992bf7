// Members of evidence that no signature covers and no check reads. Anybody can have put them there, and a reader may take them for
// part of what was verified, so the report names each.
import type { Json } from '../json/canonical.ts'
import type { EvidenceKind } from './not-proven.ts'
import { isMembers, itemsOf, type Members } from './evidence.ts'

const SIGNATURE = ['algorithm', 'keyId', 'value', 'signedAt', 'batch']
const VERIFICATION = [
  'verificationId',
  'businessTransactionId',
  'status',
  'message',
  'verifiedAt',
  'trustRecordHash',
]
const RECORD = [
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
  'verificationCount',
  'receiptCount',
  'confirmations',
  'confirmationCount',
]

/** The unknown members of an object, by their paths; none of anything else. */
type Unknown = (value: Json | undefined, known: readonly string[], ...path: (string | number)[]) => string[]

const unknown: Unknown = (value, known, ...path) =>
  isMembers(value)
    ? Object.keys(value).flatMap((name) => (known.includes(name) ? [] : [[...path, name].join('.')]))
    : []

function unknownInEach(value: Json | undefined, known: readonly string[], ...path: (string | number)[]) {
  return itemsOf(value).flatMap((one, i) => unknown(one, known, ...path, i))
}

const beside = (name: string) => (evidence: Members) => [
  ...unknown(evidence, [name, 'signature']),
  ...unknown(evidence['signature'], SIGNATURE, 'signature'),
]
const ofSignature = ({ signature }: Members) => unknown(signature, SIGNATURE, 'signature')
const ofSignatures = ({ signatures }: Members) => unknownInEach(signatures, SIGNATURE, 'signatures')

const OF_KIND: Readonly<Record<EvidenceKind, (evidence: Members) => readonly string[]>> = {
  'trust-record': (record) => [
    ...unknown(record, RECORD),
    ...ofSignature(record),
    ...ofSignatures(record),
    ...unknownInEach(record['verifications'], VERIFICATION, 'verifications'),
    ...itemsOf(record['receipts']).flatMap((receipt, i) => ofPart('receipt', receipt, 'receipts', i)),
    ...itemsOf(record['confirmations']).flatMap((one, i) =>
      ofPart('provider-confirmation', one, 'confirmations', i),
    ),
  ],
  receipt: ofSignatures,
  'refusal-record': ofSignature,
  'audit-event': beside('event'),
  'governance-change': ofSignature,
  'intent-transition': beside('transition'),
  'provider-confirmation': beside('confirmation'),
  'approval-request': (asked) => [
    ...unknown(asked, REQUEST),
    ...ofSignature(asked),
    ...ofPart('approval-request-close', asked['closed'], 'closed'),
  ],
  'approval-request-close': ofSignature,
  bundle: (bundle) => [
    ...unknown(bundle, BUNDLE),
    ...ofPart('trust-record', bundle['record'], 'record'),
    ...itemsOf(bundle['changes']).flatMap((change, i) => ofPart('governance-change', change, 'changes', i)),
    ...unknownInEach(bundle['approverKeys'], APPROVER_KEY, 'approverKeys'),
    ...unknownInEach(bundle['proofs'], PROOF, 'proofs'),
  ],
}

/** What says how it stands has a note of its own. */
const REQUEST = [
  'request',
  'requestHash',
  'actionCode',
  'status',
  'missing',
  'intervalSeconds',
  'expiresAt',
  'url',
  'eligible',
  'approvals',
  'closed',
  'signature',
]
const BUNDLE = ['bundle', 'record', 'policy', 'approverKeys', 'changes', 'proofs']
const APPROVER_KEY = ['keyId', 'algorithm', 'use', 'pem', 'jwk', 'revokedAt']
const PROOF = ['kind', 'id', 'proof']

/** The unknown members of a piece of evidence within another, by their paths from the outer one. */
function ofPart(kind: EvidenceKind, part: Json | undefined, ...path: (string | number)[]): string[] {
  return isMembers(part) ? OF_KIND[kind](part).map((name) => [...path, name].join('.')) : []
}

/** One sentence for each, in the order of their paths by UTF-16 code units. */
export function notesOnUnsigned(kind: EvidenceKind, evidence: Members): readonly string[] {
  return OF_KIND[kind](evidence)
    .toSorted()
    .map((path) => `Nothing signs its member ${JSON.stringify(path)}.`)
}
