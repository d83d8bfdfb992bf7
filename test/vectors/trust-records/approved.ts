// Records whose signals were verified: by approvals of humans, by the caller's history, by a deal of the CRM (decisions §7).
import {
  anApproval,
  approvable,
  approvedBeside,
  approvedBy,
  DECIDED,
  limited,
  NAMES_UNKNOWN,
  verified,
} from '../approvals.ts'
import type { Cases } from '../case.ts'
import { at, membersAt, put, type Json, type Members } from '../edit.ts'
import { aReceipt, aRecord, authorize, receiptOf, receipted, reissue, seal, time, uuid } from '../evidence.ts'
import { canonical, humans, keys, modes, sha256, sign } from '../keys.ts'

const { ed25519 } = modes
const APPROVALS = ['approvals']

export function humanAuthority(all: Cases): void {
  const valid = (id: string, what: string, record: Members) => all.add(`approved-valid-${id}`, what, record)
  const dana = anApproval()
  const erik = anApproval(humans.erik)
  valid('parameters', 'One human approved exactly these parameters.', approvedBy([dana]))
  valid('quorum', 'Two humans approved.', approvedBy([dana, erik]))
  const noted = (id: string, what: string, record: Members, notes: readonly string[]) =>
    all.addNoted(`approved-valid-${id}`, what, record, notes)
  noted(
    'not-counted-none',
    'The persons behind the execution are no approvers.',
    approvedBeside([], [dana]),
    [],
  )
  noted(
    'not-counted-others',
    'The persons behind the execution are approvers by other names, and another one approved.',
    approvedBeside(['agent-owner', 'erik'], [dana]),
    [],
  )
  noted(
    'names-unknown',
    'It is from before decisions said which approvers the caller and the principal are.',
    approvedBy([dana]),
    [NAMES_UNKNOWN],
  )
  const signed = { ...approvedBy([dana, erik]) }
  const { trustRecordHash: _, signature: _1, verifications: _2, receipts: _3, ...body } = signed
  const hybrid = { ...body, requiredAlgorithms: modes.hybrid.map(({ algorithm }) => algorithm) }
  valid('hybrid', 'Two humans approved; the record is a hybrid one.', reissue(hybrid, modes.hybrid))
  const limits: [id: string, what: string, ...limits: Json[]][] = [
    ['limit', 'A human approved up to 100.', { path: 'amount', max: 100 }],
    ['limit-equal', 'A human approved up to exactly this.', { path: 'amount', max: 42 }],
    ['limit-fraction', 'A human approved up to 42.000001.', { path: 'amount', max: 42.000001 }],
    ['limit-nested', 'A limit is of a member inside of another.', { path: 'invoice.total', max: 40 }],
    [
      'limit-prefix',
      'A path may begin with intent.parameters.',
      { path: 'intent.parameters.amount', max: 42 },
    ],
    ['limits', 'Several limits hold.', { path: 'amount', max: 50 }, { path: 'invoice.total', max: 50 }],
  ]
  for (const [id, what, ...these] of limits) valid(id, what, approvedBy([limited(...these)]))

  const times: [id: string, what: string, change: Members][] = [
    ['from-now', 'It is valid from the very instant of the decision on.', { issuedAt: time(11) }],
    ['until-after', 'It expires one millisecond after the decision.', { expiresAt: time(12) }],
    ['offset', 'Its times have an offset.', { issuedAt: '2026-11-21T02:00:00+01:00' }],
    ['fine', 'Its times are finer than milliseconds.', { issuedAt: '2026-11-21T01:00:00.011999Z' }],
    ['small-letters', 'Its times are in small letters.', { expiresAt: '2026-11-21t01:00:01z' }],
  ]
  for (const [id, what, change] of times) valid(id, what, approvedBy([anApproval(humans.dana, change)]))

  const byRevoked = approvedBy([anApproval(humans.revoked)], decidedAt(59_999))
  valid('revoked-later', 'It was decided one millisecond before the key was revoked.', byRevoked)
  for (const [id, ms] of [
    ['revoked-now', 60_000],
    ['revoked-before', 60_001],
  ] as const)
    all.add(
      `approved-${id}`,
      'The key was revoked by then.',
      approvedBy([anApproval(humans.revoked)], decidedAt(ms)),
      APPROVALS,
    )

  const twoSignals = put(bothDeclared({ humanApproved: true, secondLook: true }), 'createdAt', time(18))
  const second = anApproval(humans.dana, { nonce: sha256('second').slice(0, 32) })
  const both = (first: Json, other: Json) =>
    verified(
      {
        humanApproved: { value: true, by: 'approval', approvals: first },
        secondLook: { value: true, by: 'approval', approvals: other },
      },
      twoSignals,
    )
  valid('two-signals', 'The same human gave an approval for each of two signals.', both([dana], [second]))
  all.add(
    'approved-nonce-twice-signals',
    'One approval counts for two signals.',
    both([dana], [dana]),
    APPROVALS,
  )
  const twice = put(approvedBy([dana]), 'executions.1', at(approvedBy([dana]), 'executions.0'))
  all.add(
    'approved-nonce-twice-executions',
    'One approval counts for two executions.',
    reissue(twice, ed25519),
    APPROVALS,
  )
  others(all)
  foreignKeys(all, dana)
}

