// The frontEnd's side of the audit (decisions §9), with the threads' side in a test's hand: what is written, what is only counted, what a
// reply waits for, and what happens to an event that could not be stored.
import { setTimeout as delay } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { openAudit, type Audit, type AuditContext } from '../../src/server/http/audit.ts'
import { openMemoryLimits } from '../../src/core/concurrency/rate-limit.ts'
import { failures, type Audited } from '../../src/core/errors/errors.ts'
import { until } from '../service.ts'

type Event = Record<string, unknown> & { eventId: string; type: string; detail?: Record<string, unknown> }

/** Every event that was handed over, each time it was. */
let submitted: Event[]
/** The log was told these. */
let logged: { message: string; event: Event }[]
let answer: (event: Event) => Promise<number>

/** Only an end that never comes takes so long. */
const LONG_MS = 60_000

const STORED = () => Promise.resolve(200)
const AWAY = () => Promise.resolve(503)

beforeEach(() => {
  submitted = []
  logged = []
  answer = STORED
})

function open(gatheredMs = LONG_MS): Audit {
  return openAudit({
    async submit({ operation, callerIndex, body }) {
      expect([operation, callerIndex]).toEqual(['record-audit-event', -1])
      const event = JSON.parse(Buffer.from(body).toString()) as Event
      submitted.push(event)
      const status = await answer(event)
      const gate = status === 503 ? ('database' as const) : undefined
      return { status, gate, headers: {}, body: '{}', log: { cause: 'as the test says' } }
    },
    limits: openMemoryLimits(),
    gatheredMs,
    log: (line, message) => logged.push({ message, event: line['event'] as Event }),
  })
}

const route = { method: 'POST', path: '/execute' }
const of = (callerId: string): AuditContext => ({ route, callerId, clientAddress: undefined })
const from = (clientAddress: string): AuditContext => ({ route, callerId: undefined, clientAddress })

const rejected = failures.authenticationRequired().audit as Audited
const limited = failures.rateLimited('execute', 1).audit as Audited
const unsigned = (provider: string) => failures.invalidSignature(provider, 'x').audit as Audited
const denied = (more: { principalId?: string; capability?: string } = {}) =>
  failures.principalOutsideScope({ principalId: 'p', capability: 'c', ...more }).audit as Audited
const nonHuman = failures.nonHumanCaller().audit as Audited
const outOfScope = failures.capabilityOutsideScope({ principalId: 'p', capability: 'c' }).audit as Audited
const again = (eventId: string, bodySha256 = 'same bytes'): Audited => ({
  type: 'webhook.replayed',
  reason: 'The same bytes were received before under another event id.',
  detail: { provider: 'acme', eventId, bodySha256 },
})

describe('an event', () => {
  test('says what was refused to whom, where and when', async () => {
    await open().record(denied({ principalId: 'mallory', capability: 'vendor:pay' }), of('alice'))
    expect(submitted).toEqual([
      {
        eventId: expect.stringMatching(
          /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        ),
        type: 'caller.principal_denied',
        occurredAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        route: 'POST /execute',
        callerId: 'alice',
        reason: 'Caller is not permitted to assert this authority.principalId.',
        capability: 'vendor:pay',
        principalId: 'mallory',
        severity: 'WARNING',
        detail: { count: 1 },
      },
    ])
  })

  test('of nobody names the address instead of a caller; a rate limit is no warning', async () => {
    const audit = open()
    await audit.record(rejected, from('192.0.2.7'))
    await audit.record(limited, from('192.0.2.7'))
    expect(submitted).toMatchObject([
      { type: 'caller.rejected', detail: { clientAddress: '192.0.2.7', count: 1 }, severity: 'WARNING' },
      { type: 'rate_limited', detail: { clientAddress: '192.0.2.7', count: 1 }, severity: 'INFO' },
    ])
    expect(submitted.filter((event) => 'callerId' in event)).toEqual([])
  })

  test.each([
    ['x'.repeat(256), 'x'.repeat(256)],
    ['x'.repeat(257), `${'x'.repeat(256)}…`],
    ['x'.repeat(100_000), `${'x'.repeat(256)}…`],
    [`${'x'.repeat(255)}😀`, `${'x'.repeat(255)}\ufffd…`],
  ])('holds the beginning of what a caller chose', async (given, kept) => {
    await open().record(denied({ principalId: given, capability: given }), of('alice'))
    expect(submitted).toMatchObject([{ principalId: kept, capability: kept }])
  })
})

