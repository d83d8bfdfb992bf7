// The maker/checker changes among the published vectors (decisions §7), pending and resolved.
import { batchForgeries } from './batches.ts'
import { Cases, forgeries, type Case } from './case.ts'
import { at, drop, membersAt, put, type Json, type Members } from './edit.ts'
import { time, uuid } from './evidence.ts'
import {
  canonical,
  humans,
  keys,
  sha256,
  sign,
  unpublished,
  type Forgery,
  type Key,
  revokedKey,
} from './keys.ts'
import { asserted, passkeys, rawKeyOf, type Otherwise, type PasskeyOwner } from './passkeys.ts'
import { addRevoked } from './revoked.ts'

const HASH = 'change hash'
const SIGNATURE = 'change signature'
const RESOLUTION = 'resolution'
const STEP_UP = 'step-up authorization'
const IMPACT = 'impact report'

type Status = 'PENDING_APPROVAL' | 'APPROVED' | 'REJECTED'

const PROPOSED: Members = {
  changeId: uuid('change'),
  kind: 'approver',
  target: 'dana:laptop',
  proposed: { action: 'add', approverId: 'dana', keyId: 'laptop', publicKeyPem: 'a key' },
  reason: 'Dana joins the treasury.',
  proposedBy: 'carol',
  proposedAt: time(0),
}

const WEBHOOK_RULES: Members = {
  kind: 'webhook-rules',
  target: 'acmepay',
  proposed: {
    provider: 'acmepay',
    rules: [
      {
        id: 'paid',
        when: "payload.event == 'payment.paid'",
        transaction: 'payload.reference',
        says: 'executed',
        compare: ['payload.amount == transaction.intent.parameters.amount'],
      },
    ],
  },
}

/** Signs a step-up, by the human or by whoever the forgery says. */
function stepUp(change: Members, due: Key, otherwise: Members = {}, forgery?: Forgery): Members {
  const payload = {
    version: 1,
    nonce: 'a nonce of a step-up',
    changeId: change['changeId'] as Json,
    action: change['status'] === 'REJECTED' ? 'reject' : 'approve',
    changeHash: change['changeHash'] as Json,
    authorizedAt: time(60_000),
    expiresAt: time(180_000),
    ...otherwise,
  }
  const { algorithm, value } = sign('step-up', canonical(payload), due, forgery)
  return { payload, keyId: due.keyId.split(':')[1] ?? '', algorithm, signature: value }
}

/** @param proposal replaces what is proposed, and by it the change's id */
export function aChange(status: Status, by: Key = humans.aliceStepUp, proposal: Members = {}): Members {
  const { target } = proposal
  const changeId = target === undefined ? PROPOSED['changeId'] : uuid(`change of ${target as string}`)
  const proposed = { ...PROPOSED, ...proposal, changeId } as Members
  const change: Members = {
    ...proposed,
    status,
    changeHash: sha256(canonical(proposed)),
    warnings: ['It is the first.'],
  }
  if (status === 'PENDING_APPROVAL') return signed(change)
  const [resolvedBy = ''] = by.keyId.split(':')
  return signed({
    ...change,
    resolvedBy,
    resolvedAt: time(70_000),
    ...(status === 'REJECTED' ? { rejectionReason: 'Not now.' } : {}),
    diff: { added: [change['target'] as string] },
    stepUpAuthorization: stepUp(change, by),
  })
}

/** The change signed, anew where it was signed before. */
export function signed(change: Members, due: Key = keys.ed25519, forgery?: Forgery): Members {
  const { signature: _, warnings: _1, diff: _2, ...body } = change
  return {
    ...change,
    signature: { ...sign('governance-change', canonical(body), due, forgery), signedAt: time(70_001) },
  }
}

