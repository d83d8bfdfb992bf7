// The transitions of execution intents among the published vectors (decisions §8): `{transition, signature}`.
import { Cases, type Case } from './case.ts'
import { put, type Members } from './edit.ts'
import { time, uuid } from './evidence.ts'
import { canonical, humans, keys, sha256, sign, type Forgery, type Key, revokedKey } from './keys.ts'
import { addMembers, addShapesAndSignatures } from './signed-artifact.ts'
import { addRevoked } from './revoked.ts'

const TRANSITION = 'transition'

function aTransition(change: Members): Members {
  return {
    transitionId: uuid(`transition ${canonical(change)}`),
    businessTransactionId: uuid('first transaction'),
    from: 'RELEASED',
    to: 'ERRORED',
    by: 'service',
    at: time(5000),
    ...change,
  }
}

function signed(transition: Members, due: Key = keys.ed25519, forgery?: Forgery): Members {
  const signature = sign('intent-transition', canonical(transition), due, forgery)
  return { transition, signature: { ...signature, signedAt: time(5001) } }
}

const RESOLVED = {
  to: 'RESOLVED',
  resolution: 'NOT_EXECUTED',
  note: 'The bank has no such payment.',
  by: 'alice',
}
/** Signs what the human says, by the key that they have for it. */
function aStepUp(due: Key, otherwise: Members = {}): Members {
  const payload = {
    version: 1,
    nonce: 'a nonce of a step-up',
    businessTransactionId: uuid('first transaction'),
    businessTransactionHash: sha256('an action'),
    action: 'resolve',
    resolution: RESOLVED.resolution,
    note: RESOLVED.note,
    authorizedAt: time(4_000),
    expiresAt: time(64_000),
    ...otherwise,
  }
  const { algorithm, value } = sign('step-up', canonical(payload), due)
  return { payload, keyId: due.keyId.split(':')[1] ?? '', algorithm, signature: value }
}

const stepUpOf = (otherwise: Members) => ({ stepUpAuthorization: aStepUp(humans.aliceStepUp, otherwise) })
const BY_STEP_UP = { ...RESOLVED, ...stepUpOf({}) }
const BY_PROVIDER = {
  to: 'RESOLVED',
  resolution: 'EXECUTED',
  by: 'webhook:razorpay',
  confirmationId: uuid('confirmation'),
}
const WITHOUT_CONFIRMATION = { to: 'RESOLVED', resolution: 'EXECUTED', by: 'webhook:razorpay' }
const FINALIZED = { to: 'FINALIZED', trustRecordHash: sha256('a record'), by: 'alice' }