describe('the limits', () => {
  test('a caller that is limited is written once a minute, another caller too', () => {
    const audit = open()
    const written = ['alice', 'alice', 'bob', 'alice', 'bob'].map((callerId) =>
      audit.record(limited, of(callerId)),
    )
    expect(written.map((one) => one !== undefined)).toEqual([true, false, true, false, false])
    expect(submitted.map(({ callerId }) => callerId)).toEqual(['alice', 'bob'])
  })

  test.each([
    ['a key that nobody has', rejected, from('192.0.2.1'), from('192.0.2.2')],
    ['a session of the console', failures.consoleRefused('x').audit as Audited, of('alice'), of('bob')],
    ['a delivery of a provider', unsigned('acme'), from('192.0.2.1'), from('192.0.2.2')],
    ['a rate limit of an address', limited, from('192.0.2.1'), from('192.0.2.2')],
    ['a rate limit of a caller', limited, of('alice'), of('bob')],
    ['a route for humans', nonHuman, of('alice'), of('bob')],
    ['a principal', denied(), of('alice'), of('bob')],
    ['a capability', outOfScope, of('alice'), of('bob')],
    ["a human's own change", failures.sameActor().audit as Audited, of('alice'), of('bob')],
    ['a step-up', failures.stepUpInvalid('x').audit as Audited, of('alice'), of('bob')],
    ['a delivery that is sent again', again('e1'), from('192.0.2.1'), from('192.0.2.2')],
  ])(
    '%s is refused often: one event at once, one of the others at the end of each minute',
    async (_title, audited, context, neighbour) => {
      const audit = open(100)
      for (let i = 0; i < 10; i++)
        void audit.record(audited, { ...context, route: { method: 'GET', path: `/${i}` } })
      void audit.record(audited, neighbour)
      expect(submitted.map(({ detail }) => detail?.['count'])).toEqual([1, 1])
      await until(() => submitted.length === 3, 'the end of the minute')
      expect(submitted[2]).toMatchObject({ type: audited.type, route: 'GET /9', detail: { count: 9 } })
      void audit.record(audited, context)
      await until(() => submitted.length === 4, 'the end of the next one')
      expect(submitted[3]).toMatchObject({ route: 'POST /execute', detail: { count: 1 } })
      // A minute in which nothing came, and the next is written at once again.
      await delay(250)
      void audit.record(audited, context)
      expect(submitted).toHaveLength(5)
      await audit.close(5_000)
      expect(submitted).toHaveLength(5)
    },
  )

  test('other kinds, other providers and other clients are gathered apart', () => {
    const audit = open()
    const written = [
      audit.record(rejected, from('192.0.2.1')),
      audit.record(limited, from('192.0.2.1')),
      audit.record(unsigned('acme'), from('192.0.2.1')),
      audit.record(unsigned('other'), from('192.0.2.1')),
      audit.record(rejected, of('192.0.2.1')),
      audit.record(denied(), of('alice')),
      audit.record(denied({ principalId: 'other' }), of('alice')),
      audit.record(denied({ capability: 'other' }), of('alice')),
      audit.record(again('e1'), from('192.0.2.1')),
      audit.record(again('e1', 'other bytes'), from('192.0.2.1')),
    ]
    expect(written.map((one) => one !== undefined)).toEqual(Array(10).fill(true))
  })

  // proves abuse: A key, with or without a capability, is denied in a loop
  test('the same bytes under other ids are gathered; the event has the id of the last', async () => {
    const audit = open()
    for (let i = 0; i < 10; i++) void audit.record(again(`e${i}`), from('192.0.2.1'))
    await audit.close(5_000)
    expect(submitted.map(({ detail }) => [detail?.['eventId'], detail?.['count']])).toEqual([
      ['e0', 1],
      ['e9', 9],
    ])
  })

  test('texts that differ behind what is kept of them are gathered', () => {
    const audit = open()
    for (const end of ['a', 'b'])
      void audit.record(denied({ principalId: `${'x'.repeat(300)}${end}` }), of('alice'))
    expect(submitted).toHaveLength(1)
  })

  // proves abuse: A key, with or without a capability, is denied in a loop
  test('a caller that names another principal each time writes no more than 600 a minute, and takes none of its neighbours', () => {
    const audit = open()
    const startedAt = performance.now()
    for (let i = 0; i < 2_000; i++) void audit.record(denied({ principalId: `p${i}` }), of('alice'))
    const tookMs = performance.now() - startedAt
    expect(submitted.length).toBeGreaterThanOrEqual(600)
    // One more each tenth of a second that the loop took.
    expect(submitted.length).toBeLessThanOrEqual(601 + tookMs / 100)
    expect(audit.record(denied(), of('bob'))).toBeDefined()
    expect(submitted.at(-1)).toMatchObject({
      callerId: 'bob',
      detail: { unwrittenBefore: expect.any(Number) },
    })
  })

  test('a stop writes what is gathered', async () => {
    const audit = open()
    for (let i = 0; i < 5; i++) void audit.record(rejected, from('192.0.2.1'))
    await audit.close(5_000)
    expect(submitted.map(({ detail }) => detail?.['count'])).toEqual([1, 4])
    expect(logged).toEqual([])
  })

  test('those of all addresses together write no more than 6,000 a minute', () => {
    const audit = open()
    const startedAt = performance.now()
    for (let i = 0; i < 7_000; i++) void audit.record(rejected, from(`10.0.${i >> 8}.${i & 255}`))
    const tookMs = performance.now() - startedAt
    expect(submitted.length).toBeGreaterThanOrEqual(6_000)
    // One more each hundredth of a second that the loop took.
    expect(submitted.length).toBeLessThanOrEqual(6_001 + tookMs / 10)
  })

  test('what all addresses have used up leaves callers theirs; the next event tells how many were not written', () => {
    const audit = open()
    for (let i = 0; i < 7_000; i++) void audit.record(rejected, from(`10.0.${i >> 8}.${i & 255}`))
    const before = submitted.length
    for (const callerId of ['alice', 'bob']) expect(audit.record(denied(), of(callerId))).toBeDefined()
    const [first, second] = submitted.slice(before).map(({ detail }) => detail?.['unwrittenBefore'])
    // Some events were written meanwhile, and told of those before them.
    expect(first).toBeGreaterThan(0)
    expect(second).toBeUndefined()
  })

  test('rate limits of all addresses together write no more than 6,000 a minute either', () => {
    const audit = open()
    const startedAt = performance.now()
    for (let i = 0; i < 7_000; i++) void audit.record(limited, from(`10.0.${i >> 8}.${i & 255}`))
    const tookMs = performance.now() - startedAt
    expect(submitted.length).toBeGreaterThanOrEqual(6_000)
    expect(submitted.length).toBeLessThanOrEqual(6_001 + tookMs / 10)
  })
})

