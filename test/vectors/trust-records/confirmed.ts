// Providers' words stand beside a record outside its signature: confirmations of it, of something else, or of nothing.
import type { Cases } from '../case.ts'
import { put } from '../edit.ts'
import { aRecord, uuid } from '../evidence.ts'
import { modes, unpublished } from '../keys.ts'
import { aConfirmation, DIFFERS, DIFFERS_NOTE } from '../provider-confirmations.ts'

const CONFIRMATIONS = ['confirmations']

export function confirmedRecords(all: Cases): void {
  const record = aRecord({ name: 'first' }, modes.ed25519)
  const failed = aRecord({ name: 'failed', failed: true }, modes.ed25519)
  const ofFailed = { businessTransactionId: failed['businessTransactionId']! }
  const one = aConfirmation()
  const withOnes = (...confirmations: unknown[]) => put(record, 'confirmations', confirmations as never)

  all.add('valid-confirmed', 'The provider says that it was executed.', withOnes(one))
  all.add('valid-confirmed-twice', 'The provider says it twice.', withOnes(one, one))
  all.add('valid-confirmed-by-none', 'The list of confirmations is empty.', withOnes())
  all.add(
    'valid-pending',
    'The provider says that it is pending.',
    withOnes(aConfirmation({ says: 'pending' })),
  )
  all.addNoted(
    'valid-contradicted',
    'The provider says that it was not executed.',
    withOnes(aConfirmation({ says: 'not_executed' })),
    ['The provider "razorpay" says not_executed, and the record says COMPLETED.'],
  )
  all.addNoted(
    'valid-contradicted-failed',
    'It failed, and the provider says that it was executed.',
    put(failed, 'confirmations', [aConfirmation(ofFailed)]),
    ['The provider "razorpay" says executed, and the record says FAILED.'],
  )
  all.addNoted('valid-differs', 'The provider says another amount.', withOnes(aConfirmation(DIFFERS)), [
    DIFFERS_NOTE,
  ])
  all.addNoted(
    'valid-confirmations-cut',
    'Its list of confirmations was cut.',
    put(withOnes(one), 'confirmationCount', 101),
    ['It holds 1 of the 101 confirmations that it says the record has.'],
  )

  const wrong = (id: string, what: string, ...confirmations: unknown[]) =>
    all.add(`confirmation-${id}`, what, withOnes(...confirmations), CONFIRMATIONS)
  wrong('of-other', 'Its confirmation is of another transaction.', aConfirmation(ofFailed))
  wrong('beside-other', 'One of two is of another.', one, aConfirmation({ businessTransactionId: uuid('x') }))
  wrong('changed', 'What the provider says was changed.', put(one, 'confirmation.says', 'pending'))
  wrong('null', 'A confirmation is null.', null)
  wrong('unsigned', 'Nothing signs it.', { confirmation: one['confirmation'] })
  wrong('says-unknown', 'It says what no provider can.', aConfirmation({ says: 'maybe' }))
  all.add(
    'confirmations-null',
    'Its confirmations are null.',
    put(record, 'confirmations', null),
    CONFIRMATIONS,
  )
  all.add(
    'confirmations-count-alone',
    'It counts confirmations and holds none.',
    put(record, 'confirmationCount', 1),
    CONFIRMATIONS,
  )
  all.add(
    'confirmations-count-low',
    'It holds more confirmations than it counts.',
    put(withOnes(one), 'confirmationCount', 0),
    CONFIRMATIONS,
  )
  all.addUnchecked(
    'confirmation-by-unknown-key',
    'The key of its confirmation is not given.',
    withOnes(aConfirmation({}, unpublished.ed25519)),
    CONFIRMATIONS,
  )
}
