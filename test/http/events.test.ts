// The feed of events over HTTP: what a caller, an auditor and a human follow on two instances of one database.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { aHuman, aKeyPair, proposed, resolved } from '../authority.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { putInDoubt } from '../intents.ts'
import { aCaller, reply, startService, until, type TestService } from '../service.ts'
import { aRejectedTransaction, aTransaction, type Changes } from '../transactions.ts'

const quiet = aCaller('quiet', { allowedPrincipalIds: ['tester'] })
const auditor = aCaller('auditor', { readAll: true })
const [maker, checker] = [aHuman('maker'), aHuman('checker')]

let database: TestDatabase
let service: TestService
let other: TestService
/** LOG=off, on a database of its own. */
let off: TestService
let offDatabase: TestDatabase

beforeAll(async () => {
  ;[database, offDatabase] = await Promise.all([createDatabase(), createDatabase()])
  const callers = [quiet.entry, auditor.entry, maker.entry, checker.entry]
  service = await startService({ databaseUrl: database.url, callers })
  const { signingKeyDir, key } = service
  other = await startService({ databaseUrl: database.url, callers, signingKeyDir, key })
  off = await startService({ databaseUrl: offDatabase.url, env: { LOG: 'off' } })
})

afterAll(async () => {
  expect([await service.stop(), await other.stop(), await off.stop()]).toEqual([0, 0, 0])
  await Promise.all([database.drop(), offDatabase.drop()])
})

interface Shown {
  readonly eventId: string
  readonly type: string
  readonly businessTransactionId?: string
  readonly entry: { readonly log: number; readonly index: number }
  readonly [member: string]: unknown
}

interface Page {
  readonly events: readonly Shown[]
  readonly next: string
}

interface Following {
  readonly key?: string
  readonly query?: string
  readonly waitSeconds?: number
  readonly at?: TestService
  /** A service that cannot answer now is asked again when it says so. */
  readonly asksAgain?: true
}

async function page(
  after: string | undefined,
  { key, query = '', waitSeconds = 0, at = service, asksAgain }: Following = {},
) {
  const cursor = after === undefined ? '' : `after=${after}&`
  const ask = () =>
    at.get(`/events?${cursor}${query}`, {
      ...(key === undefined ? {} : { key }),
      headers: waitSeconds === 0 ? {} : { Prefer: `wait=${waitSeconds}` },
    })
  let called = await ask()
  if (asksAgain) {
    while (called.status === 503) {
      const seconds = Number(called.headers.get('retry-after'))
      expect(seconds, 'Retry-After of a 503').toBeGreaterThan(0)
      await delay(1000 * seconds)
      called = await ask()
    }
  }
  expect(called.status, called.text).toBe(200)
  return called.body as Page
}

/** Follows from a cursor until the events are what is wanted. */
async function follow(after: string, how: Following, isAll: (events: readonly Shown[]) => boolean) {
  const events: Shown[] = []
  while (!isAll(events)) {
    const { events: some, next } = await page(after, { waitSeconds: 20, ...how })
    events.push(...some)
    after = next
  }
  return { events, next: after }
}

const now = async () => (await page('now')).next

async function executed(changes: Changes = {}, { key = service.key, at = service } = {}): Promise<string> {
  const transaction = aTransaction(changes)
  await at.post('/execute', transaction, { key })
  return transaction.businessTransactionId
}

const has = (id: string) => (events: readonly Shown[]) =>
  events.some(({ businessTransactionId }) => businessTransactionId === id)

const areMany = (events: readonly Shown[]) => events.length >= 120