export function governanceCases(): Case[] {
  const all = new Cases('governance-change')
  const pending = aChange('PENDING_APPROVAL')
  const approved = aChange('APPROVED')
  const rejected = aChange('REJECTED')
  all.add('valid-pending', 'A change that nobody resolved yet.', pending)
  all.add('valid-approved', 'A change that another human approved.', approved)
  all.add('valid-rejected', 'A change that another human rejected.', rejected)
  all.add(
    'valid-event-endpoint',
    'An event endpoint that two humans registered.',
    aChange('APPROVED', humans.aliceStepUp, {
      kind: 'event-endpoint',
      target: 'https://ledger.example/events',
      proposed: {
        action: 'register',
        url: 'https://ledger.example/events',
        types: ['execution.completed', 'execution.closed'],
        withParameters: false,
        callerIds: ['ledger'],
      },
      reason: 'The ledger follows.',
    }),
  )
  const retirement = aChange('APPROVED', humans.aliceStepUp, {
    kind: 'policy',
    target: 'vendor-payment/2.0.0',
    proposed: { action: 'retire', policyId: 'vendor-payment', policyVersion: '2.0.0' },
    reason: 'Its limit is too wide.',
  })
  all.add('valid-retirement', 'The end of a policy version, which another human approved.', retirement)
  const successor = aChange('APPROVED', humans.aliceStepUp, {
    kind: 'policy',
    target: 'vendor-payment/2.1.0',
    proposed: { policyId: 'vendor-payment', policyVersion: '2.1.0', retires: ['2.0.0'] },
    reason: 'A stricter limit.',
  })
  all.add('valid-retires', 'A policy version with the one that ends by the same change.', successor)
  const otherRetired = put(successor, 'proposed.retires', [])
  all.add('retires-nothing', 'The version that it ends was taken out.', otherRetired, [HASH, SIGNATURE])
  all.add(
    'signed-retires-nothing',
    'The version that it ends was taken out, and the right key signed that.',
    signed(otherRetired),
    [HASH],
  )
  const key = aChange('APPROVED', humans.aliceStepUp, {
    kind: 'caller-key',
    target: `agent:${sha256('a key').slice(0, 16)}`,
    proposed: {
      action: 'issue',
      callerId: 'agent',
      keyHash: sha256('a key'),
      allowedPrincipalIds: ['agent'],
      allowedCapabilities: ['sandbox:echo'],
      credentialHolderType: 'SERVICE',
      readAll: false,
    },
    reason: 'The agent starts.',
  })
  all.add('valid-caller-key', 'A key of a caller that two humans issued.', key)
  const otherScope = put(key, 'proposed.allowedCapabilities', ['*'])
  all.add('caller-key-other-scope', 'The key allows more than was approved.', otherScope, [HASH, SIGNATURE])
  all.add('valid-no-reason', 'A rejection without a reason.', signed(drop(rejected, 'rejectionReason')))
  addRevoked(
    all,
    { signedAs: 'governance-change', time: 'proposedAt' },
    (when) => {
      const { changeId, kind, target, proposed, reason, proposedBy } = pending
      const shown = { changeId, kind, target, proposed, reason, proposedBy, proposedAt: when } as Members
      const change = { ...shown, changeHash: sha256(canonical(shown)), status: 'PENDING_APPROVAL' }
      return { ...change, signature: sign('governance-change', canonical(change), revokedKey) }
    },
    ['change signature'],
  )
  all.addNoted('valid-advised', 'Its warnings and its difference are advice.', approved, [
    'Nothing signs the warnings and the diff of a change: they are advice of when it was proposed.',
  ])
  all.addUnsigned('warnings', 'Its warnings are an object.', approved, 'warnings', { approvedBy: 'CEO' })
  all.add('valid-no-advice', 'Warnings and difference are not signed.', drop(approved, 'warnings'))
  all.add('valid-other-advice', 'A change of the warnings is not seen.', put(approved, 'warnings', []))
  all.add(
    'valid-signed-at',
    'signature.signedAt is not proven.',
    put(approved, 'signature.signedAt', time(0)),
  )
  all.add(
    'valid-key-by-id',
    "The human's key is named by the keyId of the step-up.",
    aChange('APPROVED', humans.bobByKeyId),
  )
  all.add(
    'valid-step-up-unchecked',
    "The human's key is not given: the signature of the step-up is not checked, and the report says so.",
    aChange('APPROVED', unpublished.human),
  )
  const rules = aChange('APPROVED', humans.aliceStepUp, WEBHOOK_RULES)
  all.add('valid-webhook-rules', 'A change of webhook rules that another human approved.', rules)
  const otherRule = put(rules, 'proposed.rules.0.says', 'not_executed')
  all.add('webhook-rules-other-rule', 'A rule says the opposite of what was approved.', otherRule, [
    HASH,
    SIGNATURE,
  ])
  all.add(
    'signed-webhook-rules-other-rule',
    'A rule says the opposite of what was approved, and the right key signed that.',
    signed(otherRule),
    [HASH],
  )
  impacts(all)
  byPasskeys(all)
  changed(all, { pending, approved, rejected })
  steppedUp(all, approved, rejected)
  for (const [id, what, forgery] of [
    ...forgeries('governance-change'),
    ...batchForgeries('governance-change'),
  ])
    all.addForged(id, what, signed(approved, keys.ed25519, forgery), [SIGNATURE], forgery)
  all.add('by-approver', 'A human signed it in place of the service.', signed(approved, humans.aliceStepUp), [
    SIGNATURE,
  ])
  all.add(
    'by-ml-dsa-65',
    'ML-DSA-65 signed it, and changes are always Ed25519.',
    signed(approved, keys.mlDsa65),
    [SIGNATURE],
  )
  all.add(
    'signature-of-pending',
    'It carries the signature of its own earlier state.',
    {
      ...approved,
      signature: at(pending, 'signature'),
    },
    [SIGNATURE],
  )
  all.addUnusable('unusable-page', 'It is a page of changes.', JSON.stringify({ changes: [approved] }))
  all.addUnusable('unusable-unsigned', 'It is not signed.', JSON.stringify(drop(approved, 'signature')))
  all.addUnusable(
    'unusable-duplicate-key',
    'A member stands there twice.',
    JSON.stringify(approved).replace('"status":', '"status":"REJECTED","status":'),
  )
  return all.cases
}

