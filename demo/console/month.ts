// The story of the demo's month: what happens when. It touches nothing, and one seed gives one story; `fill.ts` has it happen.
import { chanceOf, type Chance } from './chance.ts'
import {
  aDatabaseChange,
  aHopelessPayment,
  aLargeRefund,
  anAccess,
  aPaymentToApprove,
  aRefund,
  aRelease,
  aSmokeTest,
  aToolCall,
  type Action,
} from './actions.ts'
import type { HumanName } from './people.ts'

export type Happening =
  | { readonly kind: 'execute'; readonly action: Action }
  /** A request for approval, which later happenings name by its number. */
  | {
      readonly kind: 'ask'
      readonly ask: number
      readonly action: Action
      readonly note: string
      readonly expiresInSeconds: number
    }
  | { readonly kind: 'sign'; readonly ask: number; readonly by: HumanName }
  | { readonly kind: 'decline'; readonly ask: number; readonly by: HumanName; readonly reason: string }
  | { readonly kind: 'withdraw'; readonly ask: number }
  /** What was asked for is executed; `outcome`: how the connector answers. */
  | { readonly kind: 'use'; readonly ask: number; readonly outcome: Outcome }
  /** A human has asked the bank, and signs that nothing was paid. */
  | { readonly kind: 'close'; readonly ask: number; readonly by: HumanName }
  | { readonly kind: 'deliver'; readonly ask: number; readonly event: string; readonly amount?: number }
  | { readonly kind: 'change'; readonly change: ChangeName }

/** `unknown`: it never says, and the execution is in doubt. */
export type Outcome = 'done' | 'failed' | 'unknown'

/** `changes.ts` has what each of them proposes. */
export type ChangeName =
  | 'refund-3.0.0'
  | 'tool-call-3.0.0'
  | 'payment-3.0.0'
  | 'looser-refund'
  | 'revoke-frank'
  | 'healthy-endpoint'
  | 'failing-endpoint'
  | 'refund-3.1.0'
  | 'enrol-hank'

export interface Moment {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly happening: Happening
}

