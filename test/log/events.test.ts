// The feed of events as it is read from the log: gapless and in one order, whatever writes it and whatever becomes of the log.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cursorText, readCursor } from '../../src/core/events/cursor.ts'
import { eventIdOf, type FeedEvent } from '../../src/core/events/event.ts'
import { readEvents, type FeedPage } from '../../src/core/events/read.ts'
import type { EventScope } from '../../src/store/tables/log-events.ts'
import type { EventType } from '../../src/formats/schemas/event-types.ts'
import { Failure } from '../../src/core/errors/errors.ts'
import { startLogEntries, type QueuedEntry } from '../../src/store/tables/log-queue.ts'
import { freezeLog, insertLog } from '../../src/store/tables/log-state.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import { inTransaction } from '../../src/store/postgres/transaction.ts'
import { watchEvents } from '../../src/server/watch/events.ts'
import { patientPool } from '../patient-pool.ts'
import { until } from '../service.ts'
import { aLog, anEntry, NAME, queue, settle, type TestLog } from './log.ts'

let log: TestLog
beforeEach(async () => {
  log = await aLog()
  // So old that an event without its artifact, as all are here, is given bare.
  log.clock.nowMs -= 3_600_000
})
afterEach(() => log.close())

const EVERYBODY: EventScope = { callerId: null }
const idOf = ({ id }: { id: string }, type: EventType = 'execution.completed') => eventIdOf({ type, id })

async function page(after: string | undefined, scope = EVERYBODY, limit = 1_000): Promise<FeedPage> {
  const read = await readEvents(log.pool, { after, limit, scope })
  if (read instanceof Failure) throw new Error(read.message)
  return read
}

/** All pages up to the end, with the cursor behind them. */
async function follow(scope = EVERYBODY, { after, limit = 1_000 }: { after?: string; limit?: number } = {}) {
  const events: FeedEvent[] = []
  for (;;) {
    const { events: some, next, atEnd } = await page(after, scope, limit)
    expect(some.length).toBeLessThanOrEqual(limit)
    events.push(...some)
    after = next
    if (atEnd) return { events, next }
  }
}

const ids = (events: readonly FeedEvent[]) => events.map(({ eventId }) => eventId)
const places = (events: readonly FeedEvent[]) => events.map(({ entry }) => entry.index)
const several = (count: number, caller = 'tester') => Array.from({ length: count }, () => anEntry({ caller }))

const marked = (event: QueuedEntry['event'], more: Partial<QueuedEntry> = {}): QueuedEntry => ({
  ...anEntry(),
  ...(event && { event }),
  ...more,
})
const refused = async (after: string) => {
  const read = await readEvents(log.pool, { after, limit: 1, scope: EVERYBODY })
  expect(read).toBeInstanceOf(Failure)
  const { status, message } = read as Failure
  return { status, message }
}

