// One redelivery of an event endpoint goes on at a time, and one a minute: whoever asks, on whichever instance.
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHuman, anEndpointStepUp } from '../authority.ts'
import { http, type Received } from '../connectors/loopback.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { aMinuteLater, delivered, eventEndpoints, idsIn, TYPES } from '../event-endpoints.ts'
import { scrape } from '../metrics/scrape.ts'
import { reply, startService, until, type TestService } from '../service.ts'

const maker = aHuman('maker')
const checker = aHuman('checker')
/** A human without a step-up key. */
const guest = aHuman('guest', { stepUpPublicKey: undefined })
const humans = { maker, checker }
const callers = [maker.entry, checker.entry, guest.entry]

let database: TestDatabase
let service: TestService
let second: TestService

beforeAll(async () => {
  database = await createDatabase()
  service = await startService({ databaseUrl: database.url, callers, env: { METRICS_PORT: '0' } })
  second = await startSecond()
})
afterAll(async () => {
  for (const instance of [second, service]) expect(await instance.stop()).toBe(0)
  await database.drop()
})

const startSecond = () => {
  const { signingKeyDir, key } = service
  return startService({ databaseUrl: database.url, callers, signingKeyDir, key })
}

const { listed, anEndpoint, execute } = eventEndpoints(() => service, humans)
type Endpoint = Awaited<ReturnType<typeof anEndpoint>>

const redeliver = ({ path }: Endpoint, body: object = {}, { by = maker, at = service } = {}) =>
  at.post(`${path}/redeliver`, body, { key: by.key })

async function refused(...asked: Parameters<typeof redeliver>): Promise<number> {
  const { status, body, headers } = await redeliver(...asked)
  expect([status, body]).toEqual([
    429,
    {
      error:
        'An endpoint allows one redelivery at a time, for all callers together. The last one was requested less than a minute ago, or is still running.',
      code: 'RATE_LIMITED',
    },
  ])
  const seconds = Number(headers.get('retry-after'))
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).toBeLessThanOrEqual(60)
  return seconds
}

async function taken(...asked: Parameters<typeof redeliver>): Promise<void> {
  expect(reply(await redeliver(...asked))).toEqual({
    status: 200,
    body: { endpointId: asked[0].id, result: expect.stringContaining('attempts') },
  })
}

/** The next one is taken once the endpoint has had all that was there. */
async function takenAfterwards(...asked: Parameters<typeof redeliver>): Promise<void> {
  await until(async () => (await redeliver(...asked)).status === 200, 'the end of the redelivery')
}

/** Waits until everything is delivered and stored as delivered. */
async function caughtUp({ url }: Endpoint): Promise<void> {
  const rest = async () => {
    const cursor = (await listed(url))?.cursor
    return (await service.get(`/events?after=${cursor}&types=${TYPES[0]}`)).body.events as object[]
  }
  await until(async () => (await rest()).length === 0, 'the end of the deliveries')
}

/** Takes every event but those of the transactions that are held, whose attempts hang until they are let through. */
function aHoldingReceiver() {
  const held = new Map<string, Socket[]>()
  return {
    hold: (id: string) => void held.set(id, []),
    letThrough(id: string) {
      for (const socket of held.get(id) ?? []) socket.end(http(204))
      held.delete(id)
    },
    answer(socket: Socket, request: Received) {
      const waiting = held.get(idsIn([request])[0] ?? '')
      if (waiting === undefined) socket.end(http(204))
      else waiting.push(socket)
    },
  }
}

/** @returns the id of a transaction whose event hangs */
async function executeHeld({ hold }: ReturnType<typeof aHoldingReceiver>): Promise<string> {
  const businessTransactionId = randomUUID()
  hold(businessTransactionId)
  return execute(service, { businessTransactionId })
}

// proves abuse: One human’s key, or several, have events delivered again
test('of a loop by several humans on two instances one is taken; another endpoint is not concerned', async () => {
  const [endpoint, neighbour] = [await anEndpoint(http(204)), await anEndpoint(http(204))]
  const before = (await listed(endpoint.url))!.cursor
  const ids = [await execute(), await execute()]
  for (const each of [endpoint, neighbour]) {
    await delivered(each.requests, ids)
    await caughtUp(each)
  }
  const asked = Array.from({ length: 24 }, (_, n) =>
    redeliver(endpoint, n % 3 === 0 ? {} : { after: before }, {
      by: [maker, checker, guest][n % 3]!,
      at: n % 2 === 0 ? service : second,
    }),
  )
  const replies = Map.groupBy(await Promise.all(asked), ({ status }) => status)
  expect([replies.get(200)?.length, replies.get(429)?.length]).toEqual([1, 23])
  const samples = await scrape(service)
  const counted = samples.filter(
    ({ name, value }) => name === 'countersign_rate_limit_refusals_total' && value > 0,
  )
  expect(counted.map(({ labels }) => labels['limit'])).toEqual(['redeliveries'])
  await taken(neighbour, { after: before })
  await until(() => neighbour.requests.length === 2 * ids.length, 'the redelivery to the neighbour')
  const next = await execute()
  for (const each of [endpoint, neighbour]) await delivered(each.requests, [next])
  expect(idsIn(neighbour.requests)).toEqual([...ids, ...ids, next])
  expect(endpoint.requests.length).toBeLessThanOrEqual(2 * ids.length + 1)

  expect(await refused(endpoint, { after: before }, { by: guest })).toBeGreaterThan(30)
  const { body } = await service.get('/audit/events?type=event_endpoint.redelivered', { key: maker.key })
  const noted = (body.events as { event: { detail: { endpointId: string } } }[]).filter(
    ({ event }) => event.detail.endpointId === endpoint.id,
  )
  expect(noted).toHaveLength(1)
})

