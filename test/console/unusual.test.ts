// What an approver is told to look at twice, and the order of what waits for them: pure functions, without a browser.
import { expect, test } from 'vitest'
import type { ApprovalRequest } from '../../src/formats/schemas/approval-request.ts'
import { merged, placeIn } from '../../src/console/queue.ts'
import { shownMoney, shownSummary, shownValue } from '../../src/console/text.ts'
import {
  amountsOnTarget,
  asOf,
  chipsOf,
  decidedAt,
  odditiesOf,
  targetOdditiesOf,
} from '../../src/console/unusual.ts'

let made = 0
const aRequest = (
  parameters: object,
  {
    target = 'vendor-1',
    quorum = 1,
    ...standing
  }: Partial<ApprovalRequest> & { target?: string; quorum?: number } = {},
) =>
  ({
    request: { requestId: `request-${made++}`, capability: 'vendor:pay', target, parameters, quorum },
    status: 'PENDING',
    missing: quorum,
    ...standing,
  }) as unknown as ApprovalRequest
const eur = (amount: number, target = 'vendor-1') => ({ target, parameters: { amount, currency: 'EUR' } })
const textsOf = (...given: Parameters<typeof odditiesOf>) =>
  odditiesOf(...given).map(({ text, said }) => (said === undefined ? text : `${text} ${said}`))

test.each<[string, object, readonly ReturnType<typeof eur>[], readonly string[]]>([
  ['as before', { amount: 10, currency: 'EUR' }, [eur(10)], []],
  ['nothing before', { amount: 10, currency: 'EUR' }, [], ['First time on this target by this caller']],
  [
    'another target',
    { amount: 1, currency: 'EUR' },
    [eur(9, 'other')],
    ['First time on this target by this caller'],
  ],
  ['a little more', { amount: 10.5, currency: 'EUR' }, [eur(10)], ['Higher than any before (10): amount']],
  [
    'much more',
    { amount: 84_000, currency: 'EUR' },
    [eur(1_910), eur(3)],
    ['44 times the highest before (1,910): amount'],
  ],
  ['another currency', { amount: 1, currency: 'JPY' }, [eur(10)], ['First time in this currency: JPY']],
  [
    'after nothing but zero',
    { amount: 5, currency: 'EUR' },
    [eur(0)],
    ['Higher than any before (0): amount'],
  ],
])('compared with what was done: %s', (_title, parameters, done, expected) => {
  expect(textsOf(aRequest(parameters), done, [])).toEqual(expected)
})

test('other requests for the same target are pointed at, and what is over is not', () => {
  const asked = aRequest({ amount: 10 })
  const done = [{ target: 'vendor-1', parameters: { amount: 10 } }]
  const declined = { status: 'DECLINED', closed: { status: 'DECLINED', reason: 'Not ours.' } } as object
  const same = aRequest({ amount: 10 })
  const more = aRequest({ amount: 11 })
  expect(textsOf(asked, done, [asked, same])).toEqual(['Another open request asks for exactly the same'])
  expect(textsOf(asked, done, [more])).toEqual(['1 other open request for this target'])
  expect(textsOf(asked, done, [aRequest({ amount: 10 }, { target: 'vendor-2' })])).toEqual([])
  expect(textsOf(asked, done, [aRequest({ amount: 10 }, { status: 'EXPIRED' })])).toEqual([])
  expect(textsOf(asked, done, [aRequest({ amount: 9 }, declined)])).toEqual([
    '1 request for this target declined, the newest because: Not ours.',
  ])
  expect(chipsOf(asked, [asked, same])).toEqual(['same as another open one'])
  expect(chipsOf(aRequest({}, { quorum: 2, missing: 1 }), [])).toEqual(['1 of 2 signed'])
  const usual = [{ currency: 'EUR', count: 3, highest: 200 }]
  const chips = (money?: { amount: number; currency: string }, known: object = { usual }) =>
    chipsOf(aRequest({}, known), [], money)
  expect(chips({ amount: 800, currency: 'EUR' })).toEqual(['4.0 times the highest on this target'])
  expect(chips({ amount: 210, currency: 'EUR' })).toEqual(['Higher than any on this target'])
  expect(chips({ amount: 200, currency: 'EUR' })).toEqual([])
  expect(chips({ amount: 1, currency: 'JPY' })).toEqual(['first time on this target'])
  // Without a catalogue, or an amount, nothing is known.
  expect([chips({ amount: 800, currency: 'EUR' }, {}), chips()]).toEqual([[], []])
})

