// Event endpoints: registered by two humans, served in the order of the feed by one instance at a time, signed as Standard Webhooks.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startReceiver } from '../../examples/event-receiver/receiver.ts'
import { aHuman, anEndpointStepUp, aStepUp, proposed, putInEffect, resolved } from '../authority.ts'
import type { EventEndpointWithAttempts } from '../../src/formats/schemas/event-endpoint.ts'
import { http, serve, type Received } from '../connectors/loopback.ts'
import type { TestDatabase } from '../database.ts'
import {
  aMinuteLater,
  aRegistration,
  CHANGES,
  delivered,
  eventEndpoints,
  eventOf,
  idsIn,
  TYPES,
  type Event,
} from '../event-endpoints.ts'
import { putInDoubt } from '../intents.ts'
import { aCaller, reply, startService, until, type TestService } from '../service.ts'
import { withService } from '../with-service.ts'

const maker = aHuman('maker')
const checker = aHuman('checker')
const other = aCaller('other')
/** A human who approves nothing. */
const guest = aHuman('guest', { stepUpPublicKey: undefined })
const humans = { maker, checker }
const callers = [maker.entry, checker.entry, guest.entry, other.entry]

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), { callers })

const { listed, anEndpoint, execute } = eventEndpoints(() => service, humans)
const propose = (body: unknown) => service.post(CHANGES, body, { key: maker.key })

/** Has the next attempt made now. */
const hurry = (id: string) =>
  database.pool.query(`UPDATE event_deliveries SET due_at = now() WHERE endpoint_id = $1`, [id])

/** Whether it waits for its next attempt. */
async function nextAttempt(id: string): Promise<boolean> {
  const { rows } = await database.pool.query(
    'SELECT FROM event_deliveries WHERE endpoint_id = $1 AND lease IS NULL AND due_at > now()',
    [id],
  )
  return rows.length > 0
}

describe('POST /event-endpoints/changes 201', () => {
  test('answers what a checker is to be shown; nothing is in effect yet', async () => {
    const change = await proposed(service, maker, CHANGES, aRegistration('https://1.1.1.1/events'))
    expect(change).toMatchObject({
      kind: 'event-endpoint',
      target: 'https://1.1.1.1/events',
      proposed: {
        action: 'register',
        url: 'https://1.1.1.1/events',
        types: TYPES,
        withParameters: false,
      },
      warnings: [],
    })
    expect(await listed('https://1.1.1.1/events')).toBeUndefined()
    await resolved(service, checker, change, 'reject', { rejectionReason: 'a test' })
  })

  test('a checker is warned of callers that are not there, of parameters that leave, and of this machine', async () => {
    const body = aRegistration('http://127.0.0.1:9/', { withParameters: true, callerIds: ['nobody'] })
    const change = await proposed(service, maker, CHANGES, body)
    expect(change['warnings']).toEqual([
      'No caller nobody has a key.',
      'The parameters of executions are sent to the endpoint.',
      'The endpoint is on the machine of the service itself, and is refused in production.',
    ])
    await resolved(service, checker, change, 'reject', { rejectionReason: 'a test' })
  })
})

describe('POST /event-endpoints/changes 400 invalidField', () => {
  test.each(['https://169.254.169.254/latest/meta-data/', 'https://no-such-name.invalid/'])(
    '%s is no endpoint',
    async (url) => {
      const { status, body } = await propose(aRegistration(url))
      expect([status, body.error]).toEqual([400, expect.stringMatching(/^url must /)])
    },
  )

  const types = 'types must be an array of different types of events, at least one.'
  test.each<[string, object, string]>([
    ['no types', { types: [] }, types],
    ['a type twice', { types: ['change.resolved', 'change.resolved'] }, types],
    ['a type that is none', { types: ['*'] }, expect.stringMatching(/^types\.0 must be one of execution\./)],
    [
      'withParameters that is no boolean',
      { withParameters: 'yes' },
      expect.stringMatching(/^withParameters must be true or false/),
    ],
    ['no callers', { callerIds: [] }, expect.stringMatching(/^callerIds must be an array of 1 to 64/)],
    ['a member that nobody reads', { secret: 'x' }, 'secret is not a member that is known here.'],
    ['an unknown action', { action: 'add' }, 'action must be one of register, revoke.'],
  ])('%s', async (_, members, error) => {
    const { status, body } = await propose(aRegistration('https://1.1.1.1/', members))
    expect([status, body.error]).toEqual([400, error])
  })
})

test('POST /event-endpoints/changes 400 fieldRequired', async () => {
  const { reason: _, ...body } = aRegistration('https://1.1.1.1/')
  expect(reply(await propose(body))).toEqual({ status: 400, body: { error: 'reason is required.' } })
})