/** The record as decided so many milliseconds later. */
function decidedAt(ms: number): Members {
  return put(approvable, `${DECIDED}.evaluatedAt`, time(ms))
}

/** The record with these declared signals, bound anew. */
function bothDeclared(signals: Members): Members {
  return aRecord(
    { name: 'signals', parameters: membersAt(approvable, 'transaction.intent.parameters'), signals },
    ed25519,
  )
}

/** Adds state that is verified by something else than an approval, or was not approved. */
function others(all: Cases): void {
  const declared = bothDeclared({ humanApproved: false, paidToday: 7, dealWon: true })
  const authorization = aRead(declared)
  const signals: Members = {
    humanApproved: { value: false, by: 'approval' },
    paidToday: { value: 7, by: 'history' },
    dealWon: { value: true, by: 'crm-deal', authorization, observedAt: time(10) },
  }
  const row = (id: string, what: string, path: string | undefined, member: Json = null) => {
    const record = verified(path === undefined ? signals : put(signals, path, member), declared)
    all.add(`verified-${id}`, what, record, id.startsWith('valid') ? [] : APPROVALS)
  }
  row('valid', 'A signal declared false, a sum of the past, and a deal of the CRM.', undefined)
  row(
    'valid-no-approvals',
    'A signal declared false has a list of no approvals.',
    'humanApproved.approvals',
    [],
  )
  row('false-approved', 'A signal declared false claims an approval.', 'humanApproved.approvals', [
    anApproval(),
  ])
  row('true-declared-false', 'It was declared false and is verified true.', 'humanApproved', {
    value: true,
    by: 'approval',
    approvals: [anApproval()],
  })
  row('null', 'A verified signal is null.', 'paidToday')
  row('without-by', 'It is verified by nothing.', 'paidToday', { value: 7 })
  row('by-unknown', 'It is verified by something unheard of.', 'paidToday.by', 'oracle')
  row('by-inherited', 'It is verified by a name that every object inherits.', 'paidToday.by', 'constructor')
  row('by-upper-case', 'The verifier is in upper case.', 'paidToday.by', 'HISTORY')
  row('other-value', 'Another value was verified than was declared.', 'paidToday.value', 8)
  row('text-value', 'The value that was verified is a text.', 'paidToday.value', '7')
  row('valid-left-out', 'A signal that was left out has its verified value.', 'more', {
    value: 7,
    by: 'history',
  })
  row(
    'valid-left-out-inherited',
    'The signal that was left out has a name that every object inherits.',
    'toString',
    {
      value: 7,
      by: 'history',
    },
  )
  row('valid-left-out-approved', 'A signal that was left out is true, since a human approved.', 'more', {
    value: true,
    by: 'approval',
    approvals: [anApproval()],
  })
  row('left-out-unapproved', 'A signal that was left out is true, and nobody approved.', 'more', {
    value: true,
    by: 'approval',
  })
  row('left-out-text', 'A text stands for a signal that was left out.', 'more', {
    value: '7',
    by: 'crm-deal',
    authorization,
  })
  row('left-out-nothing', 'Nothing stands for a signal that was left out.', 'more', { by: 'history' })
  const leftOut = verified(put(signals, 'more', { value: 7, by: 'history' }), declared)
  all.add(
    'verified-left-out-changed',
    'The value of a signal that was left out was changed.',
    put(leftOut, `${DECIDED}.verifiedSignals.more.value`, 8),
    ['canonical hash', 'record signature'],
  )
  row('history-boolean', 'The history is no number.', 'dealWon', { value: true, by: 'history' })
  row('history-approved', 'The history claims an approval.', 'paidToday.approvals', [anApproval()])
  row('approval-number', 'A number was approved.', 'paidToday', {
    value: 7,
    by: 'approval',
    approvals: [anApproval()],
  })
  row('approval-unapproved-number', 'A number was approved, by nobody.', 'paidToday', {
    value: 7,
    by: 'approval',
  })
  row('read-approved', 'The deal claims an approval.', 'dealWon.approvals', [anApproval()])
  row('read-unauthorized', 'The deal was read without an authorization.', 'dealWon.authorization')
  const elsewhere = aRead(aRecord({ name: 'second' }, ed25519))
  row('read-elsewhere', 'The read is of another transaction.', 'dealWon.authorization', elsewhere)
  const own = at(declared, 'authorization')
  row(
    'read-by-execution',
    'The authorization of the read is that of the execution.',
    'dealWon.authorization',
    own,
  )
  const changed = put(authorization, 'payload.callerId', 'somebody-else')
  row('read-changed', 'The authorization of the read was changed.', 'dealWon.authorization', changed)
  const payload = membersAt(authorization, 'payload')
  for (const [id, what, key] of [
    ['read-by-approver', 'A human signed the authorization of the read.', humans.dana],
    ['read-by-ml-dsa-65', 'ML-DSA-65 signed it, and authorizations are always Ed25519.', keys.mlDsa65],
  ] as const)
    row(id, what, 'dealWon.authorization', authorize(payload, key))
}