test('what was decided keeps its place in the queue, and what was skipped comes at last', () => {
  const ids = merged(['a', 'b', 'c'], ['c', 'd', 'a'])
  expect(ids).toEqual(['a', 'b', 'c', 'd'])
  const waiting = new Set(['a', 'c', 'd'])
  expect(placeIn(ids, 'b', waiting)).toEqual({ at: 2, of: 4, next: 'c', previous: 'a' })
  expect(placeIn(ids, 'd', waiting)).toEqual({ at: 4, of: 4, next: 'a', previous: 'c' })
  expect(placeIn(ids, 'a', new Set(['a']))).toEqual({ at: 1, of: 4, next: undefined, previous: undefined })
  expect(placeIn(ids, 'x', waiting)).toBeUndefined()
})

test('values within a sentence: one word as it is, anything else in quotation marks', () => {
  expect([84_250.75, 'vendor-44', 'Acme. Approved by dana', '', true, undefined].map(shownValue)).toEqual([
    '84,250.75',
    'vendor-44',
    '"Acme. Approved by dana"',
    '""',
    'true',
    '(not given)',
  ])
  expect([shownMoney(980.5, 'EUR'), shownMoney(1_200, undefined)]).toEqual(['980.50 EUR', '1,200'])
})

const moneyOf = ({ request }: ApprovalRequest) => ({
  amount: request.parameters['amount'] as number,
  currency: 'EUR',
})
const executed = (amount: number, status: string, currency = 'EUR') => ({
  businessTransactionId: `execution-${amount}`,
  amount,
  status,
  currency,
})

test('the amounts on a target are those of anybody: done, open and declined, in the currency that is asked for', () => {
  const asked = aRequest({ amount: 900 })
  const others = [
    aRequest({ amount: 70 }),
    aRequest({ amount: 80 }, { status: 'DECLINED' }),
    aRequest({ amount: 90 }, { status: 'EXPIRED' }),
    aRequest({ amount: 95 }, { target: 'vendor-2' }),
  ]
  const executions = [
    executed(10, 'completed'),
    executed(20, 'in_doubt'),
    executed(30, 'refused'),
    executed(40, 'failed'),
    executed(50, 'completed', 'JPY'),
  ]
  const past = amountsOnTarget(asked, executions, [asked, ...others], moneyOf)
  expect(past.map(({ amount, how }) => `${amount} ${how}`)).toEqual([
    '10 done',
    '20 done',
    '70 open',
    '80 declined',
  ])
  const textOf = (amount: number, of = past) => targetOdditiesOf(amount, of).map(({ text }) => text)
  expect(textOf(900)).toEqual(['45 times the highest that anybody had on this target (20)'])
  expect(textOf(21)).toEqual(['Higher than any that anybody had on this target (20)'])
  expect(textOf(20)).toEqual([])
  expect(textOf(1, past.slice(2))).toEqual(['Nobody has done this on this target before, in this currency'])
})

const on = (day: number) => `2026-11-${day}T10:00:00.000Z`
const askedOn = (day: number, standing: object) =>
  ({ request: { requestId: `asked-${day}`, createdAt: on(day) }, ...standing }) as unknown as ApprovalRequest
const declinedOn = (day: number) => ({
  status: 'DECLINED',
  closed: { status: 'DECLINED', closedAt: on(day) },
})

test('a request that is over is compared with what there was when it was decided', () => {
  const used = askedOn(10, { status: 'USED', approvals: [{ approvedAt: on(12) }, { approvedAt: on(14) }] })
  expect([decidedAt(used), decidedAt(askedOn(10, { status: 'PENDING' }))]).toEqual([on(14), undefined])
  const stood = asOf(
    [
      askedOn(9, declinedOn(11)),
      askedOn(11, declinedOn(20)),
      askedOn(13, { status: 'EXPIRED', expiresAt: on(15) }),
      askedOn(15, { status: 'PENDING' }),
    ],
    on(14),
  )
  expect(stood.map(({ request, status }) => [request.requestId, status])).toEqual([
    ['asked-9', 'DECLINED'],
    ['asked-11', 'PENDING'],
    ['asked-13', 'PENDING'],
  ])
})

test('other requests that are fully signed are not counted as open, and say that they may still be used', () => {
  const asked = aRequest({ amount: 10 })
  const [open, signed] = [aRequest({ amount: 11 }), aRequest({ amount: 12 }, { status: 'APPROVED' })]
  expect(textsOf(asked, [{ target: 'vendor-1', parameters: { amount: 10 } }], [open, signed])).toEqual([
    '1 other open request for this target',
    '1 other request for this target signed and not used yet',
  ])
})

test('the amount in a sentence of the catalogue is written as everywhere, and a name of the same digits is left alone', () => {
  expect(shownSummary('Pay 26246.75 EUR to 26246.75', 26_246.75)).toBe('Pay 26,246.75 EUR to 26246.75')
  expect(shownSummary('Pay "1234 EUR" of 1234', 1_234)).toBe('Pay "1234 EUR" of 1,234')
  expect(shownSummary('Release order-1234', 1_234)).toBe('Release order-1234')
  expect(shownSummary('Send 1234', undefined)).toBe('Send 1234')
})
