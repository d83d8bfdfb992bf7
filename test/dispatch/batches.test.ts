// Which requests a group of threads takes next (src/server/dispatch/batches.ts).
import { expect, test } from 'vitest'
import { openBatches, type Batches } from '../../src/server/dispatch/batches.ts'
import { operations } from '../../src/core/operations/index.ts'

interface Item {
  readonly client: string
  readonly bytes: number
  readonly since: number
}

/** When all that waits has waited for long. */
const NOW = 1_000
const FULL = operations.execute.countMax
const anItem = (members: Partial<Item> = {}): Item => ({ client: 'a', bytes: 100, since: 0, ...members })
const open = (limits: Partial<Parameters<typeof openBatches>[0]> = {}) =>
  openBatches<Item>({ threads: 1, batchesPerThread: 2, fullBatchesPerThread: 0, formMs: 0, ...limits })

function push(
  batches: Batches<Item>,
  count: number,
  operation: 'execute' | 'verify-record' = 'execute',
): void {
  for (let i = 0; i < count; i++) batches.push(operation, anItem())
}

test('all that waits for an operation makes one batch, and then nothing waits', () => {
  const batches = open()
  push(batches, 3)
  expect(batches.next(NOW)).toEqual({ operation: 'execute', requests: [anItem(), anItem(), anItem()] })
  expect(batches.next(NOW)).toBeUndefined()
  expect(batches.load()).toEqual({ waiting: new Map([['execute', 0]]), running: new Map([['execute', 1]]) })
})

test('a batch holds as many requests as its operation allows', () => {
  const batches = open()
  push(batches, FULL + 1)
  expect(batches.next(NOW)?.requests).toHaveLength(FULL)
  expect(batches.next(NOW)?.requests).toHaveLength(1)
})

test('a batch holds as many bytes as its operation allows, and a larger request makes a batch of its own', () => {
  const batches = open({ batchesPerThread: 3 })
  const { bytesMax } = operations.execute
  for (const client of ['a', 'b', 'c']) batches.push('execute', anItem({ client, bytes: bytesMax / 2 }))
  batches.push('execute', anItem({ client: 'd', bytes: bytesMax + 1 }))
  const taken = [batches.next(NOW), batches.next(NOW), batches.next(NOW)]
  const clients = taken.map((batch) => batch?.requests.map(({ client }) => client))
  expect(clients).toEqual([['a', 'b'], ['c'], ['d']])
})

test('no more batches run than the threads take, until one has come back', () => {
  const batches = open({ threads: 2, batchesPerThread: 1 })
  push(batches, 1)
  expect(batches.next(NOW)).toBeDefined()
  push(batches, 1)
  expect(batches.next(NOW)).toBeDefined()
  push(batches, 1)
  expect(batches.next(NOW)).toBeUndefined()
  batches.done('execute')
  expect(batches.next(NOW)?.requests).toHaveLength(1)
})

test('an additional batch runs only while enough waits to fill it', () => {
  const batches = open({ batchesPerThread: 1, fullBatchesPerThread: 1 })
  push(batches, 1)
  batches.next(NOW)
  push(batches, FULL - 1)
  expect(batches.next(NOW)).toBeUndefined()
  push(batches, 1)
  expect(batches.next(NOW)?.requests).toHaveLength(FULL)
  push(batches, FULL)
  expect(batches.next(NOW)).toBeUndefined()
})

test('while every thread is busy a batch forms: it starts when it is full, when its oldest request has waited, or when a thread is free', () => {
  const batches = open({ formMs: 4 })
  batches.push('execute', anItem({ since: 10 }))
  expect(batches.next(10)?.requests).toHaveLength(1)
  expect(batches.formedMs()).toBeUndefined()

  batches.push('execute', anItem({ since: 11 }))
  batches.push('execute', anItem({ since: 12 }))
  expect(batches.next(14.9)).toBeUndefined()
  expect(batches.formedMs()).toBe(15)
  expect(batches.next(15)?.requests).toHaveLength(2)

  batches.push('execute', anItem({ since: 16 }))
  expect(batches.next(NOW)).toBeUndefined()
  // Nothing but the end of another batch starts it.
  expect(batches.formedMs()).toBeUndefined()
  batches.done('execute')
  expect(batches.formedMs()).toBe(20)
  batches.done('execute')
  expect(batches.next(16)?.requests).toHaveLength(1)

  push(batches, FULL)
  expect(batches.next(16)?.requests).toHaveLength(FULL)
})

test('what waits is divided among the threads that have nothing to do', () => {
  const batches = open({ threads: 3, batchesPerThread: 1 })
  push(batches, 9)
  expect(
    [batches.next(NOW), batches.next(NOW), batches.next(NOW)].map((batch) => batch?.requests.length),
  ).toEqual([3, 3, 3])
})

test('operations are served in turn', () => {
  const batches = open({ batchesPerThread: 1 })
  push(batches, 2 * FULL, 'execute')
  push(batches, 1, 'verify-record')
  const order = Array.from({ length: 3 }, () => {
    const operation = batches.next(NOW)?.operation
    if (operation !== undefined) batches.done(operation)
    return operation
  })
  expect(order).toEqual(['execute', 'verify-record', 'execute'])
})

test('an operation with a limit of its own does not start a second batch, and holds up no other', () => {
  const batches = open({ batchesPerThread: 4 })
  batches.push('simulate', anItem())
  batches.push('simulate', anItem())
  batches.push('verify-record', anItem())
  expect([batches.next(NOW), batches.next(NOW), batches.next(NOW)].map((batch) => batch?.operation)).toEqual([
    'simulate',
    'verify-record',
    undefined,
  ])
  batches.done('simulate')
  expect(batches.next(NOW)?.operation).toBe('simulate')
})

test('what has waited too long is taken out, whatever its operation', () => {
  const batches = open()
  const old = anItem({ since: 1 })
  batches.push('execute', old)
  batches.push('verify-record', old)
  batches.push('verify-record', anItem({ since: 3 }))
  expect(batches.oldestMs()).toBe(1)
  expect(batches.expire(2)).toEqual([old, old])
  expect(batches.oldestMs()).toBe(3)
  expect(batches.next(NOW)?.operation).toBe('verify-record')
  expect(batches.oldestMs()).toBeUndefined()
})
