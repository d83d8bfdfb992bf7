// Approval requests among the published vectors, as GET /approval-requests/{id} answers them, and how they were closed (decisions §7).
import { batchForgeries } from './batches.ts'
import { Cases, forgeries, type Case } from './case.ts'
import { at, drop, membersAt, put, type Json, type Members } from './edit.ts'
import { CALLER, time, uuid } from './evidence.ts'
import { canonical, humans, keys, sha256, sign, type Forgery, type Key, revokedKey } from './keys.ts'
import { asked } from './trust-records/requested.ts'
import { addRevoked } from './revoked.ts'

const HASH = 'request hash'
const SIGNATURE = 'request signature'
const REQUEST = 'request'
const CODE = 'action code'
const CLOSE_SIGNATURE = 'close signature'
const CLOSE = 'close'
const NOTE_SIGNATURE = 'note signature'
const NOTE_FORM = 'note'
const NOTES = 'notes'
const STANDING = 'standing'

export const requestSignature = (request: Json, due: Key = keys.ed25519, forgery?: Forgery): Members => ({
  ...sign('approval-request', canonical(request), due, forgery),
  signedAt: time(-120_000),
})

/** As the service answers while nobody has signed. */
export function answered(
  request: Members,
  { due, forgery, more = {} }: { due?: Key; forgery?: Forgery; more?: Members } = {},
): Members {
  return {
    request,
    requestHash: sha256(canonical(request)),
    actionCode: codeOf(request),
    status: 'PENDING',
    missing: 1,
    intervalSeconds: 5,
    expiresAt: request['expiresAt'] ?? null,
    url: `/approval-requests/${uuid('approval request')}`,
    eligible: ['dana', 'erik'],
    approvals: [],
    ...more,
    signature: requestSignature(request, due, forgery),
  }
}

/** Written a second time: the bits as text. */
function codeOf({ capability, target, parameters, policy, principalId, requestedBy }: Members): string {
  const { name, version } = (policy ?? {}) as Members
  const coded = { capability, target, parameters, policy: { name, version }, principalId, requestedBy }
  const bits = Array.from(Buffer.from(sha256(canonical(coded as Members)), 'hex'), (byte) =>
    byte.toString(2).padStart(8, '0'),
  ).join('')
  const characters = Array.from({ length: 12 }, (_, i) =>
    '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.charAt(Number.parseInt(bits.slice(5 * i, 5 * i + 5), 2)),
  ).join('')
  return characters.replace(/^(....)(....)/, '$1-$2-')
}

function aClose(change: Members = {}, due: Key = keys.ed25519, forgery?: Forgery): Members {
  const closed = {
    closeId: uuid(`close ${canonical(change)}`),
    requestId: asked['requestId'] as string,
    requestHash: sha256(canonical(asked)),
    status: 'DECLINED',
    by: 'dana',
    reason: 'Paid already.',
    closedAt: time(-60_000),
    ...change,
  }
  const signature = sign('approval-request-close', canonical(closed), due, forgery)
  return { ...closed, signature: { ...signature, signedAt: time(-60_000) } }
}

function aNote(change: Members = {}, due: Key = keys.ed25519, forgery?: Forgery): Members {
  const note = {
    noteId: uuid(`note ${canonical(change)}`),
    requestId: asked['requestId'] as string,
    requestHash: sha256(canonical(asked)),
    by: 'dana',
    text: 'Which invoice is it?',
    notedAt: time(-90_000),
    ...change,
  }
  const signature = sign('approval-request-note', canonical(note), due, forgery)
  return { ...note, signature: { ...signature, signedAt: time(-90_000) } }
}

const noted = (...notes: Json[]) => answered(asked, { more: { notes } })

const WITHDRAWN = { status: 'WITHDRAWN', by: CALLER, reason: '' }

function ended(closed: Members): Members {
  return answered(asked, { more: { status: closed['status'] ?? null, missing: 1, eligible: [], closed } })
}

const NOTE =
  'Nothing signs how it stands (status, missing, eligible, approvals, intervalSeconds, url): the service says so when it is asked. Its end is signed where it was declined or withdrawn.'

