// The arithmetic of a lease: how much is asked for, how long it is kept and what is given back (interface §8 rule 3).
import { describe, expect, test } from 'vitest'
import {
  countAlone,
  endLease,
  isOver,
  isRunningOut,
  newHolding,
  permitsWanted,
  takeLease,
  usePermit,
  type Holding,
} from '../../src/server/http/lease.ts'
import type { Limit } from '../../src/server/http/limit.ts'

const limit = (perMinute: number): Limit => ({ name: 'execute', perMinute })

/** Granted in full at `at`, of a budget that is spent `spent` permits ahead after it. */
function lease(
  holding: Holding,
  of: Limit,
  { permits = 10, at = 0, spent = permits }: { permits?: number; at?: number; spent?: number } = {},
): number {
  const levelMs = (spent * 60_000) / of.perMinute
  return takeLease(holding, of, { wanted: permits, granted: permits, levelMs, askedMs: at }, at)
}

function useAll(holding: Holding, of: Limit, at: number): number {
  let used = 0
  while (usePermit(holding, of, at)?.allowed) used++
  return used
}

describe('how much is asked for', () => {
  test('a hundredth of the minute first, at least one; as many as wait; never more than the minute', () => {
    const asked = ([600, 7] as const).map((perMinute) =>
      [0, 1, 50].map((waiting) => permitsWanted(newHolding(limit(perMinute)), limit(perMinute), waiting, 0)),
    )
    expect(asked).toEqual([
      [6, 6, 50],
      [1, 1, 7],
    ])
  })

  test('doubled each time a lease is used up within a second, up to a tenth of the minute', () => {
    const of = limit(6_000)
    const holding = newHolding(of)
    const sizes = [0, 100, 200, 300, 400, 500, 600].map((at) => {
      lease(holding, of, { permits: holding.size, at })
      useAll(holding, of, at)
      return holding.size
    })
    expect(sizes).toEqual([60, 120, 240, 480, 600, 600, 600])
  })

  test('twice what was used of a lease that ended with some left', () => {
    const of = limit(6_000)
    const holding = newHolding(of)
    lease(holding, of, { permits: 60 })
    for (let i = 0; i < 5; i++) usePermit(holding, of, 100)
    endLease(holding, of, 1_500)
    expect(holding.size).toBe(10)
  })

  test('an eighth of what is left: the last permits one by one', () => {
    const of = limit(600)
    const wantedAt = (spent: number) => {
      const holding = newHolding(of)
      lease(holding, of, { permits: 6, spent })
      return permitsWanted(holding, of, 1, 0)
    }
    expect([wantedAt(6), wantedAt(560), wantedAt(584), wantedAt(595), wantedAt(600)]).toEqual([6, 5, 2, 1, 1])
  })
})

test('a lease is used without asking, permit by permit, and what is left of it counts as not spent', () => {
  const of = limit(600)
  const holding = newHolding(of)
  expect(usePermit(holding, of, 0)).toBeUndefined()
  lease(holding, of, { permits: 3, spent: 103 })
  const verdicts = [1, 2, 3].map(() => usePermit(holding, of, 0))
  expect(verdicts.map((verdict) => verdict?.remaining)).toEqual([499, 498, 497])
  expect(verdicts[0]).toEqual({ allowed: true, remaining: 499, resetSeconds: 11, retryAfterSeconds: 0 })
  expect(usePermit(holding, of, 0)).toBeUndefined()
})

test('a refusal holds until a permit has come about, but never more than a second', () => {
  for (const [perMinute, untilMs] of [
    [600, 100],
    [6_000_000, 10],
    [1, 1_000],
  ] as const) {
    const of = limit(perMinute)
    const holding = newHolding(of)
    takeLease(holding, of, { wanted: 1, granted: 0, levelMs: 60_000, askedMs: 0 }, 0)
    expect(usePermit(holding, of, untilMs - 1)).toMatchObject({ allowed: false, remaining: 0 })
    expect(usePermit(holding, of, untilMs)).toBeUndefined()
  }
})

