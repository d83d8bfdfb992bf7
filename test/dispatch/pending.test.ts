// Requests that are with the threads, found by their tickets (src/server/dispatch/pending.ts).
import { expect, test } from 'vitest'
import type { Answer } from '../../src/server/answer.ts'
import { openPending, type Pending, type SentBatch } from '../../src/server/dispatch/pending.ts'
import { openReplies } from '../../src/server/dispatch/replies.ts'

/** Sends a batch of this many requests, all of which came at 0. */
function sent(
  pending: Pending<string>,
  count: number,
  sentMs = 0,
): { batch: SentBatch<string>; replies: string[] } {
  const replies: string[] = []
  const requests = Array.from({ length: count }, (_, i) => ({
    client: 'a',
    bytes: 0,
    since: 0,
    resolve: (reply: string) => void (replies[i] = reply),
  }))
  return { batch: pending.note('execute', requests, sentMs), replies }
}

const lost = (operation: string) => `${operation} is lost`

test('batches get consecutive tickets, by which a later reply finds its request', () => {
  const pending = openPending<string>()
  const first = sent(pending, 2)
  const second = sent(pending, 3)
  expect([first.batch.firstTicket, second.batch.firstTicket]).toEqual([0, 2])
  expect(pending.find(1)).toBe(first.batch)
  expect(pending.find(4)).toBe(second.batch)
  pending.answer(second.batch, 2, 'late')
  expect(second.replies).toEqual([undefined, undefined, 'late'])
})

test('a request is answered once, and a batch is forgotten with its last answer', () => {
  const pending = openPending<string>()
  const { batch, replies } = sent(pending, 2)
  pending.answer(batch, 0, 'first')
  pending.answer(batch, 0, 'second')
  expect(pending.find(0)).toBe(batch)
  pending.answer(batch, 1, 'other')
  expect(replies).toEqual(['first', 'other'])
  expect(pending.find(0)).toBeUndefined()
})

test('what was sent too long ago is answered, and nothing that was sent since', () => {
  const pending = openPending<string>()
  const early = sent(pending, 2, 1)
  pending.answer(early.batch, 0, 'in time')
  const late = sent(pending, 1, 3)
  pending.giveUp(({ sentMs }) => sentMs <= 2, lost)
  expect(early.replies).toEqual(['in time', 'execute is lost'])
  expect(late.replies).toEqual([])
  expect([pending.find(0), pending.find(2)]).toEqual([undefined, late.batch])
  pending.giveUp(({ sentMs }) => sentMs <= 3, lost)
  expect(late.replies).toEqual(['execute is lost'])
})

test('a client is charged for what it gave up on: a request that had to wait too long costs what its thread did', () => {
  const pending = openPending<Answer>()
  const charged: [string, number][] = []
  const meter = {
    refused: () => undefined,
    charge: (_operation: string, { client }: { client: string }, { costMs }: { costMs: number }) =>
      void charged.push([client, costMs]),
  }
  const replies = openReplies({ pending, meter, watch: undefined })
  const statuses: number[] = []
  const requests = ['slow', 'other'].map((client) => ({
    client,
    bytes: 0,
    resolve: ({ status }: Answer) => void statuses.push(status),
  }))
  const batch = pending.note('verify-record', requests, 0)
  pending.giveUp(
    () => true,
    () => ({ status: 503, headers: {}, body: '' }),
  )
  const replied = { status: 200, headers: {}, body: '', log: {} }
  replies.ofBatch(
    {
      threadId: 1,
      replies: [
        { ...replied, ticket: 0, costMs: 61_000 },
        { ...replied, ticket: 1, costMs: 1 },
      ],
    },
    batch,
  )
  expect(statuses).toEqual([503, 503])
  expect(charged).toEqual([
    ['slow', 61_000],
    ['other', 1],
  ])
})