export function approvalRequestCases(): Case[] {
  const all = new Cases('approval-request')
  const whole = answered(asked)
  all.addNoted('valid-pending', 'Nobody has signed yet.', whole, [NOTE])
  const approval = { approvalId: 'a', approverId: 'dana', keyId: 'laptop', approvedAt: time(-30_000) }
  const approvals = [{ ...approval, reason: 'Matches the invoice.' }]
  all.add('valid-reason', 'The approver says why.', answered(asked, { more: { approvals, missing: 0 } }))
  for (const status of ['APPROVED', 'USED'])
    all.add(
      `valid-${status.toLowerCase()}`,
      `It is ${status}, as the service says.`,
      answered(asked, { more: { status, missing: 0, approvals: [approval] } }),
    )
  const endedBy = { changeId: uuid('the retirement of its policy version') }
  const ending = answered(asked, { more: { status: 'ENDED', eligible: [], endedBy } })
  all.addNoted('valid-ended', 'Its policy version was retired.', ending, [
    NOTE.replace('approvals,', 'approvals, endedBy,'),
  ])
  const reminded = { remindAt: time(60_000) }
  all.add('valid-reminded', 'Its approvers are reminded.', answered(asked, { more: { ask: reminded } }))
  const usedBy = { businessTransactionId: uuid('the execution that used it') }
  all.add(
    'valid-outcome-unknown',
    'It was used, and nobody says what came of it.',
    answered(asked, { more: { status: 'USED', missing: 0, approvals: [approval], usedBy } }),
  )
  all.add('valid-expired', 'Its time was over.', put(whole, 'status', 'EXPIRED'))
  all.add('valid-declined', 'A human declined it.', ended(aClose()))
  all.add('valid-withdrawn', 'Its caller took it back.', ended(aClose(WITHDRAWN)))
  all.add('valid-no-note', 'It has no note.', answered({ ...asked, note: '' }))
  const rotated = { due: keys.oldEd25519 }
  all.add('valid-rotated-key', 'Signed by a key that was rotated out.', answered(asked, rotated))
  all.add('valid-signed-at', 'signature.signedAt is not proven.', put(whole, 'signature.signedAt', time(0)))
  addRevoked(
    all,
    { signedAs: 'approval-request', time: 'createdAt', notes: [NOTE] },
    (when) => answered({ ...asked, createdAt: when }, { due: revokedKey }),
    ['request signature'],
  )
  const unsigned = (id: string, what: string, path: string, value: Json) =>
    all.addUnsigned(id, what, whole, path, value)
  unsigned('member', 'A member stands beside it that nothing signs.', 'approvedBy', 'zoe')
  unsigned('url', 'Its url is an object.', 'url', { approvedBy: 'zoe' })
  unsigned('status', 'Its status is none that the service knows.', 'status', 'SIGNED BY ZOE')
  unsigned('missing', 'What is missing is a text.', 'missing', 'nothing, zoe approved it')
  unsigned('interval', 'Its interval is a list.', 'intervalSeconds', [])
  unsigned('eligible', 'Who could sign is no list.', 'eligible', { approvedBy: 'zoe' })
  unsigned('eligible-entry', 'Who could sign is an object.', 'eligible', [{ approvedBy: 'zoe' }])
  unsigned('approvals', 'Its approvals are an object.', 'approvals', { approvedBy: 'zoe' })
  unsigned('approval-reason', 'The reason of an approval is an object.', 'approvals', [
    { ...approval, reason: { approvedBy: 'zoe' } },
  ])
  unsigned('approval', 'An approval beside it has another member.', 'approvals', [{ ...approval, note: 'x' }])
  unsigned('approval-text', 'An approval beside it is a text.', 'approvals', ['zoe'])
  unsigned('ended-by', 'The change that ended it is a text.', 'endedBy', 'zoe')
  unsigned('ended-by-nothing', 'The change that ended it has no id.', 'endedBy', {})
  unsigned('ended-by-list', 'The id of the change that ended it is a list.', 'endedBy', { changeId: ['zoe'] })
  unsigned('ended-by-more', 'The change that ended it has another member.', 'endedBy', {
    ...endedBy,
    by: 'zoe',
  })
  unsigned('used-by-nothing', 'The execution that used it has no id.', 'usedBy', { outcome: 'COMPLETED' })
  changedRequests(all, whole)
  wrongRequests(all)
  wrongBeside(all, whole)
  wrongEnds(all)
  addNoted(all)
  signatures(all, whole)
  return all.cases
}