/** Makes a report of what a policy would have decided otherwise, as a checker saw it. */
function aReport({ changeId, changeHash }: Members): Members {
  return {
    version: 1,
    changeId: changeId as Json,
    changeHash: changeHash as Json,
    since: time(-86_400_000),
    until: time(50_000),
    madeAt: time(51_000),
    examined: 12,
    decided: 10,
    skipped: 1,
    approvedToRejected: 1,
    rejectedToApproved: 0,
    refusedAsRetired: 1,
    flips: [
      {
        businessTransactionId: uuid('flipped'),
        createdAt: time(-1_000),
        was: { outcome: 'APPROVED' },
        wouldBe: { outcome: 'REJECTED', reason: 'Amount above 40.', matchedRuleId: 'too-large' },
      },
    ],
    retired: [{ businessTransactionId: uuid('retired'), createdAt: time(-2_000), version: '1.0.0' }],
  }
}

const POLICY: Members = {
  kind: 'policy',
  target: 'sandbox-echo/1.1.0',
  proposed: { policyId: 'sandbox-echo', policyVersion: '1.1.0' },
}

/** A change whose resolution covers a report; the hash that is signed is that of the report before it is edited. */
function impacted(
  change: Members,
  { covered, kept }: { readonly covered?: Json; readonly kept?: Json },
): Members {
  const otherwise: Members = covered === undefined ? {} : { impactHash: covered }
  const stepUpAuthorization = stepUp(change, humans.aliceStepUp, otherwise)
  return signed({ ...change, stepUpAuthorization, ...(kept === undefined ? {} : { impactReport: kept }) })
}