describe('a reader that goes on from its cursor', () => {
  test('misses nothing and sees nothing twice, with three instances that sequence and writers that commit late', async () => {
    const instances = [log.work, log.instance().work, log.instance().work]
    const writers = patientPool(log.database.url, 6)
    const committed = { busy: new Set<string>(), quiet: new Set<string>() }
    const writing = new Set([0, 1, 2, 3, 4, 5])
    const write = async (seed: number) => {
      for (let i = 0; i < 20; i++) {
        const caller = seed === 0 ? 'quiet' : 'busy'
        const entries = several(caller === 'quiet' ? 1 : (seed * 11 + i * 7) % 60, caller)
        const batch = startLogEntries()
        for (const entry of entries) batch.add(() => entry)
        const rollsBack = (seed + i) % 5 === 4
        const done = inTransaction(writers, async (sql) => {
          await sql.run(batch.statements())
          await sql.query('SELECT pg_sleep($1)', [((seed * i) % 5) / 500])
          if (rollsBack) throw new Error('rolled back')
        })
        if (rollsBack) await expect(done).rejects.toThrow('rolled back')
        else {
          await done
          for (const entry of entries) committed[caller].add(idOf(entry))
        }
      }
      writing.delete(seed)
    }
    const tickOn = async (work: TestLog['work']) => {
      while (writing.size > 0) {
        log.clock.nowMs += 50
        expect((await work.tick()).frozen).toBeNull()
      }
    }
    const read: Record<string, FeedEvent[]> = { all: [], quiet: [] }
    const cursors: Record<string, string> = {}
    const readOn = async (name: string, scope: EventScope, limit: number) => {
      while (writing.size > 0) {
        const some = await page(cursors[name], scope, limit)
        cursors[name] = some.next
        read[name]!.push(...some.events)
      }
    }
    await Promise.all([
      ...Array.from(writing, write),
      ...instances.map(tickOn),
      readOn('all', EVERYBODY, 37),
      readOn('quiet', { callerId: 'quiet' }, 3),
    ])
    await writers.end()
    await settle(log)
    for (const [name, scope] of [
      ['all', EVERYBODY],
      ['quiet', { callerId: 'quiet' }],
    ] as const) {
      const rest = await follow(scope, { after: cursors[name]!, limit: 37 })
      const all = [...read[name]!, ...rest.events]
      const expected = name === 'all' ? committed.busy.union(committed.quiet) : committed.quiet
      expect(all).toHaveLength(expected.size)
      expect(new Set(ids(all))).toEqual(expected)
      expect(places(all)).toEqual(places(all).toSorted((a, b) => a - b))
      // From the beginning it is the same.
      expect(ids((await follow(scope)).events)).toEqual(ids(all))
    }
  })

  test('goes on in the next log, where the one that it read was closed', async () => {
    const [before, after] = [several(3), several(2)]
    await queue(log.pool, before)
    await settle(log)
    const middle = await page(undefined, EVERYBODY, 2)
    const { next } = await follow()
    await freezeLog(log.pool, { log: 1, why: 'For a test.' })
    await insertLog(log.pool, { log: 2, origin: `${NAME}/log/2`, previous: '{}' })
    await queue(log.pool, after)
    await settle(log)
    const whole = [...before, ...after].map((entry) => idOf(entry))
    expect(ids((await follow(EVERYBODY, { after: next })).events)).toEqual(whole.slice(3))
    expect(ids((await follow(EVERYBODY, { after: middle.next })).events)).toEqual(whole.slice(2))
    expect(ids((await follow()).events)).toEqual(whole)
    expect((await follow()).events.at(-1)!.entry).toEqual({ log: 2, index: 2 })
  })

  test('waits for an artifact that cannot be read yet, and gives it bare where that stays so', async () => {
    log.clock.nowMs = Date.now() + 30_000
    const entries = several(2)
    await queue(log.pool, entries)
    await settle(log)
    const early = await page(undefined)
    expect(early).toMatchObject({ events: [], atEnd: true })
    await log.pool.query("UPDATE log_events SET appended_at = '2026-01-01T00:00:00Z'")
    const late = await follow(EVERYBODY, { after: early.next })
    expect(late.events).toMatchObject(
      entries.map((entry) => ({ eventId: idOf(entry), occurredAt: '2026-01-01T00:00:00.000Z' })),
    )
  })
})

describe('what is read', () => {
  test('is a caller his own, a quiet one beside a busy one by few rows', async () => {
    const quiet = several(1, 'quiet')
    await queue(log.pool, several(700, 'busy'))
    await queue(log.pool, quiet)
    await settle(log)
    for (let i = 0; i < 3; i++) {
      await queue(log.pool, several(700, 'busy'))
      await settle(log)
    }
    expect(ids((await follow({ callerId: 'quiet' })).events)).toEqual(quiet.map((one) => idOf(one)))
    expect((await follow({ callerId: 'nobody' })).events).toEqual([])
    expect((await follow({ callerId: 'busy' }, { limit: 1_000 })).events).toHaveLength(2_800)
    const { rows } = await log.pool.query<{ rows: number }>(
      "SELECT count(*)::int AS rows FROM log_event_owners WHERE owner = substring(sha256('quiet') FOR 8)",
    )
    expect(rows).toEqual([{ rows: 1 }])
  })

  test('is of the types that are asked for, and of the entries that are events', async () => {
    const failed = marked('execution.failed')
    const second = marked('none')
    const late = marked(undefined, { kind: 'late-receipt' })
    const authorization = marked(undefined, { kind: 'authorization' })
    const closed = marked(undefined, { kind: 'intent-transition', streams: {}, owner: 'tester' })
    const proposed = marked('change.proposed', { kind: 'governance-change', streams: {} })
    const audit = marked(undefined, { kind: 'audit-event', streams: {} })
    await queue(log.pool, [failed, second, late, authorization, closed, proposed, audit])
    await settle(log)
    const all = (await follow()).events.map(({ type, eventId }) => [type, eventId])
    expect(all).toEqual([
      ['execution.failed', idOf(failed, 'execution.failed')],
      ['execution.closed', idOf(closed, 'execution.closed')],
      ['change.proposed', idOf(proposed, 'change.proposed')],
    ])
    const types = async (scope: EventScope) => (await follow(scope)).events.map(({ type }) => type)
    expect(await types({ callerId: 'tester' })).toEqual(['execution.failed', 'execution.closed'])
    expect(await types({ callerId: null, types: ['execution.closed'] })).toEqual(['execution.closed'])
    expect(await types({ callerId: 'tester', types: ['change.proposed'] })).toEqual([])
  })

  test('begins at the end with now', async () => {
    await queue(log.pool, several(2))
    await settle(log)
    const { next, events } = await page('now')
    expect(events).toEqual([])
    const entries = several(1)
    await queue(log.pool, entries)
    await settle(log)
    expect(ids((await follow(EVERYBODY, { after: next })).events)).toEqual(entries.map((one) => idOf(one)))
  })
})

