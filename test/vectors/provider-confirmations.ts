// Confirmations of payment providers among the published vectors: `{confirmation, signature}`.
import { Cases, type Case } from './case.ts'
import { put, type Members } from './edit.ts'
import { time, uuid } from './evidence.ts'
import { canonical, keys, sha256, sign, type Forgery, type Key, revokedKey } from './keys.ts'
import { addMembers, addShapesAndSignatures } from './signed-artifact.ts'
import { addRevoked } from './revoked.ts'

const CONFIRMATION = 'confirmation'
const EXPRESSION = 'payload.amount == transaction.intent.parameters.amount'

function members(change: Members): Members {
  return {
    confirmationId: uuid(`confirmation ${canonical(change)}`),
    provider: 'razorpay',
    eventId: 'evt_1001',
    deliveryHash: sha256('a delivery'),
    ruleId: 'payout-processed',
    rulesHash: sha256('the rules'),
    businessTransactionId: uuid('first transaction'),
    says: 'executed',
    comparisons: [{ expression: EXPRESSION, holds: true }],
    receivedAt: time(60_000),
    ...change,
  }
}

function signed(confirmation: Members, due: Key = keys.ed25519, forgery?: Forgery): Members {
  const signature = sign('provider-confirmation', canonical(confirmation), due, forgery)
  return { confirmation, signature: { ...signature, signedAt: time(60_001) } }
}

/** One with these members in place of its own. */
export const aConfirmation = (change: Members = {}, due?: Key): Members => signed(members(change), due)

export const DIFFERS = { comparisons: [{ expression: EXPRESSION, holds: false }] }
export const DIFFERS_NOTE = `A comparison of the confirmation by "razorpay" does not hold: ${JSON.stringify(EXPRESSION)}.`

export function confirmationCases(): Case[] {
  const all = new Cases('provider-confirmation')
  const executed = members({})
  const whole = signed(executed)
  const valid: [id: string, what: string, change: Members][] = [
    ['executed', 'The provider says that it was executed.', {}],
    ['not-executed', 'The provider says that it was not executed.', { says: 'not_executed' }],
    ['pending', 'The provider says that it is not settled.', { says: 'pending' }],
    ['compared-with-nothing', 'The rule compares nothing.', { comparisons: [] }],
  ]
  for (const [id, what, change] of valid) all.add(`valid-${id}`, what, signed(members(change)))
  all.addNoted('valid-differs', 'What it says differs.', signed(members(DIFFERS)), [DIFFERS_NOTE])
  all.add('valid-rotated-key', 'Signed by a key that was rotated out.', signed(executed, keys.oldEd25519))
  all.add('valid-signed-at', 'signature.signedAt is not proven.', put(whole, 'signature.signedAt', time(0)))
  all.addUnsigned(
    'in-signature',
    'Its signature has a member that nothing signs.',
    whole,
    'signature.signedBy',
  )
  addRevoked(
    all,
    { signedAs: 'provider-confirmation', time: 'receivedAt' },
    (when) => aConfirmation({ receivedAt: when }, revokedKey),
    ['confirmation signature'],
  )

  const wrong: [id: string, what: string, change: Members][] = [
    ['says-unknown', 'It says what no provider can.', { says: 'maybe' }],
    ['says-upper-case', 'It says it in upper case.', { says: 'EXECUTED' }],
    ['says-list', 'It says two things.', { says: ['executed'] }],
    ['says-inherited', 'It says a name that every object inherits.', { says: 'length' }],
    ['provider-empty', 'The provider has no name.', { provider: '' }],
    ['provider-number', 'The provider is a number.', { provider: 1 }],
    ['hash-short', 'The hash of the delivery is cut off.', { deliveryHash: sha256('a').slice(1) }],
    ['hash-upper-case', 'The hash of the rules is in upper case.', { rulesHash: sha256('a').toUpperCase() }],
    ['hash-line-break', 'A line break stands after the hash.', { deliveryHash: `${sha256('a')}\n` }],
    ['comparisons-null', 'Its comparisons are null.', { comparisons: null }],
    ['comparison-null', 'A comparison is null.', { comparisons: [null] }],
    [
      'holds-null',
      'A comparison neither holds nor fails.',
      { comparisons: [{ expression: 'x', holds: null }] },
    ],
    ['holds-number', 'A comparison holds by a number.', { comparisons: [{ expression: 'x', holds: 1 }] }],
    [
      'expression-empty',
      'A comparison compares nothing.',
      { comparisons: [{ expression: '', holds: true }] },
    ],
  ]
  for (const [id, what, change] of wrong)
    all.add(`signed-${id}`, `${what} The right key signed it.`, signed(members(change)), [CONFIRMATION])

  const artifact = {
    kind: 'provider-confirmation',
    member: CONFIRMATION,
    payload: executed,
    signed,
    other: aConfirmation({ says: 'pending' }),
  } as const
  addMembers(all, artifact)
  const opposite = put(whole, 'confirmation.says', 'not_executed')
  all.add('changed-says-other', 'It says the opposite.', opposite, [`${CONFIRMATION} signature`])
  addShapesAndSignatures(all, artifact)
  return all.cases
}
