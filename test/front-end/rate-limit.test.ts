import { describe, expect, test } from 'vitest'
import {
  limitHeaders,
  openBudgets,
  openMemoryLimits,
  openTats,
  type Limit,
} from '../../src/core/concurrency/rate-limit.ts'

const limit = (perMinute: number, name = 'execute'): Limit => ({ name, perMinute })

/** How many of `count` requests that come at once are allowed. */
function allowedAtOnce(take: (at: number) => { allowed: boolean }, at: number, count: number): number {
  return Array.from({ length: count }, () => take(at)).filter(({ allowed }) => allowed).length
}

describe.each([1, 2, 7, 600, 6_001])('%i a minute', (perMinute) => {
  const tries = perMinute * 2 + 2

  test('lets a whole minute through at once, and no more', () => {
    const limits = openMemoryLimits()
    const take = (at: number) => limits.take(limit(perMinute), 'a', at)
    expect(allowedAtOnce(take, 123.456, tries)).toBe(perMinute)
  })

  test('after a burst lets one through each time its share of the minute has passed', () => {
    const limits = openMemoryLimits()
    const take = (at: number) => limits.take(limit(perMinute), 'a', at)
    // Far from 0, where the sums are less exact, as on a machine that has been up for months.
    const start = 1e10
    for (let i = 0; i < perMinute; i++) take(start)
    const intervalMs = 60_000 / perMinute
    for (let i = 1; i <= 10; i++) {
      expect(take(start + (i - 0.1) * intervalMs).allowed).toBe(false)
      expect(take(start + (i + 0.1) * intervalMs).allowed).toBe(true)
    }
  })

  test('never lets more through in any minute than two: its burst and its rate', () => {
    const limits = openMemoryLimits()
    let allowed = 0
    for (let i = 0; i < tries; i++)
      if (limits.take(limit(perMinute), 'a', (i * 60_000) / tries).allowed) allowed++
    expect(allowed).toBeLessThanOrEqual(perMinute * 2)
    expect(allowed).toBeGreaterThanOrEqual(perMinute)
  })

  test('after a quiet minute the whole burst is there again', () => {
    const limits = openMemoryLimits()
    const take = (at: number) => limits.take(limit(perMinute), 'a', at)
    allowedAtOnce(take, 0, tries)
    expect(allowedAtOnce(take, 60_000, tries)).toBe(perMinute)
  })
})

test('a verdict says what is left, when all is back and when to come again', () => {
  const limits = openMemoryLimits()
  const take = (at: number) => limits.take(limit(3), 'a', at)
  expect(take(0)).toEqual({ allowed: true, remaining: 2, resetSeconds: 20, retryAfterSeconds: 0 })
  expect(take(0)).toEqual({ allowed: true, remaining: 1, resetSeconds: 40, retryAfterSeconds: 0 })
  expect(take(0)).toEqual({ allowed: true, remaining: 0, resetSeconds: 60, retryAfterSeconds: 0 })
  expect(take(0)).toEqual({ allowed: false, remaining: 0, resetSeconds: 60, retryAfterSeconds: 20 })
  expect(take(19_500)).toMatchObject({ allowed: false, retryAfterSeconds: 1 })
  expect(take(20_000)).toMatchObject({ allowed: true, remaining: 0 })
})

test('who comes again after retryAfterSeconds is let through, however odd the rate', () => {
  for (const perMinute of [1, 7, 11, 59, 61, 997]) {
    const limits = openMemoryLimits()
    const take = (at: number) => limits.take(limit(perMinute), 'a', at)
    let verdict = take(0.1)
    while (verdict.allowed) verdict = take(0.1)
    expect(take(0.1 + verdict.retryAfterSeconds * 1000).allowed).toBe(true)
  }
})

test('refused requests cost nothing: a caller that keeps trying is not shut out for longer', () => {
  const limits = openMemoryLimits()
  const take = (at: number) => limits.take(limit(1), 'a', at)
  take(0)
  for (let at = 1; at < 60_000; at += 100) expect(take(at).allowed).toBe(false)
  expect(take(60_000).allowed).toBe(true)
})

