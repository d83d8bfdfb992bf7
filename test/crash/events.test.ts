// kill -9 at every await of delivering events to an endpoint: whatever the moment, whoever goes on delivers every event, none before the one
// ahead of it was taken.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHuman, putInEffect } from '../authority.ts'
import { createDatabase, withoutServices, type TestDatabase } from '../database.ts'
import { CACHE } from '../run/bundle.ts'
import { baseEnvironment } from '../run/environment.ts'
import { bundlePrograms } from '../run/programs.ts'
import { startService, until } from '../service.ts'
import { makeKeys } from '../signing-keys.ts'
import { aTransaction } from '../transactions.ts'
import { deliverEvents, type Work } from './events/deliver.ts'
import { instrument, withoutLimit } from './points/instrument.ts'
import { awaitOf, awaitsOf, planKills, readMarks, type Kill, type Reached } from './points/plan.ts'

const ROOT = join(import.meta.dirname, '..', '..')
/** The instance as one program, every await marked. Where it finds the packages. */
const MARKED_FOLDER = join(CACHE, 'marked-events')
const WORK = [
  'src/server/jobs/events.ts',
  'src/server/jobs/deliver-events.ts',
  'src/server/jobs/due.ts',
  'src/server/jobs/repeat.ts',
  'src/server/dispatch/own-work.ts',
  'workers/events/sign.ts',
  'src/store/tables/event-deliveries.ts',
  'src/core/outbound/call.ts',
]
const EVENTS = 3

/** `taken`: each event is. `gone`: the second is answered 410, which disables the endpoint. */
type Answers = 'taken' | 'gone'

/** Awaits that no delivery here comes to. */
const NEVER: Readonly<Record<string, readonly string[]>> = {
  'What a human asks for or reads, by routes of its own.': [
    'src/store/tables/event-deliveries.ts:endDeliveries:1',
    'src/store/tables/event-deliveries.ts:lockEndpoint:1',
    'src/store/tables/event-deliveries.ts:openDeliveries:1',
    'src/store/tables/event-deliveries.ts:redeliver:1',
    'src/store/tables/event-deliveries.ts:replaceSecret:1',
    'src/store/tables/event-deliveries.ts:readEventEndpoints:1',
  ],
  'The service cannot read or sign the events, or can again: one statement names the lease, and what it leaves is tried again: test/http/event-endpoints.test.ts.':
    [
      'src/server/jobs/deliver-events.ts:deliverEvents:2',
      'src/server/jobs/events.ts:noteNotServed:1',
      'src/server/jobs/events.ts:startDelivering.settle:2',
      'src/store/tables/event-deliveries.ts:noteServed:1',
      'src/store/tables/event-deliveries.ts:noteUnserved:1',
    ],
  'Other work of the service than deliveries.': ['src/server/dispatch/own-work.ts:doOwnWork:1'],
  'Attempts that take seconds, or are given up at a stop: what is stored is what is stored behind the last one.':
    [
      'src/server/jobs/deliver-events.ts:deliverAll:1',
      'src/server/jobs/deliver-events.ts:deliverAll:3',
      'src/server/jobs/deliver-events.ts:deliverAll:5',
    ],
}

const folder = mkdtempSync(join(tmpdir(), 'countersign-test-events-'))
const keyDir = join(folder, 'keys')
const [maker, checker] = [aHuman('maker'), aHuman('checker')]

let database: TestDatabase
let marks: ReadonlyMap<Answers, readonly Reached[]>
/** The ids of the feed's events, in its order. */
let eventIds: readonly string[] = []
/** Cursors before the first event and behind the last. */
let [start, end] = ['', '']

/** Event ids as they came, and whether each was taken. */
let received: { eventId: string; taken: boolean }[] = []
let answers: Answers = 'taken'
const receiver = createServer((request, response) => void receive(request, response))

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { eventId } = JSON.parse(await text(request)) as { eventId: string }
  const taken = answers === 'taken' || eventId !== eventIds[1]
  received.push({ eventId, taken })
  response.writeHead(taken ? 204 : 410).end()
}

const DELIVERIES = 'src/server/jobs/deliver-events.ts'

function withMarks(file: string, source: string): string {
  if (!WORK.includes(file)) return source
  return instrument(file, file === DELIVERIES ? withoutLimit(source, 'STORE_EVERY_MS') : source).text
}

beforeAll(async () => {
  makeKeys(keyDir)
  await bundlePrograms(MARKED_FOLDER, withMarks, { child: join(import.meta.dirname, 'events', 'child.ts') })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  database = await createDatabase()
  await storeEvents()
  const list = join(folder, 'marks')
  marks = new Map(
    await inTurn(['taken', 'gone'] as const, async (kind): Promise<[Answers, readonly Reached[]]> => {
      writeFileSync(list, '')
      await reset()
      answers = kind
      expect(await runChild({ CRASH_LIST: list }, kind)).toBeNull()
      expect(received.map(({ taken }) => taken)).toEqual(
        kind === 'taken' ? [true, true, true] : [true, false],
      )
      // Another instance may go on at once.
      const { rows } = await database.pool.query('SELECT lease FROM event_deliveries')
      expect(rows).toEqual([{ lease: null }])
      return [kind, withOneLook(readMarks(readFileSync(list, 'utf8')))]
    }),
  )
})

