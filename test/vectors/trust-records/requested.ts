// Records by approvals of version 2: each is for the execution that one approval request asked for (decisions §7).
import {
  anApproval,
  approvable,
  approvedBeside,
  approvedBy,
  DECIDED,
  PARAMETERS,
  verified,
} from '../approvals.ts'
import type { Cases } from '../case.ts'
import { at, drop, put, textAt, type Json, type Members } from '../edit.ts'
import { CALLER, time, uuid } from '../evidence.ts'
import { canonical, humans, sha256, type Key } from '../keys.ts'

const FAILING = ['approvals']

/** The request of the execution that `approvable` is. */
export const asked: Members = {
  requestId: uuid('approval request'),
  requestedBy: CALLER,
  principalId: 'treasury',
  capability: 'sandbox:echo',
  target: 'invoice-1001',
  parameters: PARAMETERS,
  signals: { humanApproved: true, amount: 42 },
  policy: {
    name: textAt(approvable, `${DECIDED}.policy.name`),
    version: textAt(approvable, `${DECIDED}.policy.version`),
    contentHash: textAt(approvable, `${DECIDED}.policyContentHash`),
  },
  quorum: 1,
  note: 'Invoice 1001, due on Friday.',
  createdAt: time(-120_000),
  expiresAt: time(3_480_000),
}

/** An approval of version 2. */
function of(request: Members, due: Key = humans.dana, change: Members = {}): Members {
  return anApproval(due, { version: 2, requestHash: sha256(canonical(request)), ...change })
}

export function carrying(request: Json, approvals: Json): Members {
  return verified({ humanApproved: { value: true, by: 'approval', approvals, request } })
}

/** The record carries the very request that was signed. */
const under = (request: Members) => carrying(request, [of(request)])

export function requestedApprovals(all: Cases): void {
  const valid = (id: string, what: string, record: Members) => all.add(`requested-valid-${id}`, what, record)
  const fails = (id: string, what: string, record: Members) =>
    all.add(`requested-${id}`, what, record, FAILING)
  const two = { ...asked, quorum: 2 }
  valid('one', 'One human approved the request.', under(asked))
  fails(
    'behind',
    'Of two who approved the request, one is who asked.',
    approvedBeside(['erik'], [of(two), of(two, humans.erik)], { request: two }),
  )
  valid('quorum', 'Two humans approved a request for two.', carrying(two, [of(two), of(two, humans.erik)]))
  valid(
    'beside-version-1',
    'One of two approvals is of version 1.',
    carrying(two, [of(two), anApproval(humans.erik)]),
  )
  valid('without-note', 'The request has no note.', under({ ...asked, note: '' }))
  valid(
    'from-now',
    'It was asked for at the very instant of the decision.',
    under({ ...asked, createdAt: time(11) }),
  )
  valid(
    'until-after',
    'The request expires one millisecond after the decision.',
    under({ ...asked, expiresAt: time(12) }),
  )
  valid(
    'signal-filled-in',
    'The service filled in the verified signal.',
    under({ ...asked, signals: { amount: 42 } }),
  )

  reasoned(all)

  const others: [id: string, what: string, change: Members][] = [
    ['caller', 'Another caller asked for it.', { requestedBy: 'agent-8' }],
    ['principal', 'It was asked for in the name of another principal.', { principalId: 'sales' }],
    ['capability', 'Another capability was asked for.', { capability: 'vendor:pay' }],
    ['target', 'Another target was asked for.', { target: 'invoice-1002' }],
    ['parameters', 'Another amount was asked for.', { parameters: { ...PARAMETERS, amount: 41 } }],
    ['parameters-null', 'No parameters were asked for.', { parameters: null }],
    ['signal', 'A signal had another value.', { signals: { humanApproved: true, amount: 41 } }],
    ['signal-missing', 'A declared signal was not asked with.', { signals: { humanApproved: true } }],
    [
      'signal-more',
      'A signal was asked with that was not declared.',
      { signals: { humanApproved: true, amount: 42, urgent: true } },
    ],
    ['signals-null', 'Its signals are null.', { signals: null }],
    ['policy-name', 'It was asked for under another policy.', policyOf({ name: 'payments' })],
    ['policy-version', 'It was asked for under another version.', policyOf({ version: '1.0.1' })],
    ['policy-content', 'The policy had another content.', policyOf({ contentHash: sha256('another') })],
    ['policy-null', 'It was asked for under no policy.', { policy: null }],
    ['quorum', 'It asked for two approvals and has one.', { quorum: 2 }],
    ['quorum-text', 'Its quorum is a text.', { quorum: '1' }],
    ['quorum-boolean', 'Its quorum is a boolean.', { quorum: true }],
    ['later', 'It was asked for one millisecond after the decision.', { createdAt: time(12) }],
    ['expired', 'It expired at the very instant of the decision.', { expiresAt: time(11) }],
    ['never-expires', 'It never expires.', { expiresAt: null }],
    ['no-time', 'It was asked for at no time.', { createdAt: 'today' }],
  ]
  for (const [id, what, change] of others) fails(`other-${id}`, what, under({ ...asked, ...change }))
  for (const member of Object.keys(asked).filter((name) => name !== 'requestId' && name !== 'note'))
    fails(`without-${member}`, `The request has no ${member}.`, under(drop(asked, member)))
  foreign(fails)
}

