// The Refusal Records among the published vectors (decisions §4 "Refusal Record").
import { anApproval, NAMES_UNKNOWN } from './approvals.ts'
import { batchForgeries } from './batches.ts'
import { Cases, forgeries, type Case } from './case.ts'
import { at, drop, put, type Json, type Members } from './edit.ts'
import { aRecord, aRefusalBody, sealRefusal, time, uuid } from './evidence.ts'
import { canonical, humans, keys, modes, sha256, sign, unpublished, revokedKey } from './keys.ts'
import { addRevoked } from './revoked.ts'

const HASH = 'refusal hash'
const SIGNATURE = 'refusal signature'
const BINDING = 'decision binding'
const APPROVALS = 'approvals'
const SEAL = [HASH, SIGNATURE]

export function refusalCases(): Case[] {
  const all = new Cases('refusal-record')
  const body = aRefusalBody('refused', 'rule')
  const refusal = sealRefusal(body)
  const denied = sealRefusal(aRefusalBody('denied', 'mismatch'))
  all.add('valid-rule', 'A rule rejected the transaction.', refusal)
  all.add('valid-mismatch', 'A declared signal was not what the intent says.', denied)
  const approvable = { ...aRefusalBody('unapproved', 'rule'), approvable: true }
  all.add('valid-approvable', 'It says that approvals could lift it.', sealRefusal(approvable))
  all.add(
    'approvable-dropped',
    'It no longer says that approvals could lift it.',
    drop(sealRefusal(approvable), 'approvable'),
    SEAL,
  )
  all.add(
    'approvable-added',
    'It says that approvals could lift it, which was not signed.',
    put(refusal, 'approvable', true),
    SEAL,
  )
  for (const [name, value] of [
    ['false', false],
    ['null', null],
    ['text', 'true'],
    ['1', 1],
  ] as const)
    all.add(
      `signed-approvable-${name}`,
      'Its `approvable` is something else than true, and the right key signed that.',
      sealRefusal({ ...approvable, approvable: value }),
      [BINDING],
    )
  all.add(
    'valid-rotated-key',
    'Signed by a key that was rotated out and is still published.',
    sealRefusal(body, keys.oldEd25519),
  )
  all.add(
    'valid-signed-at',
    'signature.signedAt is informative and not proven: a change of it is not seen.',
    put(refusal, 'signature.signedAt', time(999)),
  )
  all.addUnsigned(
    'in-signature',
    'Its signature has a member that nothing signs.',
    refusal,
    'signature.signedBy',
  )
  addRevoked(
    all,
    { signedAs: 'refusal-record', time: 'createdAt' },
    (when) => sealRefusal({ ...body, createdAt: when }, revokedKey),
    ['refusal signature'],
  )
  all.addText(
    'text-notation',
    '2000 written as 2e3 is the same number, and white space means nothing.',
    JSON.stringify(refusal, null, 2).replaceAll(': 2000', ': 2e3'),
  )

  const rows: [path: string, value: Json, bound: boolean][] = [
    ['refusalRecordId', uuid('another'), true],
    ['businessTransactionId', uuid('another'), true],
    ['submittedBy', 'somebody-else', true],
    ['createdAt', time(999), true],
    ['decision.decisionId', uuid('another'), true],
    ['decision.reason', 'Nothing was wrong.', true],
    ['decision.matchedRuleId', 'approved', true],
    ['decision.policyContentHash', sha256('another'), true],
    ['decision.signals.amount', 1, false],
    ['decision.outcome', 'APPROVED', false],
    ['decision.outcome', 'rejected', false],
    ['decision.intentId', uuid('another'), false],
    ['evaluatedIntent.intentId', uuid('another'), false],
    ['evaluatedIntent.target', 'invoice-1002', true],
    ['evaluatedIntent.parameters.amount', 8, true],
    ['mismatches', [], true],
    ['mismatches.0.declared', 1999, false],
    ['mismatches.0.verified', 8, true],
    ['mismatches.0.signal', 'approved', false],
    ['mismatches.0.signal', 'unheard-of', false],
  ]
  for (const [i, [path, value, bound]] of rows.entries()) {
    const id = `${String(i + 1).padStart(2, '0')}-${path}`
    const changed = put(denied, path, value)
    all.add(
      `changed-${id}`,
      `${path} is ${JSON.stringify(value)}, which is not what was signed.`,
      changed,
      bound ? SEAL : [...SEAL, BINDING],
    )
    if (bound) continue
    const { refusalRecordHash: _, signature: _1, ...again } = changed
    all.add(
      `signed-${id}`,
      `${path} is ${JSON.stringify(value)}, and the right key signed that.`,
      sealRefusal(again),
      [BINDING],
    )
  }
  for (const member of Object.keys(refusal).filter((name) => name !== 'refusalRecordId')) {
    const failing =
      member === 'signature'
        ? [SIGNATURE]
        : member === 'refusalRecordHash'
          ? [HASH]
          : member === 'decision'
            ? [...SEAL, BINDING, APPROVALS]
            : ['evaluatedIntent', 'mismatches'].includes(member)
              ? [...SEAL, BINDING]
              : SEAL
    all.add(`missing-${member}`, `${member} is missing.`, drop(refusal, member), failing)
    all.add(`null-${member}`, `${member} is null.`, put(refusal, member, null), failing)
  }
  all.add(
    'added-member',
    'A member was added, which the signature would have to cover.',
    put(refusal, 'note', 'x'),
    SEAL,
  )
  all.add('only-an-id', 'Nothing is there but an id.', { refusalRecordId: at(refusal, 'refusalRecordId') }, [
    ...SEAL,
    BINDING,
    APPROVALS,
  ])
  all.add('hash-changed', 'Only its hash is another.', put(refusal, 'refusalRecordHash', sha256('another')), [
    HASH,
  ])
  all.add(
    'hash-of-other',
    'It carries the hash of another refusal.',
    put(refusal, 'refusalRecordHash', at(denied, 'refusalRecordHash')),
    [HASH],
  )
  all.add(
    'signature-of-other',
    'It carries the signature of another refusal.',
    put(refusal, 'signature', at(denied, 'signature')),
    [SIGNATURE],
  )
  all.add(
    'seal-of-other',
    'It carries hash and signature of another refusal.',
    { ...refusal, refusalRecordHash: at(denied, 'refusalRecordHash'), signature: at(denied, 'signature') },
    SEAL,
  )
  all.add(
    'signature-of-record',
    'It carries the signature of a record.',
    put(refusal, 'signature', at(aRecord({ name: 'first' }, modes.ed25519), 'signature')),
    [SIGNATURE],
  )
  all.add(
    'signature-text',
    'Its signature is the base64 alone.',
    put(refusal, 'signature', at(refusal, 'signature.value')),
    [SIGNATURE],
  )
  const { algorithm, keyId, value } = sign('refusal-record', canonical(body), keys.mlDsa65)
  all.add(
    'by-ml-dsa-65',
    'It is rightly signed by ML-DSA-65, and refusals are always Ed25519.',
    put(refusal, 'signature', { algorithm, keyId, value, signedAt: time(12) }),
    [SIGNATURE],
  )
  all.add(
    'hash-signed',
    'The right key signed it together with its hash.',
    put(refusal, 'signature', signedWithHash(refusal)),
    [SIGNATURE],
  )
  for (const [id, what, forgery] of [...forgeries('refusal-record'), ...batchForgeries('refusal-record')])
    all.addForged(id, what, sealRefusal(body, keys.ed25519, forgery), [SIGNATURE], forgery)
  approvals(all)
  all.addUnusable(
    'text-duplicate-key',
    'A member stands there twice, first with another value.',
    JSON.stringify(refusal).replace('"outcome":', '"outcome":"APPROVED","outcome":'),
  )
  all.addUnusable('text-bom', 'A byte order mark stands before it.', `\ufeff${JSON.stringify(refusal)}`)
  return all.cases
}