afterAll(async () => {
  receiver.close()
  await database.drop()
  rmSync(folder, { recursive: true })
})

const LOOK = /[.:](look|repeat|takeDueEndpoints|countEventEndpointStates):/

/** An instance looks for endpoints twice a second: how often depends on how long the deliveries take, and that it does once, on nothing. */
function withOneLook(all: readonly Reached[]): Reached[] {
  return all.filter(
    ({ point }, i) => !LOOK.test(point) || all.findIndex((mark) => mark.point === point) === i,
  )
}

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (const item of items) results.push(await work(item))
  return results
}

/** Executions whose events a service has delivered once: what is delivered again begins with the first of them. */
async function storeEvents(): Promise<void> {
  const callers = [maker.entry, checker.entry]
  const service = await startService({ databaseUrl: database.url, signingKeyDir: keyDir, callers })
  await putInEffect(service, { maker, checker }, '/event-endpoints/changes', {
    action: 'register',
    url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`,
    types: ['execution.completed'],
    withParameters: true,
    reason: 'test',
  })
  start = await cursorOf()
  for (let i = 0; i < EVENTS; i++) expect((await service.post('/execute', aTransaction())).status).toBe(200)
  await until(async () => received.length === EVENTS && (await cursorOf()) !== start, 'the deliveries')
  expect(await service.stop()).toBe(0)
  eventIds = received.map(({ eventId }) => eventId)
  end = await cursorOf()
}

async function cursorOf(): Promise<string> {
  const { rows } = await database.pool.query<{ cursor: string }>('SELECT cursor FROM event_deliveries')
  return rows[0]?.cursor ?? ''
}

/** As before the first delivery. */
async function reset(): Promise<void> {
  received = []
  await database.pool.query(
    `UPDATE event_deliveries SET cursor = $1, lease = NULL, leased_until = '-infinity', due_at = '-infinity',
       failures = 0, failing_since = NULL, disabled_at = NULL, last_success_at = NULL, last_failure_at = NULL`,
    [start],
  )
}

/** @returns the signal that ended it, null where it came to its end */
async function runChild(env: Record<string, string>, what: string): Promise<NodeJS.Signals | null> {
  const child = spawn(process.execPath, [join(MARKED_FOLDER, 'child.mjs')], {
    env: {
      ...baseEnvironment,
      CRASH_WORK: JSON.stringify({ url: database.url, keyDir } satisfies Work),
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  expect(code ?? 0, `${what}: ${stderr}`).toBe(0)
  return signal
}

// proves fault: kill -9 while events are delivered
test('every await of the work is one that an instance is killed at', () => {
  const reached = awaitsOf(marks)
  const written = WORK.flatMap((file) =>
    instrument(file, readFileSync(join(ROOT, file), 'utf8')).awaits.map((one) => `${file}:${one}`),
  )
  const never = Object.values(NEVER).flat()
  expect(written.filter((one) => !reached.has(one)).toSorted()).toEqual(never.toSorted())
})

// proves fault: kill -9 while events are delivered; abuse: An event endpoint that lies
test('killed at any of them, the next instance delivers the rest, in order', async () => {
  const kills = planKills(marks)
  expect(new Set(kills.map(({ at }) => awaitOf(at)))).toEqual(awaitsOf(marks))
  let repeated = 0
  for (const kill of kills) repeated += await killAt(kill)
  expect(repeated).toBeGreaterThan(0)
}, 600_000)

/** @returns how many events came that had been taken before */
async function killAt({ kind, at, nth, when }: Kill<Answers>): Promise<number> {
  const what = `${kind}, killed at ${at}, ${nth}, ${when}`
  await reset()
  answers = kind
  expect(await runChild({ CRASH_STOP: JSON.stringify({ at, nth, when }) }, what), what).toBe('SIGKILL')
  await withoutServices(database)
  // As 30 seconds later, when its lease has run out; where the endpoint is disabled, a human has enabled it again.
  await database.pool.query(
    `UPDATE event_deliveries SET lease = NULL, leased_until = '-infinity', due_at = '-infinity', disabled_at = NULL`,
  )
  answers = 'taken'
  await deliverEvents({ url: database.url, keyDir })
  const taken = new Set<string>()
  let again = 0
  for (const { eventId, taken: isTaken } of received) {
    const ahead = eventIds.slice(0, eventIds.indexOf(eventId))
    expect(
      ahead.filter((one) => !taken.has(one)),
      what,
    ).toEqual([])
    if (taken.has(eventId)) again++
    if (isTaken) taken.add(eventId)
  }
  expect([...taken], what).toEqual(eventIds)
  expect(await cursorOf(), what).toBe(end)
  return again
}
