// Records whose approvals do not count, signed by the service all the same: what only the check of the approvals sees.
import {
  anApproval,
  approvable,
  approvedBeside,
  approvedBy,
  DECIDED,
  limited,
  selfApprovals,
  verified,
} from '../approvals.ts'
import { batchForgeries } from '../batches.ts'
import { forgeries, type Cases } from '../case.ts'
import { at, drop, put, type Json, type Members } from '../edit.ts'
import { aRecord, time, uuid } from '../evidence.ts'
import { canonical, humans, keys, modes, sha256, sign, unpublished } from '../keys.ts'

const FAILING = ['approvals']

export function refusedApprovals(all: Cases): void {
  const add = (id: string, what: string, approvals: Json) =>
    all.add(`unapproved-${id}`, what, approvedBy(approvals), FAILING)
  const dana = anApproval()
  lists(add, dana)
  payloads(add)
  limits(add)
  for (const [id, what, approval] of selfApprovals) add(`by-${id}`, what, [approval])
  behind(all)
  signatures(add, dana)
  withoutKey(all, dana)
  all.add(
    'unapproved-changed',
    'An approval that holds was added to a record without its key.',
    put(verified({}), `${DECIDED}.verifiedSignals`, at(approvedBy([dana]), `${DECIDED}.verifiedSignals`)),
    ['canonical hash', 'record signature'],
  )
  all.add(
    'unapproved-no-list',
    'A signal is verified by approval and has no list of approvals.',
    verified({ humanApproved: { value: true, by: 'approval' } }),
    FAILING,
  )
}

/** Approvals by a person behind the execution, whose approver name is none of its names. */
function behind(all: Cases): void {
  const dana = anApproval()
  const erik = anApproval(humans.erik)
  const phone = anApproval(humans.danaPhone)
  const rows: [id: string, what: string, record: Members][] = [
    ['only', 'The approver is who asked, by another name.', approvedBeside(['dana'], [dana])],
    ['one-of-two', 'Of two approvers one is who asked.', approvedBeside(['erik'], [dana, erik])],
    [
      'both',
      'Both approvers are who asked: caller and principal.',
      approvedBeside(['dana', 'erik'], [dana, erik]),
    ],
    ['other-key', 'Who asked approved by another key of theirs.', approvedBeside(['dana', 'zoe'], [phone])],
    ['unsorted', 'The names are not sorted.', approvedBeside(['zoe', 'dana'], [dana])],
    ['not-counted-null', 'The names are null.', approvedBeside(null, [dana])],
    ['not-counted-text', 'The names are a text.', approvedBeside('erik', [dana])],
    ['not-counted-number', 'One of the names is a number.', approvedBeside([1], [dana])],
  ]
  for (const [id, what, record] of rows) all.add(`unapproved-behind-${id}`, what, record, FAILING)
}

const unknown = (change: Members = {}) => anApproval(unpublished.human, change)

/** The key of an approver is not given: whether it is an approval cannot be said, and what else is wrong fails all the same. */
function withoutKey(all: Cases, dana: Members): void {
  const open = (id: string, what: string, approvals: Json) =>
    all.addUnchecked(`unapproved-${id}`, what, approvedBy(approvals), FAILING)
  open('unknown-approver', 'It is by somebody whose key is not published.', [unknown()])
  open('key-unknown', 'It names a key that is not published.', [anApproval(humans.dana, { keyId: 'tablet' })])
  open('unknown-second', 'The first of two holds, the key of the second is not published.', [dana, unknown()])
  const fails = (id: string, what: string, approvals: Json) =>
    all.add(
      `unapproved-unknown-${id}`,
      `The key is not published, and ${what}.`,
      approvedBy(approvals),
      FAILING,
    )
  fails('other-target', 'it is for another target', [unknown({ target: 'invoice-1002' })])
  fails('expired', 'it was expired', [unknown({ expiresAt: time(11) })])
  fails('too-short', 'its signature is too short', [put(unknown(), 'signature', 'AAAA')])
  fails('twice', 'it stands there twice', [unknown(), unknown()])
  fails('other-spoiled', 'the approval after it is not signed', [
    unknown(),
    put(dana, 'signature', at(anApproval(humans.erik), 'signature')),
  ])
}

type Add = (id: string, what: string, approvals: Json) => void