test('keys and limits are counted apart', () => {
  const limits = openMemoryLimits()
  for (const [name, key] of [
    ['execute', 'a'],
    ['execute', 'b'],
    ['health', 'a'],
    ['execute', 'health a'],
  ] as const)
    expect(limits.take(limit(1, name), key, 0).allowed).toBe(true)
  expect(limits.take(limit(1), 'a', 0).allowed).toBe(false)
})

const flood = (limits: ReturnType<typeof openMemoryLimits>, name: string) => {
  for (let i = 0; i < 200_000; i++) limits.take(limit(1, name), `10.${i}`, i / 1000)
}

describe('memory is bounded: of 200,000 keys', () => {
  test('the oldest are forgotten, the newest are not', () => {
    const limits = openMemoryLimits(openTats(1000))
    flood(limits, 'health')
    expect(limits.take(limit(1, 'health'), '10.0', 200).allowed).toBe(true)
    expect(limits.take(limit(1, 'health'), '10.199999', 200).allowed).toBe(false)
  })

  test('none takes the place of one that keeps trying', () => {
    const limits = openMemoryLimits(openTats(1000))
    const stubborn = () => limits.take(limit(1, 'health'), 'stubborn', 0).allowed
    expect(stubborn()).toBe(true)
    for (let i = 0; i < 10_000; i++) {
      limits.take(limit(1, 'health'), `10.${i}`, 0)
      if (i % 500 === 0) expect(stubborn()).toBe(false)
    }
  })

  test('none gives a caller back what it has spent on another limit', () => {
    const limits = openMemoryLimits()
    limits.take(limit(1), 'tester', 0)
    flood(limits, 'health')
    expect(limits.take(limit(1), 'tester', 300).allowed).toBe(false)
  })
})

test('the fields are those of the IETF draft, with names as strings', () => {
  const verdict = { allowed: true, remaining: 599, resetSeconds: 1, retryAfterSeconds: 0 }
  expect(limitHeaders(limit(600), verdict)).toEqual({
    'RateLimit-Policy': '"execute";q=600;w=60',
    RateLimit: '"execute";r=599;t=1',
  })
})

describe('a budget of thread time', () => {
  const budget: Limit = { name: 'compute', perMinute: 600 }
  const start = 1e6

  test('lets in while anything is left, and charges what it took when that is known', () => {
    const budgets = openBudgets()
    expect(budgets.look(budget, 'a', start)).toMatchObject({ allowed: true, remaining: 600 })
    budgets.charge(budget, 'a', 599, start)
    expect(budgets.look(budget, 'a', start)).toMatchObject({ allowed: true, remaining: 1 })
    budgets.charge(budget, 'a', 1, start)
    expect(budgets.look(budget, 'a', start)).toMatchObject({ allowed: false, remaining: 0 })
    expect(budgets.look(budget, 'b', start)).toMatchObject({ allowed: true })
  })

  test('comes back evenly over the minute, and who comes when told to is let in', () => {
    const budgets = openBudgets()
    budgets.charge(budget, 'a', 600, start)
    const refused = budgets.look(budget, 'a', start)
    expect(budgets.look(budget, 'a', start + refused.retryAfterSeconds * 1_000).allowed).toBe(true)
    expect(budgets.look(budget, 'a', start + 30_000)).toMatchObject({ allowed: true, remaining: 300 })
    expect(budgets.look(budget, 'a', start + 60_000)).toMatchObject({ allowed: true, remaining: 600 })
  })

  test('what was under way may overdraw it, and is paid back by waiting', () => {
    const budgets = openBudgets()
    budgets.charge(budget, 'a', 900, start)
    expect(budgets.look(budget, 'a', start + 29_000).allowed).toBe(false)
    expect(budgets.look(budget, 'a', start + 31_000).allowed).toBe(true)
  })

  test('budgets of another name are counted apart, and memory is bounded', () => {
    const budgets = openBudgets(openTats(100))
    budgets.charge(budget, 'a', 600, start)
    expect(budgets.look({ ...budget, name: 'administration' }, 'a', start).allowed).toBe(true)
    for (let i = 0; i < 1_000; i++) budgets.charge(budget, `b${i}`, 600, start)
    expect(budgets.look(budget, 'a', start).allowed).toBe(true)
    expect(budgets.look(budget, 'b999', start).allowed).toBe(false)
  })
})
