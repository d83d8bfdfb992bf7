// Records whose seal is wrong though nothing in them is, and records whose members are missing or of another type.
import type { Cases } from '../case.ts'
import { at, change, drop, put, textAt, type Members } from '../edit.ts'
import { aRecord, reissue, time } from '../evidence.ts'
import { modes, sha256 } from '../keys.ts'

const SEAL = ['canonical hash', 'record signature']
const TRANSACTION = ['transaction binding']
const DECISION = ['decision binding']
const APPENDED = ['verifications', 'receipts']

export function malformedRecords(all: Cases): void {
  const record = aRecord({ name: 'first' }, modes.ed25519)
  sealed(all, record)
  malformed(all, record)
}

/** Hash and signature, right and wrong, apart. */
function sealed(all: Cases, record: Members): void {
  const other = aRecord({ name: 'second' }, modes.ed25519)
  const hash = textAt(record, 'trustRecordHash')
  const HASH = ['canonical hash', ...APPENDED]
  all.add(
    'hash-changed',
    'Only its hash is another.',
    put(record, 'trustRecordHash', sha256('another')),
    HASH,
  )
  all.add(
    'hash-upper-case',
    'Its hash is in upper case.',
    put(record, 'trustRecordHash', hash.toUpperCase()),
    HASH,
  )
  all.add(
    'hash-prefixed',
    'Its hash names its algorithm.',
    put(record, 'trustRecordHash', `sha256:${hash}`),
    HASH,
  )
  all.add(
    'hash-truncated',
    'Its hash lacks a digit.',
    put(record, 'trustRecordHash', hash.slice(0, -1)),
    HASH,
  )
  all.add(
    'hash-of-other',
    'It carries the hash of another record.',
    put(record, 'trustRecordHash', at(other, 'trustRecordHash')),
    HASH,
  )
  all.add('hash-list', 'Its hash stands in a list.', put(record, 'trustRecordHash', [hash]), HASH)
  const bare = put(put(record, 'verifications', []), 'receipts', [])
  all.add(
    'hash-changed-bare',
    'Only its hash is another, and nothing is appended.',
    put(bare, 'trustRecordHash', sha256('another')),
    ['canonical hash'],
  )
  const SIGNATURE = ['record signature']
  const value = (from: Members, path: string) => put(record, 'signature.value', at(from, path))
  all.add(
    'signature-of-other',
    'It carries the signature of another record.',
    put(record, 'signature', at(other, 'signature')),
    SIGNATURE,
  )
  all.add(
    'signature-of-receipt',
    "It carries its receipt's signature.",
    value(record, 'receipts.0.signature'),
    SIGNATURE,
  )
  all.add(
    'signature-of-authorization',
    "It carries its authorization's signature.",
    value(record, 'authorization.signature'),
    SIGNATURE,
  )
  const sealOfOther = put(
    put(record, 'signature', at(other, 'signature')),
    'trustRecordHash',
    at(other, 'trustRecordHash'),
  )
  all.add('seal-of-other', 'It carries hash and signature of another record.', sealOfOther, [
    ...SEAL,
    ...APPENDED,
  ])
  all.add(
    'hash-renewed',
    'It was changed and its hash renewed, without a key.',
    put(reissue(put(record, 'createdAt', time(999)), modes.ed25519), 'signature', at(record, 'signature')),
    SIGNATURE,
  )
}

/** Missing members, null and other types: a failed check each, never an error. */
function malformed(all: Cases, record: Members): void {
  const rows: [string, readonly string[]][] = [
    ['transaction', [...SEAL, ...TRANSACTION, ...DECISION]],
    ['authorization', [...SEAL, 'authorization signature', ...TRANSACTION, ...DECISION]],
    ['executions', [...SEAL, ...TRANSACTION, ...DECISION, 'approvals']],
    ['overrides', SEAL],
    ['createdAt', SEAL],
    ['businessTransactionId', [...SEAL, ...TRANSACTION, ...APPENDED]],
    ['trustRecordHash', ['canonical hash', ...APPENDED]],
    ['signature', ['record signature']],
    ['signature.value', ['record signature']],
    ['signature.keyId', ['record signature']],
    ['signature.algorithm', ['record signature']],
    ['authorization.payload', [...SEAL, 'authorization signature', ...TRANSACTION, ...DECISION]],
    ['authorization.signature', [...SEAL, 'authorization signature']],
    ['executions.0.decision', [...SEAL, ...DECISION, 'approvals']],
    ['executions.0.evidence', [...SEAL, ...TRANSACTION]],
    ['transaction.signals', [...SEAL, ...TRANSACTION, ...DECISION]],
    ['verifications', APPENDED],
    ['receipts', ['receipts']],
  ]
  for (const [path, failing] of rows) {
    all.add(`missing-${path}`, `${path} is missing.`, drop(record, path), failing)
    all.add(`null-${path}`, `${path} is null.`, put(record, path, null), failing)
    all.add(
      `wrapped-${path}`,
      `${path} is of another type: in a list, or a list in an object.`,
      change(record, path, (old) => (Array.isArray(old) ? { list: old } : [old])),
      path === 'overrides' ? SEAL : failing,
    )
  }
  all.add('only-an-id', 'Nothing is there but an id.', { trustRecordId: at(record, 'trustRecordId') }, [
    ...SEAL,
    'authorization signature',
    ...TRANSACTION,
    ...DECISION,
    'approvals',
    ...APPENDED,
  ])
  all.add('id-null', 'Its own id is null.', put(record, 'trustRecordId', null), SEAL)
  all.add('execution-null', 'Its execution is null.', put(record, 'executions', [null]), [
    ...SEAL,
    ...TRANSACTION,
    ...DECISION,
    'approvals',
  ])
}