describe('GET /events 200', () => {
  test('an execution that completed, one that failed and one that was refused, with ids and hashes and no parameters', async () => {
    const after = await now()
    const secret = `secret-${randomUUID()}`
    const completed = await executed({ intent: { parameters: { amount: 42, note: secret } } })
    const failed = await executed({ intent: { parameters: { amount: 42, fail: true } } })
    const rejected = aRejectedTransaction()
    await service.post('/execute', rejected)
    const { events } = await follow(after, {}, has(rejected.businessTransactionId))
    const { body: record } = await service.get(`/trust-records/${completed}`)
    const { body: refusal } = await service.get(`/refusal/${rejected.businessTransactionId}`)
    const common = { eventId: expect.any(String), occurredAt: expect.any(String), entry: expect.any(Object) }
    expect(events).toEqual([
      {
        ...common,
        type: 'execution.completed',
        occurredAt: record.receipts[0].issuedAt,
        businessTransactionId: completed,
        callerId: 'tester',
        trustRecordHash: record.trustRecordHash,
        receiptId: record.receipts[0].receiptId,
        receiptHash: record.receipts[0].receiptHash,
      },
      expect.objectContaining({
        type: 'execution.failed',
        businessTransactionId: failed,
        callerId: 'tester',
      }),
      {
        ...common,
        type: 'execution.refused',
        occurredAt: refusal.createdAt,
        businessTransactionId: rejected.businessTransactionId,
        callerId: 'tester',
        refusalRecordHash: refusal.refusalRecordHash,
      },
    ])
    expect(JSON.stringify(events)).not.toContain(secret)
    // A further receipt is no further end of the execution.
    await service.post('/receipt', { businessTransactionId: completed })
    const last = await executed()
    expect((await follow(after, {}, has(last))).events.filter((one) => has(completed)([one]))).toHaveLength(1)
  })

  test('is a caller’s own; everybody’s for auditors, humans and nobody else', async () => {
    const after = await now()
    const mine = await executed({}, quiet)
    const others = await executed()
    const seen = async (key: string) => (await follow(after, { key }, (some) => some.length > 0)).events
    const all = await follow(after, { key: auditor.key }, has(others))
    expect(all.events.map(({ callerId }) => callerId)).toEqual(['quiet', 'tester'])
    expect((await follow(after, { key: maker.key }, has(others))).events).toEqual(all.events)
    expect(await seen(quiet.key)).toEqual(all.events.slice(0, 1))
    expect(await seen(service.key)).toEqual(all.events.slice(1))
    expect(has(mine)(await seen(quiet.key))).toBe(true)
    // Only the place of another caller's cursor counts.
    expect((await page(all.next, { key: quiet.key })).events).toEqual([])
  })

  test('an execution in doubt and its end, for whose it is', async () => {
    const lost = aTransaction()
    const id = lost.businessTransactionId
    const started = await now()
    expect((await service.post('/execute', lost, quiet)).status).toBe(200)
    const { next: after } = await follow(started, quiet, has(id))
    await putInDoubt(database, id)
    const doubted = await follow(after, quiet, has(id))
    expect(doubted.events).toMatchObject([
      { type: 'execution.in_doubt', businessTransactionId: id, callerId: 'quiet' },
    ])
    const resolution = { resolution: 'EXECUTED', note: 'The provider says so.' }
    expect((await service.post(`/execution-intents/${id}/resolve`, resolution, checker)).status).toBe(200)
    const { transition } = (await service.get(`/execution-intents/${id}`, quiet)).body.transitions[0]
    const closed = await follow(doubted.next, quiet, has(id))
    expect(closed.events).toMatchObject([
      {
        type: 'execution.closed',
        businessTransactionId: id,
        callerId: 'quiet',
        transitionId: transition.transitionId,
        occurredAt: transition.at,
        state: 'RESOLVED',
        resolution: 'EXECUTED',
        by: 'checker',
      },
    ])
  })

  test('a change that is proposed and approved, for those who read everything', async () => {
    const after = await now()
    const change = await proposed(service, maker, '/approvers/changes', {
      action: 'add',
      approverId: 'ada',
      keyId: 'k1',
      publicKeyPem: aKeyPair().publicKeyPem,
      reason: 'New in the team.',
    })
    await resolved(service, checker, change, 'approve')
    const { changeId, changeHash } = change
    const about = { changeId, changeHash, kind: 'approver', target: 'ada:k1' }
    const { events } = await follow(after, { key: auditor.key }, (some) => some.length === 2)
    expect(events).toMatchObject([
      { ...about, type: 'change.proposed', status: 'PENDING_APPROVAL', by: 'maker' },
      { ...about, type: 'change.resolved', status: 'APPROVED', by: 'checker' },
    ])
    expect((await page(after, { query: 'types=change.proposed,change.resolved' })).events).toEqual([])
  })

  test('on two instances with concurrent writers: each follower gets each event once, in one order', async () => {
    const after = await now()
    const done = new Set<string>()
    const write = async (at: TestService) => {
      for (let i = 0; i < 15; i++) {
        const ids = await Promise.all([
          executed({}, { key: service.key, at }),
          executed({}, { key: service.key, at }),
        ])
        for (const id of ids) done.add(id)
      }
    }
    const [here, there] = await Promise.all([
      follow(after, { key: auditor.key, query: 'limit=7' }, areMany),
      follow(after, { at: other, query: 'limit=100' }, areMany),
      ...[service, other, service, other].map(write),
    ])
    expect(here.events).toHaveLength(120)
    expect(new Set(here.events.map(({ businessTransactionId }) => businessTransactionId))).toEqual(done)
    expect(there.events).toEqual(here.events)
    const indexes = here.events.map(({ entry }) => entry.index)
    expect(indexes).toEqual(indexes.toSorted((a, b) => a - b))
    expect(new Set(here.events.map(({ eventId }) => eventId)).size).toBe(120)
  })

  // A waiting caller sends the database nothing, but two thousand who ask at once keep two cores with a cluster on them busy for a minute.
  const isCluster = inject('nodeUrls').length > 1
  test.skipIf(isCluster)(
    'two thousand who wait get their event when it comes, and nobody else is kept from anything',
    async () => {
      const after = await now()
      // A caller that gets an empty page after that time, or no connection to the database in two seconds, asks again: on some machines two thousand
      // callers take as long to ask.
      const how = { ...quiet, waitSeconds: 30, at: other, asksAgain: true } as const
      const waiting = Array.from({ length: 2_000 }, () => follow(after, how, (events) => events.length > 0))
      // Answered by the same instance meanwhile: at once, or as soon as it has taken up all that were sent together.
      await until(async () => (await other.get('/ready')).status === 200, 'it to be ready while they wait')
      const ids: string[] = []
      for (const key of [service.key, quiet.key]) {
        const transaction = aTransaction()
        ids.push(transaction.businessTransactionId)
        await until(
          async () => [200, 409].includes((await other.post('/execute', transaction, { key })).status),
          'an execution while they wait',
        )
      }
      const pages = await Promise.all(waiting)
      const heard = pages.map(({ events }) => events.map((event) => event.businessTransactionId))
      expect(heard.filter((own) => isDeepStrictEqual(own, [ids[1]]))).toHaveLength(2_000)
    },
  )

  test('with Prefer: wait an empty page after that time, from which a follower goes on', async () => {
    const after = await now()
    const startedMs = performance.now()
    const { events, next } = await page(after, { ...quiet, waitSeconds: 1 })
    expect(events).toEqual([])
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(990)
    const id = await executed({}, quiet)
    expect((await follow(next, quiet, has(id))).events).toHaveLength(1)
  })

  test('as NDJSON: a line for each event, and the cursor in the Link', async () => {
    const after = await now()
    const id = await executed({}, quiet)
    const { events, next } = await follow(after, quiet, has(id))
    const accept = { ...quiet, headers: { Accept: 'application/x-ndjson' } }
    const called = await service.get(`/events?after=${after}&limit=1`, accept)
    expect(called.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    expect(called.text).toBe(`${JSON.stringify(events[0])}\n`)
    const [, path = ''] = /^<(.*)>; rel="next"$/.exec(called.headers.get('link') ?? '') ?? []
    expect(path).toContain('limit=1')
    const empty = await service.get(path, accept)
    expect([empty.status, empty.text]).toEqual([200, ''])
    expect((await page(next, quiet)).events).toEqual([])
  })

  test('as OCSF: what a SIEM reads, with a fingerprint of all of it', async () => {
    const after = await now()
    const id = await executed({}, quiet)
    const { events } = await follow(after, quiet, has(id))
    const { body } = await service.get(`/events?after=${after}&format=ocsf`, quiet)
    const [event] = body.events as [Record<string, Json> & { attestation_list: [Record<string, Json>] }]
    expect(event).toMatchObject({
      category_uid: 6,
      class_uid: 6003,
      type_uid: 600301,
      status_id: 1,
      time: Date.parse(String(events[0]!['occurredAt'])),
      metadata: {
        version: '1.9.0',
        uid: events[0]!.eventId,
        event_code: 'execution.completed',
        profiles: ['record_integrity'],
      },
      actor: { user: { uid: 'quiet' } },
      unmapped: events[0],
    })
    const { fingerprint, ...attestation } = event.attestation_list[0] as {
      fingerprint: { value: string }
      chain_uid: string
    }
    expect(fingerprint.value).toBe(sha256Hex(canonicalize({ ...event, attestation_list: [attestation] })))
    expect(attestation.chain_uid).toMatch(/\/log\/1$/)
  })
})

describe('GET /events 400 invalidQuery', () => {
  test.each([
    ['after=x', 'after must be the `next` of another page, or `now`.'],
    ['after=', 'after must be the `next` of another page, or `now`.'],
    ['limit=0', 'limit must be a whole number from 1 to 1000.'],
    ['limit=1001', 'limit must be a whole number from 1 to 1000.'],
    ['limit=ten', 'limit must be a whole number from 1 to 1000.'],
    ['format=xml', 'format must be one of ocsf.'],
    [
      'types=execution.done',
      'types must be of execution.completed, execution.failed, execution.refused, execution.in_doubt, execution.closed, confirmation.received, confirmation.contradicts, change.proposed, change.resolved, approval_request.opened, approval_request.approved, approval_request.declined, approval_request.expired, approval_request.ended, approval_request.noted, with commas between them.',
    ],
  ])('%s', async (query, error) => {
    expect(reply(await service.get(`/events?${query}`))).toEqual({ status: 400, body: { error } })
  })

  test('the cursor of another service', async () => {
    const foreign = await createDatabase()
    const { signingKeyDir, key } = service
    const stranger = await startService({ databaseUrl: foreign.url, signingKeyDir, key })
    const { next } = await page('now', { at: stranger })
    expect(reply(await service.get(`/events?after=${next}`))).toEqual({
      status: 400,
      body: { error: 'after is the cursor of another log.' },
    })
    expect(await stranger.stop()).toBe(0)
    await foreign.drop()
  })
})

describe('GET /events 409 noEvents', () => {
  test('with LOG=off', async () => {
    expect(reply(await off.get('/events'))).toEqual({
      status: 409,
      body: {
        error: 'This service runs with LOG=off: events are read from the evidence log.',
        code: 'NOT_LOGGED',
      },
    })
  })
})

describe('an instance that is killed', () => {
  test('loses no event, and its followers go on at another', async () => {
    const after = await now()
    const { signingKeyDir, key } = service
    const third = await startService({
      databaseUrl: database.url,
      callers: [quiet.entry],
      signingKeyDir,
      key,
    })
    const committed: string[] = []
    const writing = (async () => {
      for (;;) {
        const transaction = aTransaction()
        const answer = await third.post('/execute', transaction, quiet).catch(() => undefined)
        if (answer?.status !== 200) return
        committed.push(transaction.businessTransactionId)
      }
    })()
    await until(() => committed.length > 10, 'some executions')
    const seen = await page(after, { ...quiet, at: third })
    third.process.kill('SIGKILL')
    await writing
    const rest = await follow(seen.next, quiet, (some) =>
      committed.every((id) => has(id)([...seen.events, ...some])),
    )
    const ids = [...seen.events, ...rest.events].map(({ businessTransactionId }) => businessTransactionId)
    expect(new Set(ids).size).toBe(ids.length)
    await third.stop()
  })

  test('a stop answers those who wait', async () => {
    const { signingKeyDir, key } = service
    const third = await startService({
      databaseUrl: database.url,
      callers: [quiet.entry],
      signingKeyDir,
      key,
    })
    const after = await now()
    const startedMs = performance.now()
    const waiting = page(after, { ...quiet, waitSeconds: 30, at: third })
    await until(async () => (await third.get('/ready')).status === 200, 'the request before it')
    expect(await third.stop()).toBe(0)
    expect((await waiting).events).toEqual([])
    expect(performance.now() - startedMs).toBeLessThan(25_000)
  })
})