/** Adds approvals that did not suffice and stand in the refusal: whether they match is what was refused, but each is what a human signed. */
function approvals(all: Cases): void {
  const body = aRefusalBody('unapproved', 'mismatch')
  const withSignals = (verifiedSignals: Json) =>
    sealRefusal(put(body, 'decision.verifiedSignals', verifiedSignals))
  const given = (list: Json) => withSignals({ amount: { value: false, by: 'approval', approvals: list } })
  const dana = anApproval()
  const beside = (notCounted: Json) =>
    withSignals({ amount: { value: false, by: 'approval', approvals: [dana], notCounted } })
  all.addNoted(
    'valid-approval-names',
    'It says which approvers the caller and the principal are.',
    beside(['erik']),
    [],
  )
  all.addNoted(
    'valid-approval-names-unknown',
    'It is from before decisions said which approvers the caller and the principal are.',
    given([dana]),
    [NAMES_UNKNOWN],
  )
  all.add('valid-approval', 'An approval of something else did not suffice.', given([dana]))
  all.add('valid-approval-twice', 'An approval stands there twice.', given([dana, dana]))
  all.add(
    'valid-approval-revoked',
    'The key of an approval was revoked.',
    given([anApproval(humans.revoked)]),
  )
  all.add('valid-no-approval', 'There was no approval.', given([]))
  all.add(
    'valid-other-value',
    'The history has another sum.',
    withSignals({ amount: { value: 7, by: 'history' } }),
  )
  const rows: [id: string, what: string, refusal: Members][] = [
    ['approval-changed', 'The approval was changed.', given([put(dana, 'payload.target', 'x')])],
    [
      'approval-by-service',
      'The service signed the approval.',
      given([anApproval(humans.dana, {}, { key: keys.ed25519 })]),
    ],
    [
      'approval-as-step-up',
      'It is signed as a step-up.',
      given([anApproval(humans.dana, {}, { artifact: 'step-up' })]),
    ],
    ['approval-second', 'The second approval is not signed.', given([dana, put(dana, 'signature', '')])],
    ['approval-behind', 'The approval is by who asked, by another name.', beside(['dana'])],
    ['not-counted-null', 'The names of who asked are null.', beside(null)],
    ['approval-null', 'An approval is null.', given([null])],
    ['approvals-null', 'The approvals are null.', given(null)],
    ['verified-signals-null', 'There are no verified signals.', withSignals(null)],
    ['verified-signal-null', 'A verified signal is null.', withSignals({ amount: null })],
  ]
  for (const [id, what, refusal] of rows) all.add(`signed-${id}`, what, refusal, [APPROVALS])
  all.addUnchecked(
    'signed-approval-unknown',
    'The key of the approver is not published.',
    given([anApproval(unpublished.human)]),
    [APPROVALS],
  )
  all.add(
    'signed-approval-unknown-and-spoiled',
    'The key of the first approver is not published, and the second approval is not signed.',
    given([anApproval(unpublished.human), put(dana, 'signature', '')]),
    [APPROVALS],
  )
  for (const [name, value] of [
    ['list', [1]],
    ['object', { a: 1 }],
  ] as const)
    all.add(
      `signed-mismatch-of-${name}`,
      `A signal is no ${name}, though the mismatch declares the same one.`,
      sealRefusal(
        put(put(body, 'decision.signals.amount', value as Json), 'mismatches.0.declared', value as Json),
      ),
      ['decision binding'],
    )
}

function signedWithHash(refusal: Members): Members {
  return {
    ...sign('refusal-record', canonical(drop(refusal, 'signature')), keys.ed25519),
    signedAt: time(12),
  }
}
