// The entries of a commit as the text that waits in log_queue.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  queuedEntries,
  readQueued,
  startLogEntries,
  type QueuedEntry,
} from '../../src/store/tables/log-queue.ts'
import { sha256Hex } from '../../src/store/sha256.ts'

const anEntry = (i: number, id: string = randomUUID()): QueuedEntry => ({
  kind: i % 2 === 0 ? 'authorization' : 'receipt',
  hash: sha256Hex(`artifact ${i}`),
  id,
  streams: { caller: `caller ${i % 12}`, policy: 'a "policy"' },
  ...(i % 3 === 0 && { event: 'none' as const }),
  ...(i % 5 === 0 && { owner: 'somebody else' }),
})

function queuedText(entries: readonly QueuedEntry[]): string {
  const batch = startLogEntries()
  for (const entry of entries) batch.add(() => entry)
  return batch.statements()[0]!.rows[0]![1] as string
}

test('entries with UUIDs take 66 characters each, and read back in their order', () => {
  const entries = Array.from({ length: 128 }, (_, i) => anEntry(i))
  const text = queuedText(entries)
  expect(queuedEntries(text)).toEqual(entries)
  const same = entries.map((entry) => ({ ...anEntry(0), id: entry.id }))
  expect(queuedText(same).length - queuedText(same.slice(28)).length).toBe(28 * 66)
})

test.each(['approval 7', randomUUID().toUpperCase(), randomUUID().replaceAll('-', ''), 'ü\n"', ''])(
  'an id that is no UUID in lower case, %j, reads back as it is, and its neighbours too',
  (id) => {
    const entries = [anEntry(1), anEntry(2, id), anEntry(3)]
    expect(queuedEntries(queuedText(entries))).toEqual(entries)
  },
)

test('a row of a version before is read', () => {
  const [one, other] = [anEntry(1), anEntry(3)]
  const { kind, streams } = one
  const text = JSON.stringify({
    shared: [{ kind, streams }],
    entries: [
      [one.hash, one.id, 0],
      [other.hash, other.id, 0],
    ],
  })
  expect(queuedEntries(text)).toEqual([{ ...one }, { kind, streams, hash: other.hash, id: other.id }])
})

test.each(['nonsense', '{}', '{"shared":[],"entries":5}'])(
  'a row that is %s is named by its number',
  (text) => {
    expect(() => readQueued('17', text)).toThrow(/^Row 17 of log_queue cannot be read: .+\.$/)
  },
)