/** Each member changed and removed, whatever it is. */
function changedRequests(all: Cases, whole: Members): void {
  const coded = ['requestedBy', 'principalId', 'capability', 'target', 'parameters', 'policy']
  for (const name of Object.keys(asked)) {
    const code = coded.includes(name) ? [CODE] : []
    const standing = name === 'expiresAt' ? [STANDING] : []
    const fails = [HASH, SIGNATURE, ...code, ...standing]
    const shape = name === 'note' ? [] : [REQUEST]
    all.add(`changed-${name}`, `${name} was changed.`, put(whole, `request.${name}`, ''), [
      ...fails,
      ...shape,
    ])
    all.add(`missing-${name}`, `${name} was removed.`, drop(whole, `request.${name}`), [...fails, REQUEST])
  }
  const swapped: [id: string, what: string, path: string, value: Json, fails: string[]][] = [
    ['amount', 'The amount was changed.', 'request.parameters.amount', 4200, [HASH, SIGNATURE, CODE]],
    ['other-target', 'Another target was put in.', 'request.target', 'invoice-1002', [HASH, SIGNATURE, CODE]],
    ['other-note', 'Another note was put in.', 'request.note', 'Urgent.', [HASH, SIGNATURE]],
    ['fewer', 'Fewer approvals are asked for.', 'request.quorum', 2, [HASH, SIGNATURE]],
    ['member', 'A member was added.', 'request.more', 1, [HASH, SIGNATURE]],
  ]
  for (const [id, what, path, value, fails] of swapped)
    all.add(`swapped-${id}`, what, put(whole, path, value), fails)
  // A forger without a key can make hash and code fit; the signature stays.
  const other = { ...asked, target: 'invoice-1002' }
  all.add(
    'swapped-whole',
    'Another request stands there with its hash and its code.',
    { ...answered(other), signature: whole['signature'] as Json },
    [SIGNATURE],
  )
}

function wrongRequests(all: Cases): void {
  const policy = asked['policy'] as Members
  const wrong: [id: string, what: string, change: Members, fails?: string[]][] = [
    ['quorum-zero', 'It asks for nobody.', { quorum: 0 }],
    ['quorum-fraction', 'It asks for one and a half.', { quorum: 1.5 }],
    ['quorum-true', 'Its quorum is a boolean.', { quorum: true }],
    ['quorum-text', 'Its quorum is a text.', { quorum: '1' }],
    ['target-empty', 'It has no target.', { target: '' }],
    ['target-number', 'Its target is a number.', { target: 7 }, [REQUEST, CODE]],
    ['parameters-list', 'Its parameters are a list.', { parameters: [] }, [REQUEST, CODE]],
    ['signals-null', 'Its signals are null.', { signals: null }],
    ['note-null', 'Its note is null.', { note: null }],
    ['policy-null', 'It has no policy.', { policy: null }, [REQUEST, CODE]],
    [
      'content-upper-case',
      'The content hash is in upper case.',
      contentOf(policy, sha256('x').toUpperCase()),
    ],
    [
      'content-line-break',
      'A line break stands after the content hash.',
      contentOf(policy, `${sha256('x')}\n`),
    ],
    ['never-open', 'It expired when it was made.', { expiresAt: asked['createdAt'] as Json }],
    ['no-day', 'It was made on no day of the calendar.', { createdAt: '2026-02-30T00:00:00.000Z' }],
  ]
  for (const [id, what, change, fails = [REQUEST]] of wrong)
    all.add(`signed-${id}`, `${what} The right key signed it.`, answered({ ...asked, ...change }), fails)
}

const contentOf = (policy: Members, contentHash: string) => ({ policy: { ...policy, contentHash } })