/** Too few, or too many of one. */
function lists(add: Add, dana: Members): void {
  add('none', 'There is no approval.', [])
  add('null', 'The approvals are null.', null)
  add('object', 'The approvals are no list.', { 0: dana })
  add('null-one', 'An approval is null.', [dana, null])
  add('empty-one', 'An approval is empty.', [dana, {}])
  add('twice', 'One approval stands there twice.', [dana, dana])
  const again = { nonce: sha256('again').slice(0, 32), approvalId: uuid('again') }
  add('approver-twice', 'One human approved twice.', [dana, anApproval(humans.dana, again)])
  add('approver-twice-keys', 'One human approved by two keys.', [dana, anApproval(humans.danaPhone, again)])
  const sameNonce = anApproval(humans.erik, { nonce: at(dana, 'payload.nonce') })
  add('nonce-twice', 'Two humans approved under one nonce.', [dana, sameNonce])
  const elsewhere = at(
    aRecord({ name: 'second', parameters: { amount: 1 } }, modes.ed25519),
    'transaction.intent.parameters',
  )
  const spliced = anApproval(humans.erik, hashed(elsewhere))
  add('spliced', 'The second approval of the quorum is one of another execution.', [dana, spliced])
}

/** A true signature of something else. */
function payloads(add: Add): void {
  const parameters = at(approvable, 'transaction.intent.parameters') as Members
  const hash = sha256(canonical(parameters))
  const rows: [id: string, what: string, change: Members][] = [
    ['version', 'It is of another version.', { version: 2 }],
    ['version-text', 'Its version is a text.', { version: '1' }],
    ['capability', 'It is for another capability.', { capability: 'vendor:pay' }],
    ['capability-all', 'It is for every capability.', { capability: '*' }],
    ['target', 'It is for another target.', { target: 'invoice-1002' }],
    ['target-space', 'Its target has a space more.', { target: 'invoice-1001 ' }],
    ['target-null', 'It is for no target.', { target: null }],
    ['parameters', 'It is for another amount.', hashed({ ...parameters, amount: 41 })],
    ['parameters-fewer', 'The execution has a parameter more.', hashed(drop(parameters, 'currency'))],
    ['parameters-more', 'It is for a parameter more.', hashed({ ...parameters, more: 1 })],
    ['hash-upper-case', 'Its hash is in upper case.', { scope: { parametersHash: hash.toUpperCase() } }],
    ['hash-null', 'Its hash is null.', { scope: { parametersHash: null } }],
    ['scope-empty', 'Its scope is empty.', { scope: {} }],
    ['scope-null', 'It has no scope.', { scope: null }],
    ['scope-list', 'Its scope is a list.', { scope: [{ parametersHash: hash }] }],
    ['scope-more', 'Its scope has a member more.', { scope: { parametersHash: hash, currency: 'EUR' } }],
    [
      'scope-both',
      'Its scope is both.',
      { scope: { parametersHash: hash, limits: [{ path: 'amount', max: 42 }] } },
    ],
    ['expired', 'It expired at the very instant of the decision.', { expiresAt: time(11) }],
    ['expired-long-ago', 'It expired long ago.', { expiresAt: '2025-11-21T01:00:00.000Z' }],
    ['expired-offset', 'It expired, by its offset.', { expiresAt: '2026-11-21T02:00:00+01:00' }],
    ['not-yet', 'It is valid from one millisecond later on.', { issuedAt: time(12) }],
    ['no-zone', 'Its time has no zone.', { expiresAt: '2026-11-22T01:00:00' }],
    ['no-day', 'Its time is on a day that there is not.', { issuedAt: '2026-02-30T01:00:00Z' }],
    ['no-hour', 'Its time is at an hour that there is not.', { issuedAt: '2026-11-20T24:00:00Z' }],
    ['leap-second', 'Its time is a leap second.', { issuedAt: '2016-12-31T23:59:60Z' }],
    ['time-number', 'Its time is a number.', { expiresAt: 4_000_000_000_000 }],
    ['time-line-break', 'A line break stands after its time.', { expiresAt: `${time(600_000)}\n` }],
    ['time-arabic', 'Its time is in other digits.', { expiresAt: '٢٠٢٧-11-21T01:00:00Z' }],
    ['time-null', 'It never expires.', { expiresAt: null }],
    ['nonce-null', 'It has no nonce.', { nonce: null }],
    ['approver-null', 'It names no approver.', { approverId: null }],
    ['key-null', 'It names no key.', { keyId: null }],
    ['key-of-other', 'It names the key of another human.', { approverId: 'erik' }],
  ]
  for (const [id, what, change] of rows) add(id, what, [anApproval(humans.dana, change)])
  const colon = { approverId: 'dana:desk', keyId: 'laptop' }
  add('colon', 'Its approverId holds a colon: which part is the key?', [anApproval(humans.ambiguous, colon)])
  const second = anApproval(humans.erik, { expiresAt: time(11) })
  add('second-expired', 'The second of two is expired.', [anApproval(), second])
}