describe('POST /event-endpoints/changes 409 conflict', () => {
  test('a URL that is registered, and the revocation of one that is not', async () => {
    const { url } = await anEndpoint(http(204))
    const { status, body } = await propose(aRegistration(url))
    expect([status, body.error]).toEqual([409, `An event endpoint is registered at ${url} already.`])
    const none = await propose({ action: 'revoke', url: 'https://1.1.1.1/', reason: 'test' })
    expect([none.status, none.body.error]).toEqual([
      409,
      'No event endpoint is registered at https://1.1.1.1/.',
    ])
  })
})

test('humans alone see and change endpoints', async () => {
  for (const called of [
    await service.get('/event-endpoints'),
    await service.get('/event-endpoints/x'),
    await service.post(CHANGES, {}),
    await service.post('/event-endpoints/x/secret', {}),
    await service.post('/event-endpoints/x/redeliver', {}),
  ])
    expect([called.status, called.body.code]).toEqual([403, 'NON_HUMAN_CALLER_DENIED'])
})

describe.each(['secret', 'redeliver'])('an id and a body of %s', (action) => {
  describe('404 eventEndpointNotFound', () => {
    test.each(['x', '7dfa8e95-9d3d-4220-a021-ceb89e89d4c8'])('%s', async (id) => {
      const { status, body } = await service.post(`/event-endpoints/${id}/${action}`, {}, { key: maker.key })
      expect([status, body.code]).toEqual([404, 'EVENT_ENDPOINT_NOT_FOUND'])
    })
  })

  test('a member that nobody reads is refused', async () => {
    const { path } = await anEndpoint(http(204))
    const answer = await service.post(`${path}/${action}`, { secret: 'mine' }, { key: maker.key })
    expect(reply(answer)).toEqual({
      status: 400,
      body: { error: 'secret is not a member that is known here.' },
    })
  })
})

test('redelivery begins at a cursor of the feed and nowhere else', async () => {
  const { path } = await anEndpoint(http(204))
  for (const after of ['', 'x', '1-2-3', '-1'])
    expect((await service.post(`${path}/redeliver`, { after }, { key: maker.key })).status, after).toBe(400)
})

describe('POST /event-endpoints/changes/{id}/approve 200', () => {
  test('registers, or revokes, and GET /event-endpoints lists what is in effect', async () => {
    const { url, id } = await anEndpoint(http(204), { callerIds: ['tester'] })
    expect(await listed(url)).toMatchObject({
      endpointId: id,
      types: TYPES,
      withParameters: false,
      callerIds: ['tester'],
      state: 'delivering',
      cursor: expect.any(String) as string,
      hasSecret: false,
    })
    await putInEffect(service, humans, CHANGES, { action: 'revoke', url, reason: 'over' })
    expect(await listed(url)).toBeUndefined()
  })
})

describe('POST /event-endpoints/changes/{id}/reject 200', () => {
  test('leaves nothing registered', async () => {
    const change = await proposed(service, maker, CHANGES, aRegistration('http://127.0.0.1:9/rejected'))
    const { status } = await resolved(service, checker, change, 'reject', { rejectionReason: 'No.' })
    expect(status).toBe(200)
    expect(await listed('http://127.0.0.1:9/rejected')).toBeUndefined()
  })
})

describe('GET /event-endpoints 200', () => {
  test('shows the keys that verify v1a signatures, and no secret', async () => {
    const { path, url } = await anEndpoint(http(204))
    const { body: made } = await service.post(`${path}/secret`, {}, { key: maker.key })
    const { text, body } = await service.get('/event-endpoints', { key: checker.key })
    expect(body.publicKeys).toEqual([expect.stringMatching(/^whpk_[A-Za-z0-9+/]{43}=$/)])
    expect(text).toContain(url)
    expect(text).not.toContain(String(made.secret).slice(6))
  })
})

const opened = async ({ path }: { readonly path: string }) =>
  (await service.get(path, { key: checker.key })).body as EventEndpointWithAttempts