export function transitionCases(): Case[] {
  const all = new Cases('intent-transition')
  const resolved = aTransition(RESOLVED)
  const whole = signed(resolved)
  const valid: [id: string, what: string, change: Members][] = [
    ['resolved', 'A human found out that it was not executed.', RESOLVED],
    ['resolved-executed', 'A human found out that it was executed.', { ...RESOLVED, resolution: 'EXECUTED' }],
    ['two-humans', 'Two humans said the same.', { ...RESOLVED, agreedWith: 'bob' }],
    ['by-provider', 'A provider said that it was executed.', BY_PROVIDER],
    ['by-provider-alone', 'A provider said so, and no confirmation is named.', WITHOUT_CONFIRMATION],
    ['by-connector', 'Its connector said so when it was asked.', { ...RESOLVED, by: 'connector:vendor:pay' }],
    ['finalized', 'A human finalized it from a stored result.', FINALIZED],
    ['errored', 'It ended in an error without a record.', {}],
    [
      'errored-record',
      'It ended in an error whose record is stored.',
      { trustRecordHash: sha256('a record') },
    ],
    ['prepared-errored', 'It ended before it was released.', { from: 'PREPARED' }],
    ['prepared-released', 'It was released.', { from: 'PREPARED', to: 'RELEASED' }],
  ]
  for (const [id, what, change] of valid) all.add(`valid-${id}`, what, signed(aTransition(change)))
  const two = {
    agreedWith: 'bob',
    agreedStepUpAuthorization: aStepUp(humans.bobByKeyId, { note: 'I saw it.' }),
  }
  const signedByHuman: [id: string, what: string, change: Members][] = [
    ['step-up', 'The human signed what they said.', {}],
    ['step-up-two', 'Both humans signed what they said, each with a reason of their own.', two],
    [
      'step-up-unknown-key',
      'The key of the human is not given, so their signature is not checked.',
      { by: 'zoe', stepUpAuthorization: aStepUp(humans.bobByKeyId) },
    ],
  ]
  for (const [id, what, change] of signedByHuman)
    all.add(`valid-${id}`, what, signed(aTransition({ ...BY_STEP_UP, ...change })))
  const late = { authorizedAt: time(0), expiresAt: time(4_000) }
  const misused: [id: string, what: string, change: Members][] = [
    ['other-outcome', 'The human signed the opposite.', stepUpOf({ resolution: 'EXECUTED' })],
    ['other-note', 'The human signed another reason.', stepUpOf({ note: 'Another reason.' })],
    ['other-execution', 'It is for another execution.', stepUpOf({ businessTransactionId: uuid('other') })],
    ['of-a-change', 'It is for another act.', stepUpOf({ action: 'approve' })],
    ['expired', 'It had expired.', stepUpOf(late)],
    [
      'other-key',
      'Another human signed it.',
      { stepUpAuthorization: aStepUp(humans.bobByKeyId, {}), by: 'alice' },
    ],
    ['null', 'It is null.', { stepUpAuthorization: null }],
    [
      'agreed-other-outcome',
      'The first human signed the opposite.',
      {
        ...two,
        agreedStepUpAuthorization: aStepUp(humans.bobByKeyId, { resolution: 'EXECUTED' }),
      },
    ],
    [
      'agreed-alone',
      'The first human is not named.',
      { agreedStepUpAuthorization: two.agreedStepUpAuthorization },
    ],
    [
      'agreed-other-key',
      'The second human signed for the first.',
      {
        ...two,
        agreedStepUpAuthorization: { ...aStepUp(humans.aliceStepUp), keyId: 'card' },
      },
    ],
  ]
  for (const [id, what, change] of misused)
    all.add(
      `step-up-${id}`,
      `${what} The right key signed the transition.`,
      signed(aTransition({ ...BY_STEP_UP, ...change })),
      ['step-up authorization'],
    )
  all.add('valid-rotated-key', 'Signed by a key that was rotated out.', signed(resolved, keys.oldEd25519))
  all.add('valid-signed-at', 'signature.signedAt is not proven.', put(whole, 'signature.signedAt', time(0)))
  all.addUnsigned(
    'in-signature',
    'Its signature has a member that nothing signs.',
    whole,
    'signature.signedBy',
  )
  addRevoked(
    all,
    { signedAs: 'intent-transition', time: 'at' },
    (when) => signed({ ...resolved, at: when }, revokedKey),
    ['transition signature'],
  )

  const illegal: [id: string, what: string, change: Members][] = [
    ['back', 'It goes back.', { from: 'FINALIZED', to: 'RELEASED' }],
    ['reopened', 'It was closed already.', { ...RESOLVED, from: 'RESOLVED' }],
    ['after-error', 'It had ended already.', { ...FINALIZED, from: 'ERRORED' }],
    ['nowhere', 'It stays where it is.', { to: 'RELEASED' }],
    ['skipped', 'It was never released.', { ...FINALIZED, from: 'PREPARED' }],
    ['unprepared', 'It goes back to the beginning.', { to: 'PREPARED' }],
    ['from-unknown', 'It comes from a state that there is not.', { from: 'IN_DOUBT' }],
    ['to-unknown', 'It goes to a state that there is not.', { to: 'DONE' }],
    ['to-inherited', 'It goes to a name that every object inherits.', { to: 'length' }],
    ['lower-case', 'Its state is in lower case.', { to: 'errored' }],
    ['from-null', 'It comes from nowhere.', { from: null }],
    ['by-null', 'Nobody made it.', { by: null }],
    ['by-empty', 'Somebody without a name made it.', { by: '' }],
    ['resolved-by-service', 'The service says what only a human can.', { ...RESOLVED, by: 'service' }],
    ['resolution-unknown', 'Its resolution is none.', { ...RESOLVED, resolution: 'MAYBE' }],
    ['resolution-null', 'Its resolution is null.', { ...RESOLVED, resolution: null }],
    ['resolution-of-error', 'An error has a resolution.', { resolution: 'NOT_EXECUTED' }],
    ['finalized-without', 'It was finalized and names no record.', { to: 'FINALIZED', by: 'alice' }],
    ['finalized-no-hash', 'What it names is no hash.', { ...FINALIZED, trustRecordHash: 'x' }],
    [
      'finalized-line-break',
      'A line break stands after the hash.',
      {
        ...FINALIZED,
        trustRecordHash: `${sha256('a record')}\n`,
      },
    ],
    ['record-of-error', 'What an error names is no hash.', { trustRecordHash: null }],
    [
      'record-of-released',
      'A release names a record.',
      { from: 'PREPARED', to: 'RELEASED', trustRecordHash: sha256('a record') },
    ],
    [
      'record-of-resolved',
      'A resolution names a record.',
      { ...RESOLVED, trustRecordHash: sha256('a record') },
    ],
    ['agreed-alone', 'One human agrees with themselves.', { ...RESOLVED, agreedWith: 'alice' }],
    ['agreed-empty', 'It agrees with nobody.', { ...RESOLVED, agreedWith: '' }],
    ['agreed-null', 'It agrees with null.', { ...RESOLVED, agreedWith: null }],
    ['agreed-final', 'A record needs nobody who agrees.', { ...FINALIZED, agreedWith: 'bob' }],
    ['confirmed-human', 'A human cites a confirmation.', { ...BY_PROVIDER, by: 'alice' }],
    ['confirmed-empty', 'The confirmation that it cites has no id.', { ...BY_PROVIDER, confirmationId: '' }],
    ['confirmed-null', 'The confirmation that it cites is null.', { ...BY_PROVIDER, confirmationId: null }],
    [
      'confirmed-error',
      'An error cites a confirmation.',
      { by: 'webhook:razorpay', confirmationId: uuid('x') },
    ],
  ]
  for (const [id, what, change] of illegal)
    all.add(`signed-${id}`, `${what} The right key signed it.`, signed(aTransition(change)), [TRANSITION])

  const artifact = {
    kind: 'intent-transition',
    member: TRANSITION,
    payload: resolved,
    signed,
    other: signed(aTransition(FINALIZED)),
  } as const
  addMembers(all, artifact, (name) => ['from', 'to', 'by', 'resolution'].includes(name))
  addShapesAndSignatures(all, artifact)
  return all.cases
}