describe('a lease is renewed before it runs out', () => {
  test('when a quarter is left', () => {
    const of = limit(600)
    const holding = newHolding(of)
    lease(holding, of, { permits: 8 })
    const running = Array.from({ length: 8 }, () => {
      usePermit(holding, of, 0)
      return isRunningOut(holding, 0)
    })
    expect(running).toEqual([false, false, false, false, false, true, true, false])
  })

  test('at an age of a second and a half, not while the budget is known to be spent', () => {
    const of = limit(600)
    const holding = newHolding(of)
    lease(holding, of)
    expect([isRunningOut(holding, 1_499), isRunningOut(holding, 1_500)]).toEqual([false, true])
    takeLease(holding, of, { wanted: 1, granted: 0, levelMs: 60_000, askedMs: 1_500 }, 1_500)
    expect([isRunningOut(holding, 1_599), isRunningOut(holding, 1_600)]).toEqual([false, true])
  })

  test('the old one is used up first where little is left of it, given back otherwise', () => {
    const of = limit(600)
    const little = newHolding(of)
    lease(little, of, { permits: 8, spent: 300 })
    for (let i = 0; i < 6; i++) usePermit(little, of, 0)
    expect(lease(little, of, { permits: 8, spent: 308 })).toBe(0)
    expect(little.left).toBe(10)

    const much = newHolding(of)
    lease(much, of, { permits: 8, spent: 300 })
    usePermit(much, of, 0)
    expect(lease(much, of, { permits: 8, at: 1_500, spent: 300 })).toBe(7)
    expect(much.left).toBe(8)
  })
})

test('a lease is over after two seconds, or one without a request', () => {
  const of = limit(600)
  const holding = newHolding(of)
  lease(holding, of)
  usePermit(holding, of, 0)
  expect([isOver(holding, 999), isOver(holding, 1_000)]).toEqual([false, true])
  usePermit(holding, of, 1_500)
  expect([isOver(holding, 1_999), isOver(holding, 2_000)]).toEqual([false, true])
})

describe('without the database', () => {
  const of = limit(600)

  test('requests are counted on from what was last known: all of the budget where nothing was', () => {
    const allowed = (holding: Holding) =>
      Array.from({ length: 700 }, () => countAlone(holding, of, 0)).filter((verdict) => verdict.allowed)
    const known = newHolding(of)
    lease(known, of, { permits: 6, spent: 500 })
    useAll(known, of, 0)
    expect([allowed(newHolding(of)).length, allowed(known).length]).toEqual([600, 100])
  })

  test('what was let through is paid when it is back, but for what has passed by then', () => {
    const holding = newHolding(of)
    for (let i = 0; i < 20; i++) countAlone(holding, of, 0)
    expect(permitsWanted(holding, of, 1, 500)).toBe(6 + 15)
    lease(holding, of, { permits: 21, at: 500 })
    expect(useAll(holding, of, 500)).toBe(6)
    expect(permitsWanted(holding, of, 1, 500)).toBe(6)
  })

  test('an answer that comes too late pays first', () => {
    const holding = newHolding(of)
    for (let i = 0; i < 4; i++) countAlone(holding, of, 0)
    lease(holding, of, { permits: 3 })
    expect(usePermit(holding, of, 0)).toBeUndefined()
    expect(permitsWanted(holding, of, 0, 0)).toBe(6 + 1)
  })
})

/** Of ten permits, six of them unused. in  spent  how far ahead the budget was spent, in permits */
const backAfter = (ms: number, spent: number) => {
  const of = limit(600)
  const holding = newHolding(of)
  lease(holding, of, { permits: 10, spent })
  for (let i = 0; i < 4; i++) usePermit(holding, of, 0)
  const back = endLease(holding, of, ms)
  expect(usePermit(holding, of, ms)).toBeUndefined()
  return back
}

describe('what is given back', () => {
  test('is all that was not used, where the budget is spent far ahead', () => {
    expect(backAfter(1_000, 600)).toBe(6)
  })

  test('is nothing where the intervals of the lease have passed: the budget has them back', () => {
    expect(backAfter(1_000, 10)).toBe(0)
  })

  test('is what has not passed in between', () => {
    expect(backAfter(750, 10)).toBe(2)
  })
})