function impacts(all: Cases): void {
  const approved = aChange('APPROVED', humans.aliceStepUp, POLICY)
  const rejected = aChange('REJECTED', humans.aliceStepUp, POLICY)
  const [kept, otherwise] = [aReport(approved), aReport(rejected)]
  const covered = sha256(canonical(kept))
  const valid = impacted(approved, { covered, kept })
  all.add('valid-impact', 'The human who approved a policy saw what it would have decided otherwise.', valid)
  all.add(
    'valid-impact-rejected',
    'The human who rejected a policy saw what it would have decided otherwise.',
    impacted(rejected, { covered: sha256(canonical(otherwise)), kept: otherwise }),
  )
  const fails = (id: string, what: string, evidence: Members) =>
    all.add(`impact-${id}`, what, evidence, [IMPACT])
  const edited = put(kept, 'approvedToRejected', 0)
  fails(
    'edited',
    'A count of the report was changed after the human had signed its hash, and the service signed that.',
    impacted(approved, { covered, kept: edited }),
  )
  all.add(
    'edited-unsigned',
    'A count of the report was changed by who has no key.',
    { ...valid, impactReport: edited },
    [SIGNATURE, IMPACT],
  )
  fails('without-report', 'The report that the human saw is not there.', impacted(approved, { covered }))
  fails('without-hash', 'There is a report that no human signed.', impacted(approved, { kept }))
  fails(
    'null',
    'The step-up covers no hash, and there is a report.',
    impacted(approved, { covered: null, kept }),
  )
  fails('report-null', 'The report is null.', impacted(approved, { covered: sha256('null'), kept: null }))
  for (const [member, value] of [
    ['changeId', uuid('another')],
    ['changeHash', sha256('another')],
  ] as const) {
    const foreign = put(kept, member, value)
    const evidence = impacted(approved, { covered: sha256(canonical(foreign)), kept: foreign })
    fails(`other-${member}`, `The report is of another change: its ${member} is another.`, evidence)
  }
  const enrolment = aChange('APPROVED')
  const ofEnrolment = aReport(enrolment)
  fails(
    'of-approver',
    'The change of an approver has a report, and only policies decide.',
    impacted(enrolment, { covered: sha256(canonical(ofEnrolment)), kept: ofEnrolment }),
  )
  all.add(
    'impact-pending',
    'A change that nobody resolved has a report.',
    signed({ ...aChange('PENDING_APPROVAL', humans.aliceStepUp, POLICY), impactReport: kept }),
    [IMPACT],
  )
}

/** A change that a human resolved by a passkey. */
function passkeyChange(owner: PasskeyOwner, how?: Otherwise): Members {
  const change = aChange('APPROVED', rawKeyOf(owner))
  const { payload, keyId } = membersAt(change, 'stepUpAuthorization')
  const stepUpAuthorization = {
    payload: payload as Json,
    keyId: keyId as Json,
    ...asserted('step-up', canonical(payload as Json), owner, how),
  }
  return signed({ ...change, stepUpAuthorization })
}

function byPasskeys(all: Cases): void {
  const { frank, grace } = passkeys
  all.add('valid-passkey-es256', 'A human approved it by a passkey of ES256.', passkeyChange(frank))
  all.add('valid-passkey-ed25519', 'A human approved it by a passkey of Ed25519.', passkeyChange(grace))
  all.add(
    'valid-passkey-high-s',
    'S of the step-up is above half the order.',
    passkeyChange(frank, { highS: true }),
  )
  const rows: [id: string, what: string, how: Otherwise][] = [
    ['approval', 'The passkey signed the step-up as an approval.', { artifact: 'approval' }],
    ['uv-off', 'The passkey did not verify its user.', { flags: 0x01 }],
    [
      'other-origin',
      'The passkey signed at another origin.',
      { clientData: { origin: 'https://evil.example' } },
    ],
    ['other-rp-id', 'The passkey signed for another site.', { rpId: 'evil.example' }],
    ['create', 'The passkey was made, and signed nothing.', { clientData: { type: 'webauthn.create' } }],
    ['algorithm', 'The algorithm is one that no passkey has.', { algorithm: 'webauthn-rs256' }],
    ['no-assertion', 'There is no client data.', { webauthn: { clientDataJSON: undefined } }],
  ]
  for (const [id, what, how] of rows) all.add(`passkey-${id}`, what, passkeyChange(frank, how), [STEP_UP])
  all.add(
    'passkey-raw',
    'A passkey signed the step-up as a raw key does.',
    aChange('APPROVED', rawKeyOf(grace)),
    [STEP_UP],
  )
  const alice: PasskeyOwner = { ...humans.aliceStepUp, algorithm: 'ed25519', backupEligible: false }
  all.add('passkey-by-raw', 'A raw key signed the step-up as a passkey does.', passkeyChange(alice), [
    STEP_UP,
  ])
}