function hashed(value: Json): Members {
  return { scope: { parametersHash: sha256(canonical(value)) } }
}

function limits(add: Add): void {
  const rows: [id: string, what: string, ...limits: Json[]][] = [
    ['over', 'The amount is over the limit.', { path: 'amount', max: 41 }],
    ['little-over', 'The amount is a little over the limit.', { path: 'amount', max: 41.999999999999 }],
    [
      'one-over',
      'One of two limits does not hold.',
      { path: 'amount', max: 50 },
      { path: 'invoice.total', max: 39 },
    ],
    ['missing', 'The limit is of a parameter that is not there.', { path: 'total', max: 50 }],
    ['missing-inside', 'The limit is of a member that is not there.', { path: 'invoice.amount', max: 50 }],
    ['too-deep', 'The path goes on behind a number.', { path: 'amount.value', max: 50 }],
    ['text', 'The value is a text.', { path: 'text', max: 50 }],
    ['boolean', 'The value is a boolean.', { path: 'urgent', max: 50 }],
    ['object', 'The value is an object.', { path: 'invoice', max: 50 }],
    ['list-entry', 'The path goes through a list.', { path: 'invoice.lines.0.total', max: 50 }],
    ['list-length', 'The path is the length of a list.', { path: 'invoice.lines.length', max: 50 }],
    ['dotted-name', 'A dot is always a step, not part of a name.', { path: 'invoice.a.b', max: 50 }],
    ['text-length', 'The path is the length of a text.', { path: 'currency.length', max: 50 }],
    ['inherited', 'The path is what every object inherits.', { path: 'constructor.length', max: 50 }],
    ['proto', 'The path is the prototype.', { path: '__proto__.constructor.length', max: 50 }],
    ['path-empty', 'The path is empty.', { path: '', max: 50 }],
    ['path-empty-step', 'A step of the path is empty.', { path: 'invoice..total', max: 50 }],
    ['path-dot', 'The path ends in a dot.', { path: 'amount.', max: 50 }],
    ['path-prefix', 'The path is the prefix alone.', { path: 'intent.parameters.', max: 50 }],
    [
      'path-prefix-twice',
      'The prefix stands there twice.',
      { path: 'intent.parameters.intent.parameters.amount', max: 50 },
    ],
    [
      'path-transaction',
      'The path leads out of the parameters.',
      { path: 'transaction.intent.parameters.amount', max: 50 },
    ],
    ['path-null', 'There is no path.', { path: null, max: 50 }],
    ['max-text', 'The maximum is a text.', { path: 'amount', max: '50' }],
    ['max-boolean', 'The maximum is a boolean.', { path: 'amount', max: true }],
    ['max-null', 'There is no maximum.', { path: 'amount', max: null }],
    ['more', 'The limit has a member that nothing here reads.', { path: 'amount', max: 50, currency: 'USD' }],
    ['null', 'The limit is null.', null],
    ['none', 'There is no limit at all.'],
  ]
  for (const [id, what, ...these] of rows) add(`limit-${id}`, what, [limited(...these)])
}

function signatures(add: Add, dana: Members): void {
  add('payload-changed', 'Its payload was changed.', [put(dana, 'payload.expiresAt', time(999_999))])
  add('payload-more', 'A member was added to its payload.', [put(dana, 'payload.more', 1)])
  add('payload-null', 'It has no payload.', [put(dana, 'payload', null)])
  add('signature-of-other', 'It carries the signature of another.', [
    put(dana, 'signature', at(anApproval(humans.erik), 'signature')),
  ])
  add('signature-null', 'It is not signed.', [put(dana, 'signature', null)])
  const { algorithm, value } = sign('approval', canonical(at(dana, 'payload')), keys.mlDsa65)
  add('by-ml-dsa-65', 'ML-DSA-65 signed it, and approvals are always Ed25519.', [
    { ...dana, algorithm, signature: value },
  ])
  add('by-ml-dsa-65-key', "A human's key is of ML-DSA-65, and approvals are always Ed25519.", [
    anApproval(humans.mlDsa65),
  ])
  // A human's key is named inside the payload, so a forger has no other keyId beside it.
  const [byBatch] = batchForgeries('approval')
  for (const [id, what, forgery] of [...forgeries('approval'), byBatch].filter(
    ([, , { keyId }]) => keyId === undefined,
  ))
    add(`signature-${id}`, what, [anApproval(humans.dana, {}, forgery)])
}
