// The order in which waiting requests are served: the clients in turn, each client's own in the order in which they came.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openFairQueue, type FairQueue, type Queued } from '../../src/server/dispatch/fair-queue.ts'

interface Item extends Queued {
  readonly name: string
}

/** Filled with `a1 a2 b1`: item 1 and 2 of client a, then 1 of b, each of one byte and a millisecond after the one before. */
function queueOf(names: string, bytes: Readonly<Record<string, number>> = {}): FairQueue<Item> {
  const queue = openFairQueue<Item>()
  for (const [since, name] of names.split(' ').entries())
    queue.push({ name, client: name[0] ?? '', bytes: bytes[name] ?? 1, since })
  return queue
}

function taken(queue: FairQueue<Item>, countMax: number, bytesMax = Infinity): string {
  return queue
    .take({ countMax, bytesMax })
    .map(({ name }) => name)
    .join(' ')
}

describe('take', () => {
  test('serves each client in turn, whoever came first', () => {
    const queue = queueOf('a1 a2 a3 b1 b2 c1')
    expect(taken(queue, 6)).toBe('a1 b1 c1 a2 b2 a3')
    expect(queue.length()).toBe(0)
  })

  test('goes on in the next batch with who comes after the last one served', () => {
    const queue = queueOf('a1 a2 a3 b1 b2 c1 c2')
    expect([taken(queue, 2), taken(queue, 2), taken(queue, 3)]).toEqual(['a1 b1', 'c1 a2', 'b2 c2 a3'])
  })

  test('lets a client that comes later wait for one item of each other, not for all', () => {
    const queue = queueOf('a1 a2 a3 a4')
    expect(taken(queue, 1)).toBe('a1')
    queue.push({ name: 'b1', client: 'b', bytes: 1, since: 4 })
    expect(taken(queue, 3)).toBe('a2 b1 a3')
  })

  test('leaves what does not fit in its place, and takes what fits of others', () => {
    const queue = queueOf('a1 a2 b1 b2 c1', { b1: 10 })
    expect(taken(queue, 9, 5)).toBe('a1 c1 a2')
    expect(taken(queue, 9, 5)).toBe('b1')
    expect(taken(queue, 9, 5)).toBe('b2')
  })

  test('takes a first item of any size, or it would wait for ever', () => {
    expect(taken(queueOf('a1 b1', { a1: 100 }), 9, 5)).toBe('a1')
  })

  test('takes nothing of an empty queue', () => {
    const queue = queueOf('a1')
    expect([taken(queue, 1), taken(queue, 1)]).toEqual(['a1', ''])
  })
})

// proves abuse: 210 simulations of one caller
test('a client that waits is served within one item of every other, whatever was pushed and taken before', () => {
  const names = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(names, fc.integer({ min: 1, max: 9 }), (clients, countMax) => {
      const queue = openFairQueue<Item>()
      for (const [since, client] of clients.entries()) {
        queue.push({ name: `${client}${since}`, client, bytes: 1, since })
        if (since % 7 === 6) queue.take({ countMax: 3, bytesMax: Infinity })
      }
      queue.push({ name: 'late', client: 'late', bytes: 1, since: clients.length })
      const before: string[] = []
      while (!before.includes('late')) {
        const batch = queue.take({ countMax, bytesMax: Infinity })
        expect(batch.length).toBeGreaterThan(0)
        before.push(...batch.map(({ client }) => client))
      }
      const others = before.slice(0, before.indexOf('late'))
      for (const client of new Set(others)) expect(others.filter((one) => one === client).length).toBe(1)
    }),
  )
})

test("nothing is lost, doubled or served before an older one of the same client's", () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ client: fc.constantFrom('a', 'b', 'c'), bytes: fc.integer({ min: 0, max: 9 }) }),
      fc.record({ countMax: fc.integer({ min: 1, max: 5 }), bytesMax: fc.integer({ min: 0, max: 20 }) }),
    ),
    { maxLength: 200 },
  )
  fc.assert(
    fc.property(steps, (done) => {
      const queue = openFairQueue<Item>()
      const served: Item[] = []
      let pushed = 0
      for (const step of done) {
        if ('client' in step) queue.push({ name: step.client, ...step, since: pushed++ })
        else {
          const batch = queue.take(step)
          expect(batch.length).toBeLessThanOrEqual(step.countMax)
          if (batch.length > 1)
            expect(batch.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(
              Math.max(step.bytesMax, batch[0]?.bytes ?? 0),
            )
          served.push(...batch)
        }
        expect(queue.length()).toBe(pushed - served.length)
      }
      served.push(...queue.take({ countMax: Infinity, bytesMax: Infinity }))
      expect(new Set(served.map(({ since }) => since)).size).toBe(pushed)
      for (const client of ['a', 'b', 'c']) {
        const own = served.filter((item) => item.client === client).map(({ since }) => since)
        expect(own).toEqual(own.toSorted((a, b) => a - b))
      }
    }),
  )
})

test('knows since when the oldest waits, and gives up what is older than asked', () => {
  const queue = queueOf('a1 b1 a2 b2 c1')
  expect(queue.oldest()).toBe(0)
  expect(queue.expire(2).map(({ name }) => name)).toEqual(['a1', 'a2', 'b1'])
  expect([queue.length(), queue.oldest()]).toEqual([2, 3])
  expect(taken(queue, 9)).toBe('b2 c1')
  expect(queue.oldest()).toBeUndefined()
})