/** Members changed by who has no key, and by who has. */
function changed(all: Cases, of: Record<'pending' | 'approved' | 'rejected', Members>): void {
  type Row = [of: keyof typeof of, path: string, value: Json, failing: readonly string[]]
  const rows: Row[] = [
    ['approved', 'changeId', uuid('another'), [HASH, STEP_UP]],
    ['approved', 'kind', 'policy', [HASH]],
    ['approved', 'target', 'erik:laptop', [HASH]],
    ['approved', 'proposed.publicKeyPem', 'another key', [HASH]],
    ['approved', 'reason', 'None.', [HASH]],
    ['approved', 'proposedBy', 'mallory', [HASH]],
    ['approved', 'proposedBy', 'alice', [HASH, RESOLUTION]],
    ['approved', 'proposedAt', time(1), [HASH]],
    ['approved', 'changeHash', sha256('another'), [HASH, STEP_UP]],
    ['approved', 'status', 'REJECTED', [STEP_UP]],
    ['approved', 'status', 'PENDING_APPROVAL', [RESOLUTION, STEP_UP]],
    ['approved', 'status', 'approved', [RESOLUTION, STEP_UP]],
    ['approved', 'status', 'toString', [RESOLUTION, STEP_UP]],
    ['approved', 'status', null, [RESOLUTION, STEP_UP]],
    // The key of this one is then not given.
    ['approved', 'resolvedBy', 'mallory', []],
    ['approved', 'resolvedBy', 'carol', [RESOLUTION]],
    ['approved', 'resolvedBy', 'bob', []],
    ['approved', 'resolvedBy', null, [RESOLUTION]],
    ['approved', 'resolvedAt', null, [RESOLUTION, STEP_UP]],
    ['approved', 'resolvedAt', 'now', [RESOLUTION, STEP_UP]],
    ['approved', 'rejectionReason', 'Not now.', [RESOLUTION]],
    ['rejected', 'rejectionReason', 7, [RESOLUTION]],
    ['rejected', 'rejectionReason', 'Another.', []],
    ['rejected', 'status', 'APPROVED', [RESOLUTION, STEP_UP]],
    ['pending', 'status', 'APPROVED', [RESOLUTION, STEP_UP]],
    ['pending', 'resolvedBy', 'alice', [RESOLUTION]],
    ['pending', 'resolvedAt', time(70_000), [RESOLUTION]],
    ['pending', 'rejectionReason', 'Not now.', [RESOLUTION]],
    ['pending', 'stepUpAuthorization', at(of.approved, 'stepUpAuthorization'), [STEP_UP]],
    ['pending', 'stepUpAuthorization', null, [STEP_UP]],
    ['pending', 'effect', 'none', []],
  ]
  for (const [i, [kind, path, value, failing]] of rows.entries()) {
    const id = `${String(i + 1).padStart(2, '0')}-${path}`
    const one = put(of[kind], path, value)
    const what = `${path} is ${JSON.stringify(value)}`
    all.add(`changed-${id}`, `${what}, which is not what was signed.`, one, [SIGNATURE, ...failing])
    if (failing.length > 0)
      all.add(`signed-${id}`, `${what}, and the right key signed that.`, signed(one), failing)
  }
  const without: Record<string, readonly string[]> = {
    kind: [HASH],
    proposed: [HASH],
    status: [RESOLUTION, STEP_UP],
    resolvedBy: [RESOLUTION],
    resolvedAt: [RESOLUTION, STEP_UP],
    stepUpAuthorization: [STEP_UP],
  }
  for (const [path, failing] of Object.entries(without))
    all.add(
      `signed-without-${path}`,
      `It has no ${path}, and is signed so.`,
      signed(drop(of.approved, path)),
      failing,
    )
}

