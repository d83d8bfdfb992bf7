// Bundles in which the record, the policy, governance changes, keys or approvals are not what was signed.
import { anApproval } from '../approvals.ts'
import type { Cases } from '../case.ts'
import { at, drop, put, membersAt, type Json, type Members } from '../edit.ts'
import { time } from '../evidence.ts'
import { aChange, signed } from '../governance-changes.ts'
import { humans, keys, publicKeyJson, unpublished } from '../keys.ts'
import { FLAGS } from '../passkeys.ts'
import {
  DOCUMENT,
  ORDER,
  POLICY_TEXT,
  PROOFS,
  bundle,
  byPasskeys,
  danasChange,
  enrolment,
  governed,
  governedBy,
  plain,
  policyChange,
  revokedAt,
  withChanges,
  zoe,
  zoesChange,
} from './plan.ts'

const POLICY = 'policy document'
const CHANGES = 'governance changes'
const KEYS = 'approver keys'
const APPROVALS = 'approvals'

export function changedBundles(all: Cases): void {
  const good = bundle(governed())
  const simple = bundle(plain())
  const edit = (id: string, what: string, evidence: Members, failing: string[], unchecked?: string[]) =>
    unchecked === undefined
      ? all.add(id, what, evidence, failing)
      : all.addUnchecked(id, what, evidence, unchecked, failing)
  edit(
    'approver-behind',
    'One of the approvers is who asked, by another name.',
    bundle(governed({ notCounted: ['dana'] })),
    [APPROVALS],
  )
  edit(
    'passkey-elsewhere',
    'The passkeys signed at an origin that was not enrolled.',
    bundle(byPasskeys({ clientData: { origin: 'https://elsewhere.example' } })),
    [APPROVALS],
  )
  edit(
    'passkey-unverified',
    'The passkeys did not verify their users.',
    bundle(byPasskeys({ flags: FLAGS.UP })),
    [APPROVALS],
  )
  edit(
    'passkey-origins-added',
    'An approver key of the bundle may sign at more origins than were enrolled.',
    put(bundle(byPasskeys()), 'approverKeys.0.passkey.origins.2', 'https://elsewhere.example'),
    [KEYS],
  )
  edit(
    'policy-changed',
    'The policy document was changed.',
    put(simple, 'policy', POLICY_TEXT.replace('human', 'robot')),
    [POLICY],
  )
  edit(
    'policy-pretty',
    'The policy document is the same, written otherwise.',
    put(simple, 'policy', JSON.stringify(DOCUMENT, null, 2)),
    [POLICY],
  )
  edit('policy-object', 'The policy document is an object and no text.', put(simple, 'policy', DOCUMENT), [
    POLICY,
  ])
  edit('policy-missing', 'There is no policy document.', drop(simple, 'policy'), [POLICY])
  edit(
    'record-signature',
    'The signature of the record was changed.',
    put(simple, 'record.signature.value', at(good, 'record.signature.value')),
    ['record signature'],
  )
  edit('record-null', 'There is no record.', put(simple, 'record', null), [
    'canonical hash',
    'record signature',
    'authorization signature',
    'transaction binding',
    'decision binding',
    APPROVALS,
    'verifications',
    'receipts',
    POLICY,
    CHANGES,
    KEYS,
    PROOFS,
    ORDER,
  ])
  edit(
    'record-other',
    'The record is of another execution.',
    { ...simple, record: plain({ name: 'another' }).record },
    [PROOFS, ORDER],
  )
  edit(
    'receipt-left-out',
    'The receipt was left out, and its proof was not.',
    put(simple, 'record.receipts', []),
    [PROOFS],
  )
  changedAuthority(good, edit)
}

type Edit = (id: string, what: string, evidence: Members, failing: string[], unchecked?: string[]) => void