describe('a database that is away', () => {
  test('keeps a reply for a second at most; the same event is tried until it is stored', async () => {
    answer = AWAY
    const audit = open()
    const startedAt = performance.now()
    await audit.record(denied(), of('alice'))
    const waitedMs = performance.now() - startedAt
    expect(waitedMs).toBeGreaterThan(900)
    expect(waitedMs).toBeLessThan(LONG_MS)
    answer = STORED
    const before = submitted.length
    await until(() => submitted.length > before, 'one more try')
    await audit.close(5_000)
    expect(new Set(submitted.map(({ eventId }) => eventId)).size).toBe(1)
    expect(submitted).toHaveLength(before + 1)
    expect(logged).toEqual([])
  })

  // proves fault: The database is away when a request
  test('one that does not answer at all keeps a reply no longer', async () => {
    answer = () => new Promise(() => undefined)
    const startedAt = performance.now()
    await open().record(denied(), of('alice'))
    expect(performance.now() - startedAt).toBeLessThan(LONG_MS)
  })

  test('ten thousand events wait for it; the next one is logged as lost, and its reply does not wait', () => {
    answer = () => new Promise(() => undefined)
    const audit = open()
    for (let i = 0; i < 10_000; i++) expect(audit.record(denied(), of(`alice${i}`))).toBeDefined()
    expect(audit.record(denied(), of('bob'))).toBeUndefined()
    expect(submitted).toHaveLength(10_000)
    expect(logged).toMatchObject([{ message: 'audit event lost', event: { callerId: 'bob' } }])
  })
})

const byType = (events: Event[]) => new Map(events.map((event) => [event.type, event]))

describe('close', () => {
  test('waits for what is on its way', async () => {
    let store: ((status: number) => void) | undefined
    answer = () => new Promise((resolve) => (store = resolve))
    const audit = open()
    void audit.record(denied(), of('alice'))
    let closed = false
    const closing = audit.close(10_000).then(() => (closed = true))
    await delay(50)
    expect(closed).toBe(false)
    store?.(200)
    await closing
    expect(logged).toEqual([])
  })

  test('gives up after its time and logs what is lost, whole', async () => {
    answer = AWAY
    const audit = open()
    void audit.record(denied(), of('alice'))
    void audit.record(rejected, from('192.0.2.1'))
    const startedAt = performance.now()
    await audit.close(200)
    expect(performance.now() - startedAt).toBeLessThan(LONG_MS)
    expect(logged.map(({ message }) => message)).toEqual(['audit event lost', 'audit event lost'])
    expect(byType(logged.map(({ event }) => event))).toEqual(byType(submitted))
  })

  test('a thread that never answers does not keep it', async () => {
    answer = () => new Promise(() => undefined)
    const audit = open()
    void audit.record(denied(), of('alice'))
    const startedAt = performance.now()
    await audit.close(200)
    expect(performance.now() - startedAt).toBeLessThan(LONG_MS)
    expect(logged).toMatchObject([{ message: 'audit event lost', event: { callerId: 'alice' } }])
  })

  test('with nothing on its way is at once', async () => {
    const audit = open()
    await audit.record(denied(), of('alice'))
    await audit.close(10_000)
    expect(submitted).toHaveLength(1)
  })
})