describe('GET /event-endpoints/{id} 200', () => {
  test('shows what each attempt came to, and the event that makes its body again', async () => {
    let failures = 1
    const endpoint = await anEndpoint((socket) => socket.end(http(failures-- > 0 ? 503 : 204, 's3cret')), {
      withParameters: true,
    })
    expect((await opened(endpoint)).attempts).toEqual([])
    const id = await execute(service, { intent: { parameters: { amount: 42, note: 'ünïcode' } } })
    await until(async () => (await opened(endpoint)).attempts.length === 1, 'the failure')
    await hurry(endpoint.id)
    const shown = await until(async () => {
      const found = await opened(endpoint)
      return found.attempts.length === 2 ? found : undefined
    }, 'the success')
    const [, { body: sent, headers }] = endpoint.requests as [Received, Received]
    const same = {
      eventId: headers['webhook-id'],
      type: 'execution.completed',
      businessTransactionId: id,
      bodySha256: createHash('sha256').update(sent).digest('hex'),
      bodyBytes: Buffer.byteLength(sent),
      durationMs: expect.any(Number) as number,
    }
    expect(shown).toMatchObject({
      endpointId: endpoint.id,
      state: 'delivering',
      attempts: [
        { ...same, number: 2, status: 204 },
        { ...same, number: 1, status: 503, problem: 'answered 503' },
      ],
    })
    expect(JSON.stringify(shown)).not.toContain('s3cret')
    expect(shown.attempts[0]).not.toHaveProperty('problem')
    const { body: feed } = await service.get(
      `/events?after=${shown.attempts[0]!.before}&types=execution.completed&limit=1`,
      { key: checker.key },
    )
    const { parameters, ...event } = JSON.parse(sent) as Record<string, unknown>
    expect(feed.events).toEqual([event])
    expect(parameters).toEqual({ amount: 42, note: 'ünïcode' })
  })

  test('keeps the last 50 attempts, which a revocation takes away', async () => {
    const endpoint = await anEndpoint(http(204))
    const ids = await Promise.all(Array.from({ length: 55 }, () => execute()))
    await delivered(endpoint.requests, ids)
    const numbers = await until(async () => {
      const found = (await opened(endpoint)).attempts.map(({ number }) => number)
      return found[0] === 55 ? found : undefined
    }, 'the last attempt')
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, i) => 55 - i))
    await putInEffect(service, humans, CHANGES, { action: 'revoke', url: endpoint.url, reason: 'over' })
    const { rows } = await database.pool.query('SELECT FROM event_attempts WHERE endpoint_id = $1', [
      endpoint.id,
    ])
    expect(rows).toEqual([])
    const gone = await service.get(endpoint.path, { key: checker.key })
    expect([gone.status, gone.body.code]).toEqual([404, 'EVENT_ENDPOINT_NOT_FOUND'])
  })

  test('says until when a secret that was replaced still signs', async () => {
    const endpoint = await anEndpoint(http(204))
    const make = () => service.post(`${endpoint.path}/secret`, {}, { key: maker.key })
    await make()
    expect(await opened(endpoint)).not.toHaveProperty('previousSecretUntil')
    const { body } = await make()
    expect((await opened(endpoint)).previousSecretUntil).toBe(body.previousUntil)
  })

  test('says that the service itself cannot read or sign the events, as GET /ready does; the endpoint has not failed', async () => {
    let status = 500
    const endpoint = await anEndpoint((socket) => socket.end(http(status)), { withParameters: true })
    const id = await execute()
    await until(async () => (await opened(endpoint)).state === 'failing', 'the failure')
    const change = (to: string) =>
      database.pool.query(
        `UPDATE business_transactions SET body = ${to} WHERE business_transaction_id = $1`,
        [id],
      )
    await change(`'!' || body`)
    status = 204
    await hurry(endpoint.id)
    const unserved = await until(async () => {
      const found = await opened(endpoint)
      return found.unservedSince === undefined ? undefined : found
    }, 'the note')
    expect(unserved.unservedReason).toBe(
      'The service cannot read or sign its events. The reason is in the log of the service.',
    )
    expect(unserved.attempts).toHaveLength(1)
    const warning = /event endpoint is not served, because the service cannot read or sign its events/
    await until(async () => warning.test((await service.get('/ready', { key: null })).text), 'the warning')
    await change('substr(body, 2)')
    await hurry(endpoint.id)
    await delivered(endpoint.requests, [id])
    await until(async () => (await opened(endpoint)).state === 'delivering', 'the success')
    expect(await opened(endpoint)).not.toHaveProperty('unservedSince')
  })
})

describe('GET /event-endpoints/{id} 404 eventEndpointNotFound', () => {
  test.each(['x', '7dfa8e95-9d3d-4220-a021-ceb89e89d4c8'])('%s', async (id) => {
    const { status, body } = await service.get(`/event-endpoints/${id}`, { key: checker.key })
    expect([status, body.code]).toEqual([404, 'EVENT_ENDPOINT_NOT_FOUND'])
  })
})

