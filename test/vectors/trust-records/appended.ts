// Rows are appended to a record outside its signature: verifications and receipts of something else, or of nothing.
import type { Cases } from '../case.ts'
import { at, drop, membersAt, put, type Json, type Members } from '../edit.ts'
import { aReceipt, aRecord, aVerification, promised, receiptOf, uuid } from '../evidence.ts'
import { keys, modes, sha256, unpublished } from '../keys.ts'

const VERIFICATIONS = ['verifications']
const RECEIPTS = ['receipts']
const BOTH = [...VERIFICATIONS, ...RECEIPTS]

export function appendedTo(all: Cases): void {
  const record = aRecord({ name: 'first' }, modes.ed25519)
  notes(all, record)
  unsigned(all, record)
  keyNotGiven(all, record)
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

/** Adds cases that no check fails on and a reader must be told of. */
function notes(all: Cases, record: Members): void {
  const noted = (id: string, what: string, path: string, value: Json, ...said: string[]) =>
    all.addNoted(`noted-${id}`, what, put(record, path, value), said)
  all.addNoted('noted-nothing', 'There is nothing to say beside its checks.', record, [])
  noted('no-receipt', 'It carries no receipt.', 'receipts', [], 'The record carries no receipt.')
  noted(
    'failed-latest',
    'Its latest verification is FAILED, an earlier one has the receipt.',
    'verifications.1',
    aVerification(record, 'FAILED'),
    'The latest verification that was stored with it is FAILED.',
    'Nothing signs what a verification says that is FAILED.',
  )
  noted(
    'cut-verifications',
    'It holds one of three verifications.',
    'verificationCount',
    3,
    'It holds 1 of the 3 verifications that it says the record has.',
  )
  noted(
    'cut-receipts',
    'It holds one of two receipts.',
    'receiptCount',
    2,
    'It holds 1 of the 2 receipts that it says the record has.',
  )
  const verification = membersAt(record, 'verifications.0')
  noted(
    'promised-latest',
    'Its latest receipt promises its inclusion in a log, and so does an earlier one.',
    'receipts',
    [1, 2].map(() => aReceipt(promised(receiptOf(record, verification)), modes.ed25519)),
    'Its latest receipt is promised to the log "countersign.example.com/log/1" by 2026-11-21T01:01:00.020Z; no proof of inclusion was given.',
  )
  noted('not-cut', 'It says how many verifications it has, and holds all.', 'verificationCount', 1)
  for (const [id, count] of [
    ['less', 0],
    ['fraction', 1.5],
    ['text', '1'],
    ['null', null],
    ['true', true],
    ['unsafe', 2 ** 53],
  ] as const) {
    all.add(
      `verification-count-${id}`,
      `Its verificationCount is ${String(count)}.`,
      put(record, 'verificationCount', count),
      VERIFICATIONS,
    )
    all.add(
      `receipt-count-${id}`,
      `Its receiptCount is ${String(count)}.`,
      put(record, 'receiptCount', count),
      RECEIPTS,
    )
  }
}

const MEMBERS = ['members']

/** Adds members that no signature covers: they must be known, and look as the service writes them. */
function unsigned(all: Cases, record: Members): void {
  const cannot = (id: string, what: string, path: string, value?: Json, base: Members = record) =>
    all.addUnsigned(id, what, base, path, value)
  cannot('member', 'It has a member that nothing signs.', 'approvedBy')
  cannot('in-verification', 'Its verification has one.', 'verifications.0.approvedBy')
  cannot('in-signature', 'Its signature has one.', 'signature.signedBy')
  const hybrid = aRecord({ name: 'first' }, modes.hybrid)
  cannot('in-signatures', 'One of its signatures has one.', 'signatures.0.y', 1, hybrid)
  cannot('in-receipt', 'A signature of its receipt has one.', 'receipts.0.signatures.1.x', 1, hybrid)
  cannot('control-characters', 'One has a name of control characters.', '\u001b[2J\u009b\u202e\u2028', 1)
  cannot('record', 'It holds another record.', 'record', record)
  cannot('list', 'It holds a list of a page.', 'changes', [])
  cannot('signed-at', 'What it says when it was signed is an object.', 'signature.signedAt', {
    approvedBy: 'CEO',
  })
  cannot('signed-at-text', 'What it says when it was signed is no time.', 'signature.signedAt')
  cannot('verified-at', 'What it says when it was verified is no time.', 'verifications.0.verifiedAt')
  cannot('message', 'Its verification that holds says something else.', 'verifications.0.message', 'ok')
  all.addUnchecked(
    'unsigned-order',
    'The members are named in the order of UTF-16 code units.',
    { ...record, '\ufb01': 1, '\u{1f600}': 1, b: 1, 10: 1, 9: 1 },
    MEMBERS,
  )
  all.addUnchecked(
    'unsigned-many',
    'Of thirty members it names twenty.',
    { ...record, ...Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`m${i}`, i])) },
    MEMBERS,
  )
  all.addUnchecked(
    'unsigned-and-changed',
    'A check that fails decides, whatever stands beside it.',
    { ...put(record, 'transaction.intent.target', 'CEO'), approvedBy: 'CEO' },
    MEMBERS,
    ['canonical hash', 'record signature', 'transaction binding'],
  )
}

/** The key of one signature is not given: that check cannot be made, and no other is hidden by it. */
function keyNotGiven(all: Cases, record: Members): void {
  const { ed25519: key } = unpublished
  const verification = membersAt(record, 'verifications.0')
  const unknown = aReceipt(receiptOf(record, verification), [key])
  all.addUnchecked(
    'receipt-by-unknown-key',
    'The key of its receipt is not published.',
    put(record, 'receipts', [unknown]),
    RECEIPTS,
  )
  all.add(
    'receipt-by-unknown-key-of-other',
    'The key of its receipt is not published, and it names no verification that is there.',
    put(record, 'receipts', [
      aReceipt(receiptOf(record, { ...verification, verificationId: uuid('none') }), [key]),
    ]),
    RECEIPTS,
  )
  all.add(
    'receipt-by-unknown-key-beside-spoiled',
    'The key of one receipt is not published, and another receipt is changed.',
    put(record, 'receipts', [unknown, put(membersAt(record, 'receipts.0'), 'issuedAt', '')]),
    RECEIPTS,
  )
  const byUnknown = aRecord({ name: 'first' }, [key])
  all.addUnchecked('all-by-unknown-key', 'The key of record and receipt is not published.', byUnknown, [
    'record signature',
    ...RECEIPTS,
  ])
  all.addUnchecked(
    'all-by-unknown-key-changed',
    'The key of record and receipt is not published, and the record was changed.',
    put(byUnknown, 'createdAt', 'x'),
    ['record signature', ...RECEIPTS],
    ['canonical hash'],
  )
  const hybrid = aRecord({ name: 'first' }, [keys.ed25519, unpublished.mlDsa65])
  all.addUnchecked(
    'hybrid-second-by-unknown-key',
    'The key of its second signature is not published.',
    put(hybrid, 'receipts', []),
    ['record signature'],
  )
  const firstUnknown = aRecord({ name: 'first' }, [unpublished.ed25519, keys.mlDsa65])
  all.add(
    'hybrid-first-by-unknown-key-second-spoiled',
    'The key of its first signature is not published, and the second signs something else.',
    put(
      put(firstUnknown, 'receipts', []),
      'signatures.1.value',
      at(aRecord({ name: 'second' }, modes.hybrid), 'signatures.1.value'),
    ),
    ['record signature'],
  )
}
