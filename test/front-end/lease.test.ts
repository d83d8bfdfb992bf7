// Permits spent ahead of need: how many, and how many are given back.
import { describe, expect, test } from 'vitest'
import { leaseSize, permitsToReturn, usePermit, type Lease } from '../../src/server/http/lease.ts'
import type { Limit } from '../../src/server/http/limit.ts'

/** One permit is 10 ms; the largest lease is 93. */
const limit: Limit = { name: 'execute', perMinute: 6_000 }
const aLease = (of: Partial<Lease> = {}): Lease => ({ used: 0, left: 10, endsMs: 1_000, ...of })
const size = (of: Partial<Parameters<typeof leaseSize>[1]>) =>
  leaseSize(limit, { lease: aLease({ used: 10, left: 0 }), waiting: 1, aheadMs: 0, ...of })

describe('the size of a lease', () => {
  test('is twice what came since the last statement', () => {
    expect(size({})).toBe(22)
    expect(size({ lease: aLease({ used: 3, left: 7 }), waiting: 5 })).toBe(16)
    expect(size({ lease: aLease({ left: 0 }) })).toBe(2)
  })

  test('is nothing for a key that has not asked lately, and where nobody waits', () => {
    expect(size({ lease: undefined, waiting: 100 })).toBe(0)
    expect(size({ waiting: 0 })).toBe(0)
  })

  test('is a 64th of the budget at most; small budgets have none', () => {
    expect(size({ waiting: 1_000 })).toBe(93)
    expect(leaseSize({ ...limit, perMinute: 63 }, { lease: aLease(), waiting: 9, aheadMs: 0 })).toBe(0)
  })

  test('takes nothing of the second half of the budget', () => {
    expect(size({ aheadMs: 29_890 })).toBe(10)
    expect(size({ aheadMs: 29_990 })).toBe(0)
    expect(size({ aheadMs: 60_000 })).toBe(0)
  })
})

describe('a permit of a lease', () => {
  test('is used once, and says what is left as if the others of the lease were not spent', () => {
    const lease = aLease({ left: 2 })
    const use = () => usePermit(limit, { lease, tatMs: 100 + 120, nowMs: 100 })
    expect(use()).toMatchObject({ allowed: true, remaining: 6_000 - 11, retryAfterSeconds: 0 })
    expect(use()).toMatchObject({ allowed: true, remaining: 6_000 - 12 })
    expect(use()).toBeUndefined()
  })

  test('is not used after the lease has ended', () => {
    expect(usePermit(limit, { lease: aLease(), tatMs: 1_100, nowMs: 1_000 })).toBeUndefined()
    expect(usePermit(limit, { lease: undefined, tatMs: 0, nowMs: 0 })).toBeUndefined()
  })
})

test('permits are given back, but not those that the budget has regained by itself', () => {
  expect(permitsToReturn(limit, aLease({ left: 4 }), 1_000)).toBe(4)
  expect(permitsToReturn(limit, aLease({ left: 4 }), 39)).toBe(3)
  expect(permitsToReturn(limit, aLease({ left: 4 }), -1)).toBe(0)
  expect(permitsToReturn(limit, undefined, 1_000)).toBe(0)
})