describe('a cursor', () => {
  test.each(['', 'x', 'A'.repeat(18), 'A'.repeat(19), 'A'.repeat(20), '../../etc', '-1', 'null'])(
    'that nobody made is refused: %j',
    async (after) => {
      expect(await refused(after)).toEqual({
        status: 400,
        message: 'after must be the `next` of another page, or `now`.',
      })
    },
  )

  test('of another service, of a log that is not there, and behind the end is refused', async () => {
    await queue(log.pool, several(3))
    await settle(log)
    const cursor = readCursor((await follow()).next)!
    const other = { status: 400, message: 'after is the cursor of another log.' }
    expect(await refused(cursorText({ ...cursor, mark: '00000000' }))).toEqual(other)
    expect(await refused(cursorText({ ...cursor, log: 7 }))).toEqual(other)
    expect(await refused(cursorText({ ...cursor, index: cursor.index + 1 }))).toEqual({
      status: 400,
      message:
        'after is a place that the log has not reached: the database is not the one that gave it, or has gone back.',
    })
  })
})

describe('two thousand who wait', () => {
  test('cost one look at a time, and each wakes for its own', async () => {
    await queue(log.pool, several(1))
    await settle(log)
    let statements = 0
    let stopping = false
    const counting: Sql = {
      query: (...given) => {
        statements++
        return log.pool.query(...given) as never
      },
    }
    const watch = watchEvents(counting, { stopping: () => stopping })
    const { place } = await page('now')
    const woken: string[] = []
    const waiting = Array.from({ length: 2_000 }, async (_, i) => {
      const callerId = i === 0 ? null : `caller ${i % 200}`
      const client = `client ${i % 50}`
      if (await watch.wait(place, { scope: { callerId }, client, ms: 60_000 })) woken.push(callerId ?? 'all')
    })
    const startedMs = performance.now()
    await queue(log.pool, several(1, 'caller 7'))
    await settle(log)
    // Ten of the 2,000 are caller 7's.
    await until(() => woken.length >= 11, 'those who wait for it')
    expect(woken).toHaveLength(11)
    expect(new Set(woken)).toEqual(new Set(['all', 'caller 7']))
    expect(statements).toBeLessThanOrEqual((performance.now() - startedMs) / 100 + 1)
    stopping = true
    await Promise.all(waiting)
    expect(woken).toHaveLength(11)
    const looked = statements
    expect(await watch.wait(place, { scope: EVERYBODY, client: 'a', ms: 60_000 })).toBe(false)
    expect(statements).toBe(looked)
  })

  test('of one client more are not let wait, nor longer than they ask', async () => {
    const watch = watchEvents(log.pool, { stopping: () => false })
    const { place } = await page('now')
    const wait = (client: string, ms: number) => watch.wait(place, { scope: EVERYBODY, client, ms })
    const startedMs = performance.now()
    const many = Array.from({ length: 2_500 }, () => wait('one', 1_000))
    expect(await wait('one', 60_000)).toBe(false)
    expect(performance.now() - startedMs).toBeLessThan(30_000)
    expect(await wait('another', 50)).toBe(false)
    expect(await Promise.all(many)).toEqual(many.map(() => false))
  })
})