function wrongBeside(all: Cases, whole: Members): void {
  const wrong: [id: string, what: string, evidence: Members, fails: string[]][] = [
    ['hash-of-other', 'The hash is that of another.', put(whole, 'requestHash', sha256('x')), [HASH]],
    ['hash-null', 'The hash is null.', put(whole, 'requestHash', null), [HASH]],
    ['code-of-other', 'The code is that of another.', put(whole, 'actionCode', '0000-0000-0000'), [CODE]],
    ['code-lower-case', 'The code is in lower case.', lower(whole, 'actionCode'), [CODE]],
    ['code-removed', 'It has no code.', drop(whole, 'actionCode'), [CODE]],
    ['expires-later', 'It is said to expire later.', put(whole, 'expiresAt', time(9_000_000)), [STANDING]],
    ['expires-never', 'It is not said when it expires.', drop(whole, 'expiresAt'), [STANDING]],
    ['declined-by-nobody', 'It is said to be declined.', put(whole, 'status', 'DECLINED'), [STANDING]],
    ['withdrawn-by-nobody', 'It is said to be withdrawn.', put(whole, 'status', 'WITHDRAWN'), [STANDING]],
    ['status-null', 'Its status is null.', put(whole, 'status', null), [STANDING]],
  ]
  for (const [id, what, evidence, fails] of wrong) all.add(`beside-${id}`, what, evidence, fails)
}

const lower = (whole: Members, path: string) => put(whole, path, (at(whole, path) as string).toLowerCase())

function wrongEnds(all: Cases): void {
  const declined = ended(aClose())
  const hidden = drop(put(declined, 'status', 'PENDING'), 'closed')
  all.add(
    'end-hidden',
    'Its end was removed and its status changed: only the log or the service knows.',
    hidden,
  )
  all.add('end-removed', 'Its end was removed.', drop(declined, 'closed'), [STANDING])
  all.add('end-denied', 'It is said to be open.', put(declined, 'status', 'PENDING'), [STANDING])
  all.add('end-null', 'Its end is null.', put(declined, 'closed', null), [CLOSE_SIGNATURE, CLOSE, STANDING])
  all.add('end-other-reason', 'Another reason was put in.', put(declined, 'closed.reason', 'x'), [
    CLOSE_SIGNATURE,
  ])
  all.add('end-member', 'A member was added to its end.', put(declined, 'closed.more', 1), [CLOSE_SIGNATURE])
  const reversed = put(put(declined, 'closed.status', 'WITHDRAWN'), 'status', 'WITHDRAWN')
  all.add('end-reversed', 'A decline was made a withdrawal.', reversed, [CLOSE_SIGNATURE, CLOSE, STANDING])
  const signed: [id: string, what: string, closed: Members][] = [
    ['of-another', 'The end is that of another request.', aClose({ requestId: uuid('another request') })],
    ['of-other-content', 'The end is of another content.', aClose({ requestHash: sha256('x') })],
    ['before', 'It ended before it was made.', aClose({ closedAt: time(-120_001) })],
    ['of-other-caller', 'Another caller took it back.', aClose({ ...WITHDRAWN, by: 'agent-8' })],
  ]
  for (const [id, what, closed] of signed)
    all.add(`end-${id}`, `${what} The right key signed it.`, ended(closed), [STANDING])
  const used = aClose({ status: 'USED' })
  all.add('end-used', 'Its end is a use. The right key signed it.', ended(used), [CLOSE])
}

