// Requests that are with the threads, found by their tickets (src/server/dispatch/pending.ts).
import { expect, test } from 'vitest'
import { openPending, type Pending, type SentBatch } from '../../src/server/dispatch/pending.ts'

function sent(
  pending: Pending<string>,
  sinceMs: readonly number[],
): { batch: SentBatch<string>; replies: string[] } {
  const replies: string[] = []
  const requests = sinceMs.map((since, i) => ({
    client: 'a',
    since,
    resolve: (reply: string) => void (replies[i] = reply),
  }))
  return { batch: pending.send('execute', requests), replies }
}

test('batches get consecutive tickets, by which a later reply finds its request', () => {
  const pending = openPending<string>()
  const first = sent(pending, [0, 0])
  const second = sent(pending, [0, 0, 0])
  expect([first.batch.firstTicket, second.batch.firstTicket]).toEqual([0, 2])
  expect(pending.find(1)).toBe(first.batch)
  expect(pending.find(4)).toBe(second.batch)
  pending.answer(second.batch, 2, 'late')
  expect(second.replies).toEqual([undefined, undefined, 'late'])
})

test('a request is answered once, and a batch is forgotten with its last answer', () => {
  const pending = openPending<string>()
  const { batch, replies } = sent(pending, [0, 0])
  pending.answer(batch, 0, 'first')
  pending.answer(batch, 0, 'second')
  expect(pending.find(0)).toBe(batch)
  pending.answer(batch, 1, 'other')
  expect(replies).toEqual(['first', 'other'])
  expect(pending.find(0)).toBeUndefined()
})

test('what came too long ago is answered, in every batch, and nothing else', () => {
  const pending = openPending<string>()
  const first = sent(pending, [1, 5])
  const second = sent(pending, [2])
  pending.expire(2, (operation) => `${operation} is lost`)
  expect(first.replies).toEqual(['execute is lost'])
  expect(second.replies).toEqual(['execute is lost'])
  expect([pending.find(0), pending.find(2)]).toEqual([first.batch, undefined])
})