/** Governance changes and keys of approvers. */
function changedAuthority(good: Members, edit: Edit): void {
  const plan = governed()
  const built = (changes: readonly Members[], over: Members = {}) => ({
    ...bundle(withChanges(plan, changes)),
    ...over,
  })
  const spoiled = signed(policyChange, keys.ed25519, { value: (base64) => flipped(base64) })
  edit(
    'change-signature',
    'The signature of the change of the policy was changed.',
    built([spoiled, zoesChange, danasChange]),
    [CHANGES],
    [APPROVALS],
  )
  const simple = withChanges(plain(), [spoiled])
  edit('change-signature-alone', 'The signature of the only change was changed.', bundle(simple), [CHANGES])
  const forged = signed(zoesChange, keys.ed25519, { key: unpublished.ed25519 })
  edit(
    'change-forged',
    'Somebody else signed the change that enrolled an approver.',
    built([policyChange, forged, danasChange]),
    [CHANGES],
    [APPROVALS],
  )
  const unknown = signed(zoesChange, unpublished.ed25519)
  edit(
    'change-key-not-given',
    'The change that enrolled an approver is by a key that is not given.',
    built([policyChange, unknown, danasChange]),
    [],
    [CHANGES, APPROVALS],
  )
  const pending = aChange('PENDING_APPROVAL', undefined, { ...proposalOf(zoesChange) })
  edit(
    'change-pending',
    'The change that would enroll an approver was not approved.',
    built([policyChange, pending, danasChange]),
    [CHANGES, KEYS],
    [APPROVALS],
  )
  const rejected = aChange('REJECTED', undefined, { ...proposalOf(zoesChange) })
  edit(
    'change-rejected',
    'The change that would enroll an approver was rejected.',
    built([policyChange, rejected, danasChange]),
    [CHANGES, KEYS],
    [APPROVALS],
  )
  const revoking = aChange('APPROVED', undefined, {
    ...proposalOf(zoesChange),
    proposed: { action: 'revoke', approverId: 'zoe', keyId: 'laptop' },
  })
  edit(
    'change-revokes',
    'The change revoked the key of the approver.',
    built([policyChange, revoking, danasChange]),
    [CHANGES, KEYS],
    [APPROVALS],
  )
  const otherVersion = aChange('APPROVED', undefined, {
    kind: 'policy',
    target: 'sandbox-echo/2.0.0',
    proposed: DOCUMENT,
  })
  edit(
    'change-other-version',
    'A change put another version of the policy into force.',
    bundle(withChanges(plain(), [otherVersion])),
    [CHANGES],
  )
  const otherContent = aChange('APPROVED', undefined, {
    kind: 'policy',
    target: 'sandbox-echo/1.0.0',
    proposed: { ...DOCUMENT, rules: [] },
  })
  edit(
    'change-other-content',
    'A change put another content of the policy into force.',
    bundle(withChanges(plain(), [otherContent])),
    [CHANGES],
  )
  edit(
    'change-needless',
    'A change enrolled somebody who approved nothing here.',
    bundle(withChanges(plain(), [enrolment(humans.erik)])),
    [CHANGES],
  )
  edit(
    'change-twice',
    'A change stands there twice.',
    { ...bundle(withChanges(plain(), [policyChange])), changes: [policyChange, policyChange] },
    [CHANGES],
  )
  edit(
    'change-changed',
    'Another key was written into the change that enrolled an approver.',
    {
      ...good,
      changes: [
        policyChange,
        put(zoesChange, 'proposed.publicKeyPem', publicKeyJson(humans.erik)['pem'] as Json),
        danasChange,
      ],
    },
    [CHANGES, KEYS, PROOFS, ORDER],
    [APPROVALS],
  )
  edit(
    'change-missing',
    'The change that enrolled an approver is missing.',
    built([policyChange, danasChange]),
    [KEYS],
    [APPROVALS],
  )
  edit(
    'change-missing-key-given',
    'The change that enrolled an approver is missing, and the reader has the key.',
    built([policyChange, zoesChange]),
    [KEYS],
  )
  edit('changes-null', 'There is no list of changes.', put(bundle(plain()), 'changes', null), [
    CHANGES,
    KEYS,
    PROOFS,
    ORDER,
  ])
  const swapped = {
    ...publicKeyJson(humans.erik),
    keyId: zoe.keyId,
    jwk: { ...membersAt(publicKeyJson(humans.erik), 'jwk'), kid: zoe.keyId },
  }
  edit('key-swapped', "An approver's key was swapped.", put(good, 'approverKeys.0', swapped), [KEYS])
  edit(
    'key-missing',
    "An approver's key is missing.",
    { ...good, approverKeys: [publicKeyJson(humans.dana)] },
    [KEYS],
  )
  edit(
    'key-needless',
    'A key is there that approved nothing.',
    { ...good, approverKeys: [...plan.approverKeys, publicKeyJson(humans.erik)] },
    [KEYS],
  )
  edit(
    'key-of-service',
    "A key of the service is among the approvers'.",
    { ...good, approverKeys: [...plan.approverKeys, publicKeyJson(keys.ed25519)] },
    [KEYS],
  )
  edit('keys-null', 'There is no list of keys.', put(bundle(plain()), 'approverKeys', null), [KEYS])
  edit(
    'keys-unreadable',
    'A key cannot be read.',
    put(good, 'approverKeys.0.pem', 'a key'),
    [KEYS],
    [APPROVALS],
  )
  const otherDana = enrolment(humans.dana, { publicKeyPem: publicKeyJson(humans.erik)['pem'] as Json })
  edit(
    'key-contradicts-given',
    "A change enrolled another key than the reader has under the approver's name.",
    built([policyChange, zoesChange, otherDana]),
    [KEYS],
    [APPROVALS],
  )
  const sameAsDana = enrolment(zoe, { publicKeyPem: publicKeyJson(humans.dana)['pem'] as Json })
  edit(
    'key-of-two-approvers',
    'One key is enrolled for two approvers.',
    built([policyChange, sameAsDana, danasChange]),
    [KEYS],
    [APPROVALS],
  )
  edit('key-revoked', 'A key of an approver was revoked before the decision.', revokedAt(good, time(11)), [
    APPROVALS,
  ])
  const unsignedApproval = anApproval(zoe, {}, { key: humans.erik })
  const told = governedBy([unsignedApproval, anApproval(humans.dana)])
  edit('approval-forged', 'Somebody else signed an approval.', bundle(told), [APPROVALS])
}

/** The signature with a bit of its first byte flipped. */
function flipped(base64: string): string {
  const bytes = Buffer.from(base64, 'base64')
  bytes[0] = bytes[0]! ^ 1
  return bytes.toString('base64')
}

function proposalOf(one: Members): Members {
  const { kind, target, proposed } = one as { kind: Json; target: Json; proposed: Json }
  return { kind, target, proposed }
}