function steppedUp(all: Cases, approved: Members, rejected: Members): void {
  const given = (id: string, what: string, stepUpAuthorization: Json, valid = false) =>
    all.add(`step-up-${id}`, what, signed({ ...approved, stepUpAuthorization }), valid ? [] : [STEP_UP])
  const rows: [id: string, what: string, otherwise: Members][] = [
    ['version', 'The step-up is of another version.', { version: 2 }],
    ['nonce', 'The step-up has no nonce.', { nonce: '' }],
    ['change', 'The step-up is for another change.', { changeId: uuid('another') }],
    ['hash', 'The step-up is for another content of the change.', { changeHash: sha256('another') }],
    ['reject', 'The step-up is for a rejection.', { action: 'reject' }],
    ['action-null', 'The step-up is for nothing.', { action: null }],
    ['too-long', 'The step-up lives a millisecond too long.', { expiresAt: time(180_001) }],
    ['backwards', 'The step-up expires before it begins.', { authorizedAt: time(180_001) }],
    ['expired', 'The step-up expired at the instant of the resolution.', { expiresAt: time(70_000) }],
    ['time-null', 'The step-up never expires.', { expiresAt: null }],
  ]
  for (const [id, what, otherwise] of rows) given(id, what, stepUp(approved, humans.aliceStepUp, otherwise))
  const shortest = { authorizedAt: time(70_000), expiresAt: time(70_001) }
  given(
    'valid-short',
    'The step-up lives a millisecond.',
    stepUp(approved, humans.aliceStepUp, shortest),
    true,
  )
  const own = membersAt(approved, 'stepUpAuthorization')
  given('key-id', 'The keyId of the step-up is informative.', put(own, 'keyId', 'another'), true)
  given('of-rejection', 'It carries the step-up of a rejection.', at(rejected, 'stepUpAuthorization'))
  given(
    'changed',
    'The payload of the step-up was changed.',
    put(own, 'payload.nonce', 'another nonce, used before'),
  )
  given('signature-null', 'The step-up is not signed.', put(own, 'signature', null))
  given('payload-null', 'The step-up has no payload.', put(own, 'payload', null))
  given('null', 'There is no step-up.', null)
  const by = (id: string, what: string, forgery: Forgery) =>
    given(id, what, stepUp(approved, humans.aliceStepUp, {}, forgery))
  const [[id, what, byBatch]] = batchForgeries('step-up')
  by(id, what, byBatch)
  by('by-other', 'Another human signed the step-up.', { key: humans.bobByKeyId })
  given('by-other-key-id', 'Another human signed it under another keyId.', {
    ...stepUp(approved, humans.aliceStepUp, {}, { key: humans.bobByKeyId }),
    keyId: 'another',
  })
  const bobs = aChange('APPROVED', humans.bobByKeyId)
  const forged = stepUp(bobs, humans.bobByKeyId, {}, { key: humans.aliceStepUp })
  const ofBob = signed({ ...bobs, stepUpAuthorization: forged })
  all.add('step-up-key-id-by-other', 'Another human signed what the keyId names.', ofBob, [STEP_UP])
  const quinns = aChange('APPROVED', humans.mlDsa65)
  all.add(
    'step-up-ml-dsa-65',
    'It is rightly signed by ML-DSA-65, and step-ups are always Ed25519.',
    quinns,
    [STEP_UP],
  )
  by('by-service', 'The service signed the step-up.', { key: keys.ed25519 })
  by('as-approval', 'The right key signed it as an approval.', { artifact: 'approval' })
  by('as-change', 'The right key signed it as a governance-change.', { artifact: 'governance-change' })
  by('algorithm', 'The algorithm of the step-up is claimed to be another.', { algorithm: 'ml-dsa-65' })
}