describe('POST /event-endpoints/{id}/secret 200', () => {
  test('answers another one each time', async () => {
    const { path } = await anEndpoint(http(204))
    const made = async () => (await service.post(`${path}/secret`, {}, { key: maker.key })).body
    expect((await made()).secret).not.toBe((await made()).secret)
  })

  // proves abuse: One human’s key without a step-up
  test('keeps each earlier secret for its day, and takes a step-up for another one within it', async () => {
    const endpoint = await anEndpoint(http(204))
    const make = (body: object = {}) => service.post(`${endpoint.path}/secret`, body, { key: maker.key })
    const stepUp = () => ({
      stepUpAuthorization: anEndpointStepUp(maker, { endpointId: endpoint.id, action: 'secret' }),
    })
    const made = [(await make()).body, (await make()).body]
    for (const refused of await Promise.all([
      make(),
      make(),
      service.post(`${endpoint.path}/secret`, {}, guest),
    ]))
      expect([refused.status, refused.body.code]).toEqual([403, 'STEP_UP_AUTHORIZATION_INVALID'])
    for (let n = 3; n <= 9; n++) {
      const { status, body } = await make(stepUp())
      expect(status).toBe(200)
      expect(Date.parse(body.previousUntil as string)).toBeGreaterThan(Date.now() + 23 * 3_600_000)
      made.push(body)
    }
    const one = await make(stepUp())
    expect([one.status, one.body.error]).toEqual([
      409,
      '8 secrets that were replaced within a day sign still: wait until one of them has ended.',
    ])
    const verifying = async () => {
      await delivered(endpoint.requests, [await execute()])
      const { body, headers } = endpoint.requests.at(-1)!
      return made.filter(({ secret }) => {
        try {
          return new Webhook(secret as string).verify(body, headers) !== undefined
        } catch {
          return false
        }
      })
    }
    expect(await verifying()).toEqual(made)
    // The day of the first three is over.
    await database.pool.query(
      `UPDATE event_deliveries SET earlier_until = earlier_until[1:5] || ARRAY[now(), now(), now()] WHERE endpoint_id = $1`,
      [endpoint.id],
    )
    expect(await verifying()).toEqual(made.slice(3))
    expect((await make(stepUp())).status).toBe(200)
  })

  test('of two requests at once, one alone replaces a secret that stood', async () => {
    const { path } = await anEndpoint(http(204))
    await service.post(`${path}/secret`, {}, { key: maker.key })
    const replies = await Promise.all(
      Array.from({ length: 6 }, () => service.post(`${path}/secret`, {}, { key: maker.key })),
    )
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(replies.filter(({ status }) => status === 403)).toHaveLength(5)
  })
})

const redeliverTo = (endpoint: { id: string; path: string }, after: string, by = maker) => {
  const stepUpAuthorization = anEndpointStepUp(by, { endpointId: endpoint.id, action: 'redeliver', after })
  return service.post(`${endpoint.path}/redeliver`, { after, stepUpAuthorization }, { key: by.key })
}

describe('POST /event-endpoints/{id}/redeliver 403 stepUpInvalid', () => {
  // proves abuse: One human’s key without a step-up
  test('skips nothing without the step-up of this human for this endpoint, action and place', async () => {
    const endpoint = await anEndpoint(http(500))
    const elsewhere = await anEndpoint(http(204))
    const id = await execute()
    await delivered(elsewhere.requests, [id])
    await until(async () => (await listed(endpoint.url))?.state === 'failing', 'the failure')
    const own = (await listed(endpoint.url))!.cursor
    const cursorElsewhere = async () => (await listed(elsewhere.url))!.cursor
    // Progress is stored a while after the delivery.
    await until(async () => (await cursorElsewhere()) !== own, 'the other endpoint to be ahead')
    const later = await cursorElsewhere()
    const act = { endpointId: endpoint.id, action: 'redeliver', after: later } as const
    const said = async (body: object, by: { key: string } = maker) => {
      const { status, body: answer } = await service.post(`${endpoint.path}/redeliver`, body, { key: by.key })
      expect([status, answer.code], JSON.stringify(body)).toEqual([403, 'STEP_UP_AUTHORIZATION_INVALID'])
      return /: (.*)\.$/.exec(answer.error as string)?.[1]
    }
    const withStepUp = (stepUpAuthorization: object, after = later) => ({ after, stepUpAuthorization })
    for (const after of [later, 'now'])
      expect(await said({ after })).toBe('it is missing or not of its shape')
    expect(await said(withStepUp(anEndpointStepUp(guest, act)), guest)).toBe('the caller has no step-up key')
    expect(await said(withStepUp(anEndpointStepUp(checker, act)))).toBe(
      "its signature is not by the caller's step-up key",
    )
    expect(await said(withStepUp(anEndpointStepUp(maker, { ...act, endpointId: elsewhere.id })))).toBe(
      'it is for another endpoint',
    )
    expect(await said(withStepUp(anEndpointStepUp(maker, { ...act, action: 'secret' })))).toBe(
      'it is not for the action redeliver',
    )
    for (const stepUp of [
      anEndpointStepUp(maker, { ...act, after: 'now' }),
      anEndpointStepUp(maker, { endpointId: endpoint.id, action: 'redeliver' }),
    ])
      expect(await said(withStepUp(stepUp))).toBe('its after is not that of the body')
    const old = { authorizedAt: '2026-01-01T00:00:00Z', expiresAt: '2026-01-01T00:01:00Z' }
    expect(await said(withStepUp(anEndpointStepUp(maker, act, old)))).toBe('it has expired')
    const { changeId } = await proposed(service, maker, CHANGES, aRegistration('http://127.0.0.1:9/change'))
    expect(await said(withStepUp(aStepUp(maker, { changeId, changeHash: 'a'.repeat(64) })))).toBe(
      'it is missing or not of its shape',
    )
    // One that is not needed is looked at all the same.
    expect(await said(withStepUp(anEndpointStepUp(checker, { ...act, after: own }), own))).toBe(
      "its signature is not by the caller's step-up key",
    )
    expect((await listed(endpoint.url))?.cursor).toBe(own)
    expect(
      (await service.post(`${endpoint.path}/redeliver`, { after: own }, { key: guest.key })).status,
    ).toBe(200)

    const skip = withStepUp(anEndpointStepUp(maker, act))
    expect((await service.post(`${endpoint.path}/redeliver`, skip, { key: maker.key })).status).toBe(200)
    expect(await said(skip)).toBe('its nonce has been used')
    const { body } = await service.get('/audit/events?type=event_endpoint.redelivered', { key: maker.key })
    expect(body.events[0].event).toMatchObject({
      callerId: 'maker',
      detail: { endpointId: endpoint.id, after: later, stepUpAuthorization: skip.stepUpAuthorization },
    })
  })
})

