// Warnings that tell an approver to look twice, and the order of waiting requests: pure functions, without a browser.
import { expect, test } from 'vitest'
import type { ApprovalRequest, Compared } from '../../src/formats/schemas/approval-request.ts'
import { merged, placeIn } from '../../src/console/queue.ts'
import { shownMoney, shownSummary, shownValue } from '../../src/console/text.ts'
import {
  amountsOnTarget,
  asOf,
  decidedAt,
  higherThanBefore,
  odditiesOf,
  signedText,
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
const NOTHING = { same: 0, pending: 0, approved: 0, declined: 0 }
const done = (highest: number | null, currency: string | null = 'EUR', byCaller = 1) =>
  ({ status: 'completed', currency, count: 2, highest, byCaller }) as const
const doubt = (highest: number | null, count = 1) =>
  ({ status: 'in_doubt', currency: 'EUR', count, highest, byCaller: 0 }) as const
const known = { onTarget: [done(200)], byCaller: [{ currency: 'EUR', count: 9, highest: 1_910 }] }

test.each<[string, Partial<Compared>, { amount: number; currency: string } | undefined, readonly string[]]>([
  ['as before', known, { amount: 200, currency: 'EUR' }, []],
  ['nothing before', { onTarget: [] }, undefined, ['First time on this target, by anybody']],
  [
    'by others alone',
    { onTarget: [done(200, 'EUR', 0)] },
    undefined,
    ['First time on this target by this caller'],
  ],
  [
    'a little more',
    known,
    { amount: 210, currency: 'EUR' },
    ['Higher than any that anybody had on this target (200 EUR)'],
  ],
  [
    'more than anybody, on the target and of the caller',
    known,
    { amount: 84_040, currency: 'EUR' },
    [
      '420 times the highest that anybody had on this target (200 EUR)',
      '44 times the highest of this caller (1,910 EUR)',
    ],
  ],
  [
    'another currency',
    known,
    { amount: 1, currency: 'JPY' },
    ['Nobody has done this on this target in JPY before', 'First time in JPY by this caller'],
  ],
  [
    'a doubt, which is no execution that happened, first of all',
    { onTarget: [doubt(4_258.27)], requests: { ...NOTHING, pending: 1 } },
    { amount: 1, currency: 'EUR' },
    [
      '1 execution on this target is in doubt (4,258.27 EUR): it may have happened',
      'First time on this target, by anybody',
      '1 other open request for this target',
    ],
  ],
  [
    'the same elsewhere',
    {
      ...known,
      elsewhere: [
        { target: 'vendor-24', status: 'APPROVED', requestId: 'r', shared: ['INV-2026-923'] },
        { target: 'vendor-25', status: 'in_doubt', businessTransactionId: 'e', shared: ['INV-2026-923'] },
      ],
    },
    { amount: 81, currency: 'EUR' },
    [
      'The same (81 EUR, INV-2026-923) was asked for on vendor-24, signed',
      'The same (81 EUR, INV-2026-923) was released on vendor-25, in doubt',
    ],
  ],
  [
    'other requests',
    { ...known, requests: { same: 0, pending: 1, approved: 2, declined: 1, declinedBecause: 'Not ours.' } },
    undefined,
    [
      '1 other open request for this target',
      '2 other requests for this target signed and not used yet',
      '1 request for this target declined, the newest because: Not ours.',
    ],
  ],
  [
    'the same one',
    { ...known, requests: { ...NOTHING, same: 1, pending: 1 } },
    undefined,
    ['Another open request asks for exactly the same'],
  ],
])('what stands out: %s', (_title, compared, money, expected) => {
  const asked = aRequest({}, { compared: { requests: NOTHING, elsewhere: [], ...compared } })
  expect(
    odditiesOf(asked, money).map(({ text, said }) => (said === undefined ? text : `${text} ${said}`)),
  ).toEqual(expected)
})

test('without a catalogue nothing is said of executions; other numbers of a request are compared with the records', () => {
  const asked = aRequest({}, { compared: { requests: NOTHING, elsewhere: [] } })
  expect(odditiesOf(asked, { amount: 800, currency: 'EUR' })).toEqual([])
  const before = [{ target: 'vendor-1', parameters: { quantity: 10 } }]
  expect(higherThanBefore({ quantity: 440 }, before)).toEqual([
    { text: '44 times the highest before (10):', said: 'quantity' },
  ])
  expect(higherThanBefore({ quantity: 10 }, before)).toEqual([])
})

test('who has signed names the groups that the others must be of', () => {
  const signal = { signal: 'approved', approvedBy: [], eligible: [] }
  const byTwo = (signals: object[], missing = 2) =>
    signedText(aRequest({}, { quorum: 2, missing, signals } as unknown as Partial<ApprovalRequest>))
  expect(signedText(aRequest({}))).toBeUndefined()
  expect(byTwo([{ ...signal, quorum: 2 }], 1)).toBe('1 of 2 signed')
  const director = { ...signal, quorum: 1, from: ['directors'] }
  expect(byTwo([{ ...signal, quorum: 1 }, director])).toBe('0 of 2 signed, one of directors')
  expect(byTwo([{ ...director, approvedBy: ['erin'] }], 1)).toBe('1 of 2 signed')
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

test('the amounts on a target are those of anybody: done, in doubt, open and declined, in the currency that is asked for', () => {
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
    '20 doubt',
    '70 open',
    '80 declined',
  ])
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

test('the amount in a sentence of the catalogue is written as everywhere, and a name of the same digits is left alone', () => {
  expect(shownSummary('Pay 26246.75 EUR to 26246.75', 26_246.75)).toBe('Pay 26,246.75 EUR to 26246.75')
  expect(shownSummary('Pay "1234 EUR" of 1234', 1_234)).toBe('Pay "1234 EUR" of 1,234')
  expect(shownSummary('Release order-1234', 1_234)).toBe('Release order-1234')
  expect(shownSummary('Send 1234', undefined)).toBe('Send 1234')
  // Other words may follow.
  expect(shownSummary('Pay 7620.6 GBP for INV-2026-280.', 7_620.6)).toBe('Pay 7,620.60 GBP for INV-2026-280')
})
