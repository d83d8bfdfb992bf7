// A batch of audit events (decisions §9): one that cannot be signed keeps no other from being stored.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { canonicalize } from '../../src/formats/json/canonical.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { queuedEntries } from '../../src/store/tables/log-queue.ts'
import { recordAuditEvents } from '../../workers/evidence/audit.ts'
import type { ExecutionContext } from '../../workers/execute/index.ts'
import type { TestDatabase } from '../database.ts'
import { aRequest, withThread } from './thread.ts'

let database: TestDatabase
let thread: ExecutionContext
withThread((made) => ({ database, thread } = made))

const anEvent = (reason: string) => ({
  eventId: randomUUID(),
  type: 'authentication_failed',
  occurredAt: '2026-01-01T00:00:00.000Z',
  reason,
})

async function storedIds(): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>(
    'SELECT event_id AS id FROM audit_events ORDER BY 1',
  )
  return rows.map(({ id }) => id)
}

test('an event that has no canonical form fails alone, and its neighbours are stored', async () => {
  const [before, halfCharacter, after] = [anEvent('a'), anEvent('\ud800'), anEvent('b')]
  const answered = await recordAuditEvents([before, halfCharacter, after].map(aRequest), thread)
  expect(answered.map(({ answer }) => answer.status)).toEqual([200, 500, 200])
  expect(await storedIds()).toEqual([before.eventId, after.eventId].toSorted())
})

test('a batch of which nothing can be signed is answered, and stores nothing', async () => {
  const stored = await storedIds()
  const answered = await recordAuditEvents([aRequest(anEvent('\ud800'))], thread)
  expect(answered.map(({ answer }) => answer.status)).toEqual([500])
  expect(await storedIds()).toEqual(stored)
})

const statuses = async (events: readonly object[]) =>
  (await recordAuditEvents(events.map(aRequest), thread)).map(({ answer }) => answer.status)

test('an event that is sent again, because its commit was not heard of, is stored and logged once, and its neighbours too', async () => {
  const [heard, again, next] = [anEvent('a'), anEvent('b'), anEvent('c')]
  expect(await statuses([heard, again])).toEqual([200, 200])
  expect(await statuses([again, next])).toEqual([200, 200])
  expect(await statuses([again])).toEqual([200])
  const { rows } = await database.pool.query<{ entries: string }>('SELECT entries FROM log_queue')
  const queued = rows.flatMap(({ entries }) => queuedEntries(entries)).map(({ id, hash }) => ({ id, hash }))
  const logged = queued.filter(({ id }) => [heard, again, next].some(({ eventId }) => eventId === id))
  expect(logged).toHaveLength(3)
  for (const event of [heard, again, next])
    expect(logged).toContainEqual({ id: event.eventId, hash: sha256Hex(canonicalize(event)) })
  expect(await storedIds()).toEqual(expect.arrayContaining(logged.map(({ id }) => id)))
})