// proves abuse: One human’s key, or several, have events delivered again
test('the next one begins when all is delivered that was there, however long that takes', async () => {
  const receiver = aHoldingReceiver()
  const endpoint = await anEndpoint((socket, request) => receiver.answer(socket, request))
  const before = (await listed(endpoint.url))!.cursor
  const old = await execute()
  await delivered(endpoint.requests, [old])
  // It has come, and was not delivered yet when the endpoint is put back.
  const fresh = await executeHeld(receiver)
  await delivered(endpoint.requests, [fresh])
  await taken(endpoint, { after: before })
  await until(
    () => idsIn(endpoint.requests).filter((id) => id === fresh).length === 2,
    'the redelivery to come to the event that is held',
  )
  await aMinuteLater(database, endpoint.id)
  for (const body of [{}, { after: before }])
    for (const by of [maker, guest]) expect(await refused(endpoint, body, { by })).toBe(60)
  expect(idsIn(endpoint.requests)).toEqual([old, fresh, old, fresh])

  receiver.letThrough(fresh)
  await takenAfterwards(endpoint, { after: before }, { by: guest })
})

// proves abuse: One human’s key, or several, have events delivered again
test('an endpoint that fails or is disabled is tried again once a minute, and not only once', async () => {
  let status = 500
  const endpoint = await anEndpoint((socket) => socket.end(http(status)))
  const id = await execute()
  await until(async () => (await listed(endpoint.url))?.state === 'failing', 'the first failure')
  const { failingSince } = (await listed(endpoint.url))!
  for (const [answered, state, body] of [
    [500, 'failing', {}],
    [410, 'disabled', {}],
    [500, 'failing', { after: (await listed(endpoint.url))!.cursor }],
  ] as const) {
    status = answered
    const tried = endpoint.requests.length
    await taken(endpoint, body)
    await until(
      async () => endpoint.requests.length > tried && (await listed(endpoint.url))?.state === state,
      `the endpoint to be ${state}`,
    )
    // Only a success ends it: the three days until it is disabled do not begin again.
    expect((await listed(endpoint.url))?.failingSince).toBe(failingSince)
    await refused(endpoint, body)
    await refused(endpoint, body, { by: checker, at: second })
    await aMinuteLater(database, endpoint.id)
  }
  status = 204
  await taken(endpoint)
  await caughtUp(endpoint)
  expect(await listed(endpoint.url)).not.toHaveProperty('failingSince')
  expect(new Set(idsIn(endpoint.requests))).toEqual(new Set([id]))
})

// proves abuse: One human’s key, or several, have events delivered again
test('skipping is possible at any time, and going back behind a skip is not', async () => {
  const receiver = aHoldingReceiver()
  const endpoint = await anEndpoint((socket, request) => receiver.answer(socket, request))
  const before = (await listed(endpoint.url))!.cursor
  const id = await execute()
  await delivered(endpoint.requests, [id])
  await caughtUp(endpoint)
  const signed = (after: string) => ({
    after,
    stepUpAuthorization: anEndpointStepUp(maker, { endpointId: endpoint.id, action: 'redeliver', after }),
  })
  receiver.hold(id)
  await taken(endpoint, { after: before })
  // Also where there is nothing to pass over.
  for (let n = 0; n < 3; n++) await taken(endpoint, signed('now'))
  const back = signed(before)
  await refused(endpoint, back)
  await refused(endpoint, { after: before }, { by: guest })
  await delivered(endpoint.requests, [await executeHeld(receiver)])
  for (let n = 0; n < 3; n++) await taken(endpoint, signed('now'))
  receiver.letThrough(id)

  await aMinuteLater(database, endpoint.id)
  // A step-up that was refused is not used up.
  await takenAfterwards(endpoint, back)
})

// proves abuse: One human’s key, or several, have events delivered again
test('a restart forgets nothing', async () => {
  const endpoint = await anEndpoint(http(204))
  const before = (await listed(endpoint.url))!.cursor
  const id = await execute()
  await delivered(endpoint.requests, [id])
  await taken(endpoint, { after: before })
  expect(await second.stop()).toBe(0)
  second = await startSecond()
  await refused(endpoint, { after: before }, { by: checker, at: second })
})
