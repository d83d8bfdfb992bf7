// Which audit events stand in one row of the console.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { grouped, type Event } from '../../src/console/audit-groups.ts'

function anEvent(members: Partial<Event> = {}) {
  const event = {
    eventId: randomUUID(),
    type: 'authentication.failed',
    severity: 'INFO',
    reason: 'The key is not known.',
    route: 'POST /execute',
    occurredAt: new Date().toISOString(),
    ...members,
  } as Event
  return { event, signature: {} } as Parameters<typeof grouped>[0][number]
}

const shapeOf = (events: readonly ReturnType<typeof anEvent>[]) =>
  grouped(events).map(({ event, others }) => [event.eventId, others.map(({ eventId }) => eventId)])
const idsOf = (events: readonly ReturnType<typeof anEvent>[]) => events.map(({ event }) => event.eventId)

test('events one after the other that say the same are one row, the newest with the others behind it', () => {
  const events = [anEvent(), anEvent({ occurredAt: '2026-11-01T00:00:00.000Z' }), anEvent()]
  const [newest, ...others] = idsOf(events)
  expect(shapeOf(events)).toEqual([[newest, others]])
})

test('an event between them keeps them apart, so that the order of what happened stays', () => {
  const events = [anEvent(), anEvent({ reason: 'The key has expired.' }), anEvent()]
  expect(shapeOf(events)).toEqual(idsOf(events).map((id) => [id, []]))
})

test.each([
  [{ type: 'authorization.denied' }],
  [{ severity: 'WARNING' }],
  [{ callerId: 'agent' }],
  [{ reason: 'The key has expired.' }],
  [{ route: 'GET /executions' }],
  // A login names the caller in its detail alone.
  [{ detail: { callerId: 'dana' } }],
] as Partial<Event>[][])('what differs in %j is a row of its own', (members) => {
  const events = [anEvent(), anEvent(members)]
  expect(shapeOf(events)).toEqual(idsOf(events).map((id) => [id, []]))
})

test('other ids in the detail do not part them', () => {
  const events = [anEvent({ detail: { requestId: '1' } }), anEvent({ detail: { requestId: '2' } })]
  expect(grouped(events)).toHaveLength(1)
})

test('each closing of an execution is a row of its own, also where two humans and reasons are the same', () => {
  const closing = {
    type: 'intent.resolved',
    callerId: 'dana',
    reason: 'The execution intent is RESOLVED: NOT_EXECUTED.',
    route: 'POST /execution-intents/{id}/resolve',
  } as Partial<Event>
  const events = [anEvent(closing), anEvent(closing), anEvent(), anEvent()]
  const [one, two, three, four] = idsOf(events)
  expect(shapeOf(events)).toEqual([
    [one, []],
    [two, []],
    [three, [four]],
  ])
})

test('no events are no rows', () => {
  expect(grouped([])).toEqual([])
})