describe('POST /event-endpoints/{id}/redeliver 200', () => {
  test('takes `now`, which passes over what was not delivered', async () => {
    let status = 500
    const endpoint = await anEndpoint((socket) => socket.end(http(status)))
    const passedOver = await execute()
    await until(async () => (await listed(endpoint.url))?.state === 'failing', 'the failure')
    const now = await redeliverTo(endpoint, 'now')
    expect(reply(now)).toEqual({ status: 200, body: { endpointId: endpoint.id, result: expect.any(String) } })
    const tried = endpoint.requests.length
    status = 204
    const next = await execute()
    await delivered(endpoint.requests, [next])
    expect(idsIn(endpoint.requests.slice(tried))).toEqual([next])
    expect(passedOver).not.toBe(next)
  })
})

describe('a delivery', () => {
  test('is verified by the reference library, and by the published keys', async () => {
    const endpoint = await anEndpoint(http(204))
    const { body: made } = await service.post(`${endpoint.path}/secret`, {}, { key: maker.key })
    const id = await execute()
    await delivered(endpoint.requests, [id])
    const [request] = endpoint.requests
    const { headers, body } = request!
    const event = new Webhook(made.secret as string).verify(body, headers) as Event
    expect(event).toMatchObject({
      eventId: headers['webhook-id'],
      type: 'execution.completed',
      businessTransactionId: id,
    })
    expect(body).not.toContain('parameters')
    expect(() => new Webhook(made.secret as string).verify(`${body} `, headers)).toThrow('No matching')

    const [, asymmetric = ''] = /v1a,(\S+)/.exec(headers['webhook-signature'] ?? '') ?? []
    const message = Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`)
    const { body: list } = await service.get('/event-endpoints', { key: checker.key })
    const keys = (list.publicKeys as string[]).map((text) =>
      createPublicKey({
        format: 'der',
        type: 'spki',
        key: Buffer.concat([
          Buffer.from('302a300506032b6570032100', 'hex'),
          Buffer.from(text.replace('whpk_', ''), 'base64'),
        ]),
      }),
    )
    expect(keys.some((key) => verify(null, message, key, Buffer.from(asymmetric, 'base64')))).toBe(true)
    expect(request).toMatchObject({ line: 'POST /events HTTP/1.1' })
    expect(headers['content-type']).toBe('application/json')
  })

  test('carries v1a alone until a secret is made, and both secrets for a day after one is replaced', async () => {
    const endpoint = await anEndpoint(http(204))
    const schemes = () =>
      endpoint.requests
        .at(-1)
        ?.headers['webhook-signature']?.split(' ')
        .map((one) => one.split(',')[0])
    await delivered(endpoint.requests, [await execute()])
    expect(schemes()).toEqual(['v1a'])
    const make = async () => (await service.post(`${endpoint.path}/secret`, {}, { key: maker.key })).body
    const first = await make()
    expect(first).toEqual({ secret: expect.stringMatching(/^whsec_/) })
    const second = await make()
    expect(Date.parse(second.previousUntil as string)).toBeGreaterThan(Date.now() + 23 * 3_600_000)
    await delivered(endpoint.requests, [await execute()])
    expect(schemes()).toEqual(['v1', 'v1', 'v1a'])
    const { body, headers } = endpoint.requests.at(-1)!
    for (const { secret } of [first, second])
      expect(new Webhook(secret as string).verify(body, headers)).toMatchObject({
        type: 'execution.completed',
      })
    expect(JSON.stringify(await listed(endpoint.url))).not.toContain(String(second.secret))
    expect((await listed(endpoint.url))?.['hasSecret']).toBe(true)
  })

  test('tells of the types and callers that were registered, with parameters where two humans said so', async () => {
    const own = await anEndpoint(http(204), { callerIds: ['tester'], withParameters: true })
    const changes = await anEndpoint(http(204), { types: ['change.resolved'] })
    const foreign = await execute(other, { authority: { principalId: 'other' } })
    const mine = await execute(service, { intent: { parameters: { amount: 42, note: 'mine' } } })
    await delivered(own.requests, [mine])
    expect(idsIn(own.requests)).not.toContain(foreign)
    expect(eventOf(own.requests[0]!)['parameters']).toEqual({ amount: 42, note: 'mine' })
    await until(() => changes.requests.length > 0, 'the change')
    expect(new Set(changes.requests.map((request) => eventOf(request).type))).toEqual(
      new Set(['change.resolved']),
    )
  })

  test('tells of what has no place for some members, such as an execution in doubt', async () => {
    const { requests } = await anEndpoint(http(204), { types: ['execution.in_doubt'] })
    const id = await execute()
    await putInDoubt(database, id)
    await until(() => requests.length > 0, 'the event')
    expect(eventOf(requests[0]!)).toMatchObject({ type: 'execution.in_doubt', businessTransactionId: id })
    expect(eventOf(requests[0]!)).not.toHaveProperty('provider')
  })

  // proves abuse: An event endpoint that lies
  test('is repeated until it is taken, and none goes before it', async () => {
    let failures = 2
    const endpoint = await anEndpoint((socket) => socket.end(http(failures-- > 0 ? 503 : 204)))
    const ids = [await execute(), await execute(), await execute()]
    for (const attempt of [1, 2]) {
      await until(() => endpoint.requests.length >= attempt, 'the attempt')
      const failed = await until(async () => {
        const row = await listed(endpoint.url)
        return row?.state === 'failing' && failures <= 2 - attempt ? row : undefined
      }, 'the failure')
      expect(failed).toMatchObject({ lastFailure: 'answered 503', failingSince: expect.any(String) })
      expect(Date.parse(String(failed['nextAttemptAt']))).toBeGreaterThan(
        Date.parse(String(failed['lastFailureAt'])),
      )
      await hurry(endpoint.id)
    }
    await delivered(endpoint.requests, ids)
    const [first] = ids
    expect(idsIn(endpoint.requests)).toEqual([first, first, ...ids])
    expect(new Set(endpoint.requests.slice(0, 3).map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    await until(async () => (await listed(endpoint.url))?.state === 'delivering', 'the success')
  })

  // proves abuse: An event endpoint that hangs
  test('to one that hangs, answers megabytes, redirects or is private delays nobody and leaks nothing', async () => {
    const elsewhere = await serve(http(204))
    const hanging: Socket[] = []
    const bad = await Promise.all([
      anEndpoint((socket) => void hanging.push(socket)),
      anEndpoint(http(200, 'x'.repeat(5_000_000))),
      anEndpoint(http(302, 's3cret', { Location: `${elsewhere.origin}/` })),
    ])
    const inside = await anEndpoint(http(204))
    const move = (from: string, to: string) =>
      database.pool.query(
        `UPDATE authority SET target = $2, stated = replace(stated, $3, $2) WHERE key = $1`,
        [inside.id, to, from],
      )
    await move(inside.url, 'https://10.0.0.1/')
    // The instance that serves it by now has read the address before.
    expect((await service.post(`${inside.path}/redeliver`, {}, { key: maker.key })).status).toBe(200)
    const good = await anEndpoint(http(204))
    const id = await execute()
    await delivered(good.requests, [id])
    // The one that hangs has not been given up: nobody has waited for it.
    expect(hanging.filter(({ closed }) => closed)).toEqual([])
    expect((await listed(bad[0].url))?.lastFailure).toBeUndefined()
    const problem = async (url: string) => until(async () => (await listed(url))?.lastFailure, 'the failure')
    expect(await problem(bad[1].url)).toBe('gave no whole answer: the answer is larger than 65536 bytes')
    expect(await problem(bad[2].url)).toBe('answered 302')
    expect(await problem('https://10.0.0.1/')).toBe(
      'cannot be reached: its address is not public (ADDRESS_REFUSED)',
    )
    expect(elsewhere.requests).toEqual([])
    expect(inside.requests).toEqual([])
    const ready = await service.get('/ready', { key: null })
    for (const { url } of bad) expect(ready.text).not.toContain(url)
    await move('https://10.0.0.1/', inside.url)
  })

  // proves abuse: An event endpoint that lies
  test('answered 410 is the last one, until a human has events delivered again', async () => {
    let status = 410
    const endpoint = await anEndpoint((socket) => socket.end(http(status)))
    const before = (await listed(endpoint.url))?.cursor
    const id = await execute()
    await until(async () => (await listed(endpoint.url))?.state === 'disabled', 'the end')
    expect(endpoint.requests).toHaveLength(1)
    await hurry(endpoint.id)
    status = 204
    const later = await execute()
    const again = await service.post(`${endpoint.path}/redeliver`, {}, { key: maker.key })
    expect(reply(again)).toEqual({
      status: 200,
      body: { endpointId: endpoint.id, result: expect.any(String) },
    })
    await delivered(endpoint.requests, [id, later])
    expect(idsIn(endpoint.requests)).toEqual([id, id, later])
    // From a place before, a minute later: what was delivered is delivered again.
    await aMinuteLater(database, endpoint.id)
    await service.post(`${endpoint.path}/redeliver`, { after: before }, { key: maker.key })
    await until(() => endpoint.requests.length === 5, 'the repetition')
    expect(idsIn(endpoint.requests).slice(3)).toEqual([id, later])
  })

  test('that failed for three days disables the endpoint; it loses nothing', async () => {
    const endpoint = await anEndpoint(http(500))
    const id = await execute()
    await until(async () => (await listed(endpoint.url))?.state === 'failing', 'the failure')
    const said = () => service.lines().filter(({ endpointId }) => endpointId === endpoint.id)
    await until(() => said().length > 0, 'a line of the log')
    expect(said()).toMatchObject([
      { reason: 'The event endpoint fails, and is tried again: it answered 500.' },
    ])
    const stopped = (await listed(endpoint.url))?.cursor
    await database.pool.query(
      `UPDATE event_deliveries SET due_at = now(), failing_since = now() - interval '3 days 1 second' WHERE endpoint_id = $1`,
      [endpoint.id],
    )
    await until(async () => (await listed(endpoint.url))?.state === 'disabled', 'the end')
    expect(new Set(idsIn(endpoint.requests))).toEqual(new Set([id]))
    expect((await listed(endpoint.url))?.cursor).toBe(stopped)
    await until(
      async () => (await service.get('/ready', { key: null })).text.includes('event endpoint is disabled'),
      'the warning',
    )
    // Enabled again, it has one attempt: the three days do not begin anew.
    const tried = endpoint.requests.length
    expect((await service.post(`${endpoint.path}/redeliver`, {}, { key: maker.key })).status).toBe(200)
    await until(
      async () => endpoint.requests.length > tried && (await listed(endpoint.url))?.state === 'disabled',
      'the end again',
    )
    expect(endpoint.requests).toHaveLength(tried + 1)
  })

  // proves abuse: An event endpoint that lies
  test('is sent again under its id to one that takes it and hangs up, or answers an error', async () => {
    const lies = [
      (socket: Socket) => void socket.destroy(),
      (socket: Socket) => void socket.end(http(200, 'taken').subarray(0, -1)),
      (socket: Socket) => void socket.end(http(500)),
    ]
    const endpoint = await anEndpoint((socket) =>
      (lies.shift() ?? ((honest) => honest.end(http(204))))(socket),
    )
    const ids = [await execute(), await execute()]
    for (let attempt = 1; attempt <= 3; attempt++) {
      await until(
        async () => endpoint.requests.length === attempt && (await nextAttempt(endpoint.id)),
        'the failure',
      )
      await hurry(endpoint.id)
    }
    await delivered(endpoint.requests, ids)
    expect(idsIn(endpoint.requests)).toEqual([...Array.from({ length: 4 }, () => ids[0]), ids[1]])
    expect(new Set(endpoint.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(2)
  })

  test.each([
    [429, '3600', 3_600],
    [503, '90', 90],
    [429, '86400', 3_600],
    [429, new Date(Date.now() + 1_200_000).toUTCString(), 1_200],
    [429, '1', 5],
    [429, '-60', 5],
    [429, 'Mon, 30 Feb 2026 00:00:00 GMT', 5],
    [500, '3600', 5],
  ])(
    'that is answered %s with Retry-After: %s is tried again after %i seconds',
    async (status, asked, seconds) => {
      const endpoint = await anEndpoint((socket) =>
        socket.end(`HTTP/1.1 ${status} x\r\nretry-after: ${asked}\r\ncontent-length: 0\r\n\r\n`),
      )
      await execute()
      const { rows } = await until(async () => {
        const found = await database.pool.query<{ wait: number }>(
          `SELECT extract(epoch FROM due_at - last_failure_at)::float8 AS wait FROM event_deliveries
         WHERE endpoint_id = $1 AND failures = 1`,
          [endpoint.id],
        )
        return found.rows.length > 0 ? found : undefined
      }, 'the failure')
      // A date says no fraction of a second, and is seen later than it was made.
      expect(rows[0]!.wait).toBeGreaterThan(seconds === 1_200 ? 1_000 : seconds - 1)
      expect(rows[0]!.wait).toBeLessThanOrEqual(seconds)
      expect(endpoint.requests).toHaveLength(1)
    },
  )

  test('ends with a revocation, which deletes the secrets', async () => {
    const endpoint = await anEndpoint(http(204))
    await service.post(`${endpoint.path}/secret`, {}, { key: maker.key })
    await delivered(endpoint.requests, [await execute()])
    await putInEffect(service, humans, CHANGES, { action: 'revoke', url: endpoint.url, reason: 'over' })
    const id = await execute()
    const witness = await anEndpoint(http(204), { types: ['change.resolved'] })
    await until(() => witness.requests.length > 0, 'a later event elsewhere')
    expect(idsIn(endpoint.requests)).not.toContain(id)
    const { rows } = await database.pool.query('SELECT FROM event_deliveries WHERE endpoint_id = $1', [
      endpoint.id,
    ])
    expect(rows).toEqual([])
  })
})

test('two instances: one delivers at a time, and another goes on where a killed one stopped', async () => {
  const { signingKeyDir, key } = service
  const second = await startService({ databaseUrl: database.url, callers, signingKeyDir, key })
  const endpoint = await anEndpoint(http(204))
  const ids: string[] = []
  for (let i = 0; i < 10; i++) ids.push(await execute(i % 2 === 0 ? service : second))
  await delivered(endpoint.requests, ids)
  // Each once; the log says in which order the two stored their evidence.
  expect(new Set(idsIn(endpoint.requests))).toEqual(new Set(ids))
  expect(endpoint.requests).toHaveLength(ids.length)

  // The second holds the lease, and dies with it.
  const holder = async () => {
    const { rows } = await database.pool.query<{ lease: string | null }>(
      'SELECT lease FROM event_deliveries WHERE endpoint_id = $1',
      [endpoint.id],
    )
    return rows[0]?.lease ?? null
  }
  second.process.kill('SIGKILL')
  await once(second.process, 'exit')
  const lost = await holder()
  // As after 30 seconds, whoever held it.
  await database.pool.query(
    `UPDATE event_deliveries SET lease = gen_random_uuid(), leased_until = now() + interval '1 second' WHERE endpoint_id = $1`,
    [endpoint.id],
  )
  const after = await execute()
  await delivered(endpoint.requests, [after])
  // Events that the killed one had not noted yet are delivered again.
  expect(new Set(idsIn(endpoint.requests))).toEqual(new Set([...ids, after]))
  expect(await holder()).not.toBe(lost)
})

test('the receiver of examples/event-receiver takes each event once, and nothing that was not signed', async () => {
  const events: Event[] = []
  const config = { service: service.url, port: 0, onEvent: (event: unknown) => events.push(event as Event) }
  const receiver = await startReceiver({ ...config, secret: undefined })
  onTestFinished(() => void receiver.close())
  const { changeId } = await putInEffect(service, humans, CHANGES, aRegistration(receiver.url))
  const id = await execute()
  await until(() => events.length > 0, 'the event')
  expect(events).toMatchObject([{ type: 'execution.completed', businessTransactionId: id }])
  const before = (await listed(receiver.url))?.cursor
  expect(before).toEqual(expect.any(String))

  const headers = {
    'webhook-id': 'x',
    'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
    'webhook-signature': `v1a,${Buffer.alloc(64).toString('base64')}`,
  }
  for (const sent of [{ headers }, {}]) {
    const refused = await fetch(receiver.url, { method: 'POST', body: '{}', ...sent })
    expect([refused.status, await refused.text()]).toEqual([
      401,
      'webhook-signature has no v1a signature that verifies',
    ])
  }

  const { body } = await service.post(`/event-endpoints/${changeId}/secret`, {}, { key: maker.key })
  const symmetric = await startReceiver({ ...config, secret: body.secret as string })
  onTestFinished(() => void symmetric.close())
  const webhook = new Webhook(body.secret as string)
  const at = new Date()
  const signed = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': webhook.sign('msg_1', at, '{"type":"test"}'),
  }
  for (const [sent, status] of [
    ['{"type":"test"}', 204],
    ['{"type":"test"}', 204],
    ['{"type":"other"}', 401],
  ] as const)
    expect((await fetch(symmetric.url, { method: 'POST', headers: signed, body: sent })).status).toBe(status)
  expect(events.slice(1)).toEqual([{ type: 'test' }])
  await putInEffect(service, humans, CHANGES, { action: 'revoke', url: receiver.url, reason: 'over' })
})