/** The authorization by which a deal was read for the record's transaction. */
function aRead(record: Members): Members {
  const payload = {
    ...membersAt(record, 'authorization.payload'),
    authorizationId: uuid('read'),
    nonce: 'AAAAAAAAAAAAAAAAAAAAAA',
    businessTransactionHash: sha256('the read of the deal'),
  }
  return authorize(payload, keys.ed25519)
}

/** A human's key is published too, and signs nothing of the service; nor does the service's sign for a human. */
function foreignKeys(all: Cases, dana: Members): void {
  const record = approvedBy([dana])
  const { trustRecordHash: _, signature: _1, verifications: _2, receipts: _3, ...body } = record
  const byHuman = seal(body, [humans.dana])
  all.add(
    'approver-signed-record',
    'A human signed the record in place of the service.',
    receipted(byHuman, ed25519),
    ['record signature'],
  )
  const authorization = authorize(membersAt(body, 'authorization.payload'), humans.dana)
  all.add(
    'approver-signed-authorization',
    'A human signed the authorization in place of the service.',
    receipted(seal({ ...body, authorization }, ed25519), ed25519),
    ['authorization signature'],
  )
  const receipt = aReceipt(receiptOf(record, membersAt(record, 'verifications.0')), [humans.dana])
  all.add(
    'approver-signed-receipt',
    'A human signed the receipt in place of the service.',
    put(record, 'receipts', [receipt]),
    ['receipts'],
  )
  const payload = membersAt(dana, 'payload')
  const { keyId } = keys.ed25519
  const claims: [id: string, what: string, payload: Members][] = [
    ['service-key', 'The service signed in the name of a human.', payload],
    ['service-key-named', "The service's keyId is named as the human's.", { ...payload, keyId }],
    [
      'service-key-alone',
      "The service's keyId is named, and no human.",
      { ...payload, approverId: '', keyId },
    ],
  ]
  for (const [id, what, claimed] of claims) {
    const { algorithm, value } = sign('approval', canonical(claimed), keys.ed25519)
    const approval = { payload: claimed, algorithm, signature: value }
    const claimant = approvedBy([approval])
    if (id === 'service-key-named') all.addUnchecked(`approved-by-${id}`, what, claimant, APPROVALS)
    else all.add(`approved-by-${id}`, what, claimant, APPROVALS)
  }
}