function signatures(all: Cases, whole: Members): void {
  for (const name of ['algorithm', 'keyId', 'value'])
    all.add(`signature-without-${name}`, `The signature has no ${name}.`, drop(whole, `signature.${name}`), [
      SIGNATURE,
    ])
  const closed = aClose()
  const ofEnd = put(whole, 'signature', at(closed, 'signature'))
  all.add('signature-of-end', 'It carries the signature of its end.', ofEnd, [SIGNATURE])
  const endBySigned = put(ended(closed), 'closed.signature', membersAt(whole, 'signature'))
  all.add('end-signature-of-request', 'The end carries the signature of the request.', endBySigned, [
    CLOSE_SIGNATURE,
  ])
  const byHuman = answered(asked, { due: humans.aliceStepUp })
  all.add('by-approver', 'A human signed it in place of the service.', byHuman, [SIGNATURE])
  const byMlDsa = answered(asked, { due: keys.mlDsa65 })
  all.add('by-ml-dsa-65', 'ML-DSA-65 signed it, and requests are always Ed25519.', byMlDsa, [SIGNATURE])
  for (const [id, what, forgery] of [...forgeries('approval-request'), ...batchForgeries('approval-request')])
    all.addForged(id, what, answered(asked, { forgery }), [SIGNATURE], forgery)
  for (const [id, value] of [
    ['null', null],
    ['list', [asked]],
    ['text', canonical(asked)],
    ['empty', {}],
  ] as [string, Json][])
    all.add(`request-${id}`, `The request is ${id}.`, put(whole, 'request', value), [
      HASH,
      SIGNATURE,
      REQUEST,
      CODE,
      STANDING,
    ])
  const alone = JSON.stringify({ request: asked })
  all.addUnusable('unusable-alone', 'It is the request without its signature.', alone)
  const noHash = JSON.stringify(drop(whole, 'requestHash'))
  all.addUnusable('unusable-no-hash', 'It is a request without its hash.', noHash)
  const twoKinds = JSON.stringify({ ...whole, event: { eventId: uuid('event') } })
  all.addUnusable('unusable-two-kinds', 'It is an audit event too.', twoKinds)
}

/** Requests with notes on them. */
function addNoted(all: Cases): void {
  const answer = aNote({ by: CALLER, text: 'The one of May.', notedAt: time(-80_000) })
  all.add('valid-noted', 'An approver asked back, and the requester answered.', noted(aNote(), answer))
  all.add('valid-no-notes', 'Its list of notes is empty.', noted())
  all.add(
    'valid-noted-declined',
    'It was asked about, and then declined.',
    answered(asked, {
      more: { status: 'DECLINED', missing: 1, eligible: [], notes: [aNote()], closed: aClose() },
    }),
  )
  const wrong: [id: string, what: string, ...notes: Json[]][] = [
    ['text', 'The second note says something else.', aNote(), put(answer, 'text', 'The one of June.')],
    ['of-another', 'A note is of another request.', aNote({ requestId: uuid('another request') })],
    ['of-another-hash', 'A note is of another content.', aNote({ requestHash: sha256('x') })],
    ['before', 'A note is older than its request.', aNote({ notedAt: time(-86_400_000) })],
    ['empty', 'A note says nothing.', aNote({ text: '' })],
    ['unsigned', 'A note has no signature.', drop(answer, 'signature')],
    [
      'as-close',
      'The right key signed a note as an end.',
      aNote({}, keys.ed25519, { artifact: 'approval-request-close' }),
    ],
    ['null', 'A note is null.', null],
  ]
  for (const [id, what, ...notes] of wrong) all.add(`noted-${id}`, what, noted(...notes), [NOTES])
  all.add('notes-object', 'Its notes are an object.', answered(asked, { more: { notes: {} } }), [NOTES])
  all.addUnsigned(
    'noted-in-signature',
    'The signature of a note has a member that nothing signs.',
    noted(aNote()),
    'notes.0.signature.signedBy',
  )
}

