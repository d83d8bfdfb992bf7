import { expect, test } from 'vitest'
import { openEvents } from '../../src/mcp/events.ts'

const told = (text: string) => ({
  jsonrpc: '2.0' as const,
  method: 'notifications/message',
  params: { text },
})
const answer = { jsonrpc: '2.0' as const, id: 7, result: {} }

test('a stream is resumed behind the event that is named, without those of other streams', async () => {
  const events = openEvents()
  const first = await events.storeEvent('one', {} as never)
  await events.storeEvent('one', told('a'))
  await events.storeEvent('two', told('b'))
  const last = await events.storeEvent('one', answer)
  const sent: unknown[] = []
  const send = async (id: string, message: unknown) => void sent.push(id === last ? 'last' : message)
  expect(await events.replayEventsAfter(first, { send })).toBe('one')
  expect(sent).toEqual([told('a'), 'last'])
  expect(events.answeredOn(first)).toEqual([7])
})

test('the oldest events of a session are dropped, by their number and by their bytes', async () => {
  for (const bound of [{ eventsMax: 2 }, { bytesMax: 2 * JSON.stringify(told('a')).length }]) {
    const events = openEvents(bound)
    const [dropped, kept] = [
      await events.storeEvent('one', told('a')),
      await events.storeEvent('one', told('b')),
    ]
    await events.storeEvent('one', told('c'))
    expect(await events.getStreamIdForEventId!(dropped)).toBeUndefined()
    expect(await events.getStreamIdForEventId!(kept)).toBe('one')
    expect(events.answeredOn(dropped)).toEqual([])
    await expect(events.replayEventsAfter(dropped, { send: async () => {} })).rejects.toThrow('no such event')
  }
})

test('an event of another session is unknown', async () => {
  const id = await openEvents().storeEvent('one', told('a'))
  const other = openEvents()
  await other.storeEvent('one', told('a'))
  expect(await other.getStreamIdForEventId!(id)).toBeUndefined()
})