export interface MonthSize {
  readonly executions: number
  readonly requests: number
  readonly days: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The day of a month of thirty on which the version of payments ends. */
const PAYMENT_VERSION_ENDS = 17.5
/** A request is over within so long, or waits until the end of the month. */
const REQUEST_MS = 8 * HOUR_MS

/** @returns the moments between the begin of the month and `endMs`, the earliest first */
export function monthOf({ seed, endMs, size }: { seed: number; endMs: number; size: MonthSize }): Moment[] {
  const chance = chanceOf(seed)
  const startMs = endMs - size.days * DAY_MS
  const share = (days: number) => startMs + (size.days * DAY_MS * days) / 30
  const executions = Array.from({ length: size.executions }, (): Moment => ({
    at: workTime(chance, startMs, endMs),
    happening: { kind: 'execute', action: anAction(chance) },
  }))
  const requests = Array.from({ length: size.requests }, (_, ask) =>
    requestOf(ask, {
      chance,
      startMs,
      endMs,
      last: ask >= size.requests * 0.8,
      versionEndsMs: share(PAYMENT_VERSION_ENDS),
    }),
  )
  const changes: readonly (readonly [days: number, change: ChangeName])[] = [
    [0.4, 'healthy-endpoint'],
    [7.3, 'refund-3.0.0'],
    [9.6, 'tool-call-3.0.0'],
    [14.4, 'looser-refund'],
    [PAYMENT_VERSION_ENDS, 'payment-3.0.0'],
    [21.4, 'revoke-frank'],
    [29.3, 'failing-endpoint'],
    [29.92, 'refund-3.1.0'],
    [29.95, 'enrol-hank'],
  ]
  // Its policy version is retired while it waits.
  const ended: Moment = {
    at: share(7.3) - HOUR_MS / 4,
    happening: {
      kind: 'ask',
      ask: size.requests,
      action: aLargeRefund(chance),
      note: 'The whole order came back.',
      expiresInSeconds: 6 * 3_600,
    },
  }
  return [
    ...executions,
    ...requests.flat(),
    ended,
    ...changes.map(([days, change]): Moment => ({ at: share(days), happening: { kind: 'change', change } })),
  ].toSorted((a, b) => a.at - b.at)
}

/** By how many of a hundred executions are of a kind. */
const KINDS: readonly (readonly [share: number, make: (chance: Chance) => Action])[] = [
  [40, aRefund],
  [34, aToolCall],
  [8, anAccess],
  [7, aDatabaseChange],
  [7, aSmokeTest],
  [2.5, aHopelessPayment],
  [1.5, aRelease],
]

function anAction(chance: Chance): Action {
  let left = chance.next() * 100
  for (const [share, make] of KINDS) {
    left -= share
    if (left < 0) return make(chance)
  }
  return aRefund(chance)
}

/** More by day than by night, and less at weekends. */
function workTime(chance: Chance, fromMs: number, toMs: number): number {
  for (;;) {
    const ms = Math.floor(fromMs + chance.next() * (toMs - fromMs))
    const date = new Date(ms)
    const hour = date.getUTCHours() + date.getUTCMinutes() / 60
    const ofDay = 0.12 + 0.88 * Math.max(0, Math.sin(((hour - 5.5) / 13) * Math.PI))
    const ofWeek = [0, 6].includes(date.getUTCDay()) ? 0.35 : 1
    if (chance.happens(ofDay * ofWeek)) return ms
  }
}

const NOTES = [
  'Invoice checked against the order.',
  'Second half of the order, due on Friday.',
  'The vendor has asked twice.',
  '',
] as const
const DECLINES = [
  'The invoice is not in our books.',
  'The bank details changed yesterday; ask the vendor by telephone.',
  'Paid last week already.',
] as const

interface Asking {
  readonly chance: Chance
  readonly startMs: number
  readonly endMs: number
  /** Of the last hours: most of them still wait. */
  readonly last: boolean
  /** A request that is open then ends with the version that it names. */
  readonly versionEndsMs: number
}

/** How requests end, by their number, so that each end is there however few there are. */
const ENDS = [
  'used',
  'used',
  'declined',
  'used',
  'expired',
  'used',
  'closed',
  'withdrawn',
  'used',
  'used',
] as const
/** The newest ones. */
const OPEN = ['approved', 'unknown', 'pending', 'pending', 'pending', 'pending'] as const

function requestOf(ask: number, { chance, startMs, endMs, last, versionEndsMs }: Asking): Moment[] {
  const end = last ? OPEN[ask % OPEN.length]! : ENDS[ask % ENDS.length]!
  const wishedMs = last
    ? endMs - chance.whole(10, 170) * 60_000
    : workTime(chance, startMs + DAY_MS / 4, Math.max(startMs + DAY_MS / 2, endMs - DAY_MS))
  const endsOpen = wishedMs < versionEndsMs && wishedMs + REQUEST_MS > versionEndsMs
  const openedMs = endsOpen ? wishedMs + REQUEST_MS : wishedMs
  const afterMinutes = (from: number, to: number) => openedMs + chance.whole(from * 60, to * 60) * 1000
  const action = aPaymentToApprove(chance, ask)
  const asked: Moment = {
    at: openedMs,
    happening: {
      kind: 'ask',
      ask,
      action,
      note: chance.pick(NOTES),
      expiresInSeconds: end === 'expired' ? 3_600 : last ? chance.whole(5, 12) * 3_600 : 6 * 3_600,
    },
  }
  const by = chance.pick(['dana', 'dana', 'erin'] as const)
  const signed: Moment = { at: afterMinutes(2, 60), happening: { kind: 'sign', ask, by } }
  const soon = (moment: Moment, seconds: number) => moment.at + seconds * 1000
  if (end === 'pending' || end === 'expired') return [asked]
  if (end === 'approved') return [asked, { ...signed, at: Math.min(signed.at, endMs - 60_000) }]
  if (end === 'withdrawn') return [asked, { at: afterMinutes(5, 40), happening: { kind: 'withdraw', ask } }]
  if (end === 'declined')
    return [
      asked,
      { at: afterMinutes(3, 90), happening: { kind: 'decline', ask, by, reason: chance.pick(DECLINES) } },
    ]
  if (end === 'unknown' || end === 'closed') {
    const early = { ...signed, at: openedMs + 120_000 }
    const doubtful: Moment = { at: soon(early, 30), happening: { kind: 'use', ask, outcome: 'unknown' } }
    const closed: Moment = { at: soon(early, 5_400), happening: { kind: 'close', ask, by: 'dana' } }
    return end === 'closed' ? [asked, early, doubtful, closed] : [asked, early, doubtful]
  }
  const used: Moment = {
    at: soon(signed, chance.whole(5, 90)),
    happening: { kind: 'use', ask, outcome: ask % 20 === 3 ? 'failed' : 'done' },
  }
  const settled: Moment = {
    at: soon(used, chance.whole(600, 7_200)),
    happening: { kind: 'deliver', ask, event: 'payment.settled', ...(ask % 20 === 8 ? { amount: 1 } : {}) },
  }
  return ask % 20 === 3 ? [asked, signed, used] : [asked, signed, used, settled]
}