/** One of the `notes` by itself. */
export function approvalRequestNoteCases(): Case[] {
  const all = new Cases('approval-request-note')
  const whole = aNote()
  all.add('valid-question', 'An approver asked back.', whole)
  all.add(
    'valid-answer',
    'The requester answered, on two lines.',
    aNote({ by: CALLER, text: 'The one\nof May.' }),
  )
  all.add('valid-rotated-key', 'Signed by a key that was rotated out.', aNote({}, keys.oldEd25519))
  all.addUnsigned(
    'in-signature',
    'Its signature has a member that nothing signs.',
    whole,
    'signature.signedBy',
  )
  addRevoked(
    all,
    { signedAs: 'approval-request-note', time: 'notedAt' },
    (when) => aNote({ notedAt: when }, revokedKey),
    [NOTE_SIGNATURE],
  )
  const { signature: _, ...members } = whole
  for (const name of Object.keys(members)) {
    const fails = [NOTE_SIGNATURE, NOTE_FORM]
    all.add(`changed-${name}`, `${name} was changed.`, put(whole, name, ''), fails)
    if (name !== 'noteId' && name !== 'requestHash')
      all.add(`missing-${name}`, `${name} was removed.`, drop(whole, name), fails)
  }
  all.add('added-member', 'A member was added.', { ...whole, more: 1 }, [NOTE_SIGNATURE])
  all.add('other-text', 'Another text was put in.', put(whole, 'text', 'x'), [NOTE_SIGNATURE])
  const wrong: [id: string, what: string, change: Members][] = [
    ['by-null', 'Its writer is null.', { by: null }],
    ['hash-short', 'The hash of the request is cut off.', { requestHash: sha256('x').slice(1) }],
    ['hash-line-break', 'A line break stands after the hash.', { requestHash: `${sha256('x')}\n` }],
    ['no-time', 'It was written at no time.', { notedAt: 'today' }],
  ]
  for (const [id, what, change] of wrong)
    all.add(`signed-${id}`, `${what} The right key signed it.`, aNote(change), [NOTE_FORM])
  const artifact = 'approval-request-note'
  for (const [id, what, forgery] of [...forgeries(artifact), ...batchForgeries(artifact)])
    all.addForged(id, what, aNote({}, keys.ed25519, forgery), [NOTE_SIGNATURE], forgery)
  all.addUnusable('unusable-alone', 'It is the note without its signature.', JSON.stringify(members))
  return all.cases
}

/** The member `closed` by itself. */
export function approvalRequestCloseCases(): Case[] {
  const all = new Cases('approval-request-close')
  const whole = aClose()
  all.add('valid-declined', 'A human declined the request.', whole)
  all.add('valid-withdrawn', 'Its caller took the request back.', aClose(WITHDRAWN))
  all.add('valid-rotated-key', 'Signed by a key that was rotated out.', aClose({}, keys.oldEd25519))
  all.addUnsigned(
    'in-signature',
    'Its signature has a member that nothing signs.',
    whole,
    'signature.signedBy',
  )
  addRevoked(
    all,
    { signedAs: 'approval-request-close', time: 'closedAt' },
    (when) => aClose({ closedAt: when }, revokedKey),
    [CLOSE_SIGNATURE],
  )
  const { signature: _, ...members } = whole
  for (const name of Object.keys(members)) {
    const fails = [CLOSE_SIGNATURE, CLOSE]
    all.add(`changed-${name}`, `${name} was changed.`, put(whole, name, ''), fails)
    if (name !== 'closeId' && name !== 'requestHash')
      all.add(`missing-${name}`, `${name} was removed.`, drop(whole, name), fails)
  }
  all.add('added-member', 'A member was added.', { ...whole, more: 1 }, [CLOSE_SIGNATURE])
  all.add('other-reason', 'Another reason was put in.', put(whole, 'reason', 'x'), [CLOSE_SIGNATURE])
  const wrong: [id: string, what: string, change: Members][] = [
    ['no-reason', 'A human declined without a reason.', { reason: '' }],
    ['withdrawn-reason', 'It was taken back for a reason.', { ...WITHDRAWN, reason: 'x' }],
    ['used', 'Its end is a use.', { status: 'USED' }],
    ['lower-case', 'Its status is in lower case.', { status: 'declined' }],
    ['by-empty', 'Nobody closed it.', { by: '' }],
    ['by-null', 'Its human is null.', { by: null }],
    ['hash-short', 'The hash of the request is cut off.', { requestHash: sha256('x').slice(1) }],
    ['hash-line-break', 'A line break stands after the hash.', { requestHash: `${sha256('x')}\n` }],
    ['no-time', 'It was closed at no time.', { closedAt: 'today' }],
  ]
  for (const [id, what, change] of wrong)
    all.add(`signed-${id}`, `${what} The right key signed it.`, aClose(change), [CLOSE])
  const artifact = 'approval-request-close'
  for (const [id, what, forgery] of [...forgeries(artifact), ...batchForgeries(artifact)])
    all.addForged(id, what, aClose({}, keys.ed25519, forgery), [CLOSE_SIGNATURE], forgery)
  all.addUnusable('unusable-alone', 'It is the end without its signature.', JSON.stringify(members))
  return all.cases
}