/** Approvals of version 3, which say why. */
function reasoned(all: Cases): void {
  const by = (change: Members) => carrying(asked, [of(asked, humans.dana, { version: 3, ...change })])
  const valid: [id: string, what: string, change: Members][] = [
    ['reason', 'It says why.', { reason: 'Matches the invoice.' }],
    ['reason-none', 'It is of version 3 and does not say why.', {}],
    ['reason-longest', 'Its reason has 500 characters of two code units each.', { reason: '😀'.repeat(500) }],
    ['reason-hostile', 'Its reason has control characters.', { reason: 'Right\u202e\u0007\n\u001b[2J' }],
  ]
  for (const [id, what, change] of valid) all.add(`requested-valid-${id}`, what, by(change))
  const broken: [id: string, what: string, change: Members][] = [
    ['version-4', 'It is of a version after those that are known.', { version: 4 }],
    ['reason-version-2', 'It is of version 2 and has a reason.', { version: 2, reason: 'Right.' }],
    ['reason-empty', 'Its reason is empty.', { reason: '' }],
    ['reason-long', 'Its reason has 501 characters.', { reason: 'a'.repeat(501) }],
    ['reason-null', 'Its reason is null.', { reason: null }],
    ['reason-object', 'Its reason is an object.', { reason: { text: 'Right.' } }],
    ['reason-no-request', 'It names no request.', { reason: 'Right.', requestHash: null }],
  ]
  for (const [id, what, change] of broken) all.add(`requested-${id}`, what, by(change), FAILING)
  const said = of(asked, humans.dana, { version: 3, reason: 'Right.' })
  const changed: [id: string, what: string, approval: Members][] = [
    ['reason-changed', 'Its reason was changed after it was signed.', put(said, 'payload.reason', 'Wrong.')],
    ['reason-removed', 'Its reason was removed.', drop(said, 'payload.reason')],
    [
      'reason-added',
      'A reason was added.',
      put(of(asked, humans.dana, { version: 3 }), 'payload.reason', 'x'),
    ],
  ]
  for (const [id, what, approval] of changed)
    all.add(`requested-${id}`, what, carrying(asked, [approval]), FAILING)
  all.add('requested-reason-alone', 'The record carries no request.', approvedBy([said]), FAILING)
}

function policyOf(change: Members): Members {
  return { policy: { ...(asked['policy'] as Members), ...change } }
}

/** The approval and the request that the record carries are not of one another. */
function foreign(fails: (id: string, what: string, record: Members) => void): void {
  const again = { ...asked, requestId: uuid('another approval request') }
  fails('changed', 'The note was changed after it was signed.', carrying({ ...asked, note: '' }, [of(asked)]))
  fails(
    'member-more',
    'A member was added after it was signed.',
    carrying({ ...asked, more: 1 }, [of(asked)]),
  )
  fails('of-another', 'The approval is for an equal request made before.', carrying(again, [of(asked)]))
  fails(
    'second-of-another',
    'The second of two is for an equal request made before.',
    carrying(again, [of(again), of(asked, humans.erik)]),
  )
  fails('missing', 'The record carries no request.', approvedBy([of(asked)]))
  fails('null', 'The request is null.', carrying(null, [of(asked)]))
  fails('list', 'The request is a list.', carrying([asked], [of(asked)]))
  fails('unused', 'The only approval is of version 1.', carrying(asked, [anApproval()]))
  fails(
    'hash-null',
    'The approval names no request, and the record carries none.',
    approvedBy([of(asked, humans.dana, { requestHash: null })]),
  )
  fails(
    'hash-upper-case',
    'The approval names its request in upper case.',
    carrying(asked, [of(asked, humans.dana, { requestHash: sha256(canonical(asked)).toUpperCase() })]),
  )
  fails(
    'limits',
    'The approval names a request, and covers less than the parameters.',
    carrying(asked, [of(asked, humans.dana, { scope: { limits: [{ path: 'amount', max: 41 }] } })]),
  )
  fails(
    'approval-expired',
    'The request is open, and the approval was expired.',
    carrying(asked, [of(asked, humans.dana, { expiresAt: time(11) })]),
  )
  fails(
    'signature-of-version-1',
    'The signature is that of an approval of version 1.',
    carrying(asked, [put(of(asked), 'signature', at(anApproval(), 'signature'))]),
  )
  fails(
    'unclaimed',
    'A signal declared true by nothing carries a request.',
    verified({ amount: { value: 42, by: 'history', request: asked } }),
  )
}
