// Files as people save them: one piece of evidence or a page of them, what a verifier says of each, and how its command exits.
import { answered } from './approval-requests.ts'
import { anEvent, aReceipt, aRecord, aVerification, receiptOf, signEvent, time } from './evidence.ts'
import { drop, put, type Json, type Members } from './edit.ts'
import { governanceCases } from './governance-changes.ts'
import { keys, modes, publicKeyJson, unpublished } from './keys.ts'
import { aConfirmation } from './provider-confirmations.ts'
import { asked } from './trust-records/requested.ts'

type Verdict = 'valid' | 'invalid' | 'unchecked'

export interface FileCase {
  readonly id: string
  readonly what: string
  /** The exact text of the file. */
  readonly text: string
  /** 0: all are valid. 1: any is invalid. 2: none is, and one cannot be checked, or nothing could be read. */
  readonly exitCode: 0 | 1 | 2
  /** Each piece of evidence in it has a verdict, in their order; there are none where the file as a whole cannot be read. */
  readonly verdicts: readonly Verdict[]
}

const DEPTH_MAX = 80

export function fileCases(): FileCase[] {
  const cases: FileCase[] = []
  const add = (id: string, what: string, value: Json | string, ...verdicts: readonly Verdict[]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    const exitCode = verdicts.includes('invalid')
      ? 1
      : verdicts.length > 0 && verdicts.every((one) => one === 'valid')
        ? 0
        : 2
    cases.push({ id: `file/${id}`, what, text, exitCode, verdicts })
  }
  const record = aRecord({ name: 'first' }, modes.ed25519)
  const changed = put(record, 'createdAt', 'x')
  const unknown = put(record, 'receipts', [
    aReceipt(receiptOf(record, aVerification(record)), [unpublished.ed25519]),
  ])
  const event = signEvent(anEvent(), keys.ed25519)
  const [first] = governanceCases().filter(({ valid }) => valid)
  const change = (first as unknown as { evidence: Members }).evidence

  add('one', 'One record.', record, 'valid')
  add('one-changed', 'One record, changed.', changed, 'invalid')
  add('one-key-not-given', 'One record whose receipt is by a key that is not given.', unknown, 'unchecked')
  add('page', 'A page of records.', [record, record], 'valid', 'valid')
  add('page-of-one', 'A page of one record.', [record], 'valid')
  add('page-changed', 'A page with a changed record.', [record, changed], 'valid', 'invalid')
  add(
    'page-key-not-given',
    'A page with one that cannot be checked.',
    [record, unknown],
    'valid',
    'unchecked',
  )
  add(
    'page-both',
    'A failure decides, whatever cannot be checked beside it.',
    [unknown, changed],
    'unchecked',
    'invalid',
  )
  add(
    'page-hides-nothing',
    'What stands beside a list hides no changed record.',
    { refusals: [changed], decidedBy: 'the board' },
    'invalid',
    'unchecked',
  )
  const { receiptId = null, receiptHash = null } = receiptOf(record, aVerification(record))
  const followed = {
    eventId: 'e',
    type: 'execution.completed',
    occurredAt: 'x',
    receiptId,
    receiptHash,
    entry: {},
  }
  add(
    'page-followed',
    'An event of GET /events names a receipt and is none.',
    { events: [followed] },
    'unchecked',
  )
  add('page-no-evidence', 'An entry is no evidence.', [record, {}], 'valid', 'unchecked')
  add(
    'page-no-evidence-hides-nothing',
    'An entry that is no evidence hides no changed record.',
    [{}, changed, null],
    'unchecked',
    'invalid',
    'unchecked',
  )
  add(
    'page-several-kinds',
    'An entry claims to be of two kinds.',
    [{ ...record, receiptId: 'x' }],
    'unchecked',
  )
  add('page-list', 'An entry is a list.', [[record]], 'unchecked')
  add('events', 'A page of audit events.', { events: [event, event] }, 'valid', 'valid')
  add('changes', 'A page of changes.', { changes: [change] }, 'valid')
  add('confirmations', 'A page of confirmations.', { confirmations: [aConfirmation()] }, 'valid')
  const request = answered(asked)
  add('requests', 'A page of approval requests.', { requests: [request] }, 'valid')
  add(
    'requests-changed',
    'One of them was changed.',
    { requests: [request, put(request, 'request.quorum', 2)] },
    'valid',
    'invalid',
  )
  add(
    'record-with-events',
    'A record is a record, whatever list it carries.',
    { ...changed, events: [event] },
    'invalid',
  )
  const beside = (id: string, what: string, page: Members) => add(id, what, page, 'valid', 'unchecked')
  beside('events-and-changes', 'Of two lists one would go unread.', { events: [event], changes: [change] })
  add(
    'page-members',
    'A page has the members that the service pages by.',
    {
      changes: [change],
      next: 'A1b2wwAAAAEAAAAA-_s',
      completeUntil: time(0),
      verificationCount: 1,
      receiptCount: 1,
      publicKeys: [publicKeyJson(keys.ed25519)],
    },
    'valid',
  )
  add('page-of-no-more', 'The last page of a list.', { changes: [change], next: null }, 'valid')
  for (const [name, value] of Object.entries({
    decidedBy: 'the board',
    next: { decidedBy: 'the board' },
    completeUntil: 'the board',
    verificationCount: 'the board',
    receiptCount: [],
    publicKeys: [{ ...publicKeyJson(keys.ed25519), decidedBy: 'the board' }],
  }) as [string, Json][])
    beside(`page-beside-${name}`, `A page has a member ${name} that is no part of one.`, {
      changes: [change],
      [name]: value,
    })
  for (const [id, next] of Object.entries({
    sentence: 'Approved by the board',
    empty: '',
    'line-break': 'A1b2\n',
    'other-letters': 'Ａ１ｂ２',
    'too-long': 'A'.repeat(201),
  }))
    beside(`page-next-${id}`, 'The next of a page is no cursor.', { changes: [change], next })
  const forged = put(record, 'transaction.intent.target', 'attacker')
  beside('record-without-id', 'A forged record without its id, beside a list that is genuine.', {
    ...drop(forged, 'trustRecordId'),
    changes: [change],
  })
  beside('bundle-without-mark', 'A forged bundle that does not say that it is one.', {
    record: forged,
    policy: '{}',
    approverKeys: [],
    changes: [change],
    proofs: [],
  })
  beside('receipt-without-id', 'A receipt without its id, beside a list that is genuine.', {
    ...drop(receiptOf(record, aVerification(record)), 'receiptId'),
    events: [event],
  })
  beside('page-in-a-page', 'A page within a page.', { events: [event], page: { changes: [change] } })
  add('bundle-without-mark-alone', 'A bundle that does not say that it is one.', { record, policy: '{}' })
  add('wrapped', 'A record within an object.', { record })
  add('events-object', 'The events are no list.', { events: {} })
  add('empty', 'An empty page: no evidence is not valid evidence.', [])
  add('empty-events', 'An empty page of events.', { events: [] })
  add('empty-beside', 'An empty list beside a forged record.', {
    ...drop(forged, 'trustRecordId'),
    events: [],
  })
  add('no-evidence', 'It is no evidence.', {})
  add('number', 'It is a number.', 7)
  add('nothing', 'It is empty.', '')
  const nested = (depth: number) =>
    JSON.stringify(record).replace('{', `{"x":${'['.repeat(depth)}${']'.repeat(depth)},`)
  add('depth-80', 'A member is nested 80 deep, the record included.', nested(DEPTH_MAX - 1), 'unchecked')
  add('depth-81', 'A member is nested 81 deep, the record included.', nested(DEPTH_MAX))
  add('depth-100', 'A member is nested 100 deep.', nested(100))
  add('depth-10000', 'A member is nested ten thousand deep.', nested(10_000))
  add(
    'brackets-in-a-text',
    'Brackets in a text are no depth.',
    put(request, 'url', `${'['.repeat(200)}"\\`),
    'valid',
  )
  return cases
}
