// The ready receivers, called by the service's own connector, in front of systems that lose answers: nothing is done twice, and what was lost is found.
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import {
  openJournal,
  receive,
  serviceKeys,
  type Release,
} from '../../clients/typescript/src/receiver/index.ts'
import { call } from '../../src/core/outbound/call.ts'
import { publicKeyJson } from '../../src/core/signing/published.ts'
import { readHttpReceiver, readStripeReceiver } from '../../src/receivers/config.ts'
import { httpEffect } from '../../src/receivers/http.ts'
import { stripeEffect } from '../../src/receivers/stripe.ts'
import { externalConnector } from '../../workers/connectors/external.ts'
import { questionTo, readBackOf } from '../../workers/connectors/read-back.ts'
import { signRelease } from '../../workers/connectors/release.ts'
import { aKey, anOrder, aRegistration } from '../connectors/order.ts'

const key = aKey()
const jwks = { keys: [publicKeyJson(key.public)] }
const folder = mkdtempSync(join(tmpdir(), 'countersign-test-receivers-'))
const systemsJournal = join(folder, 'systems')
const systems = fork(join(import.meta.dirname, 'systems.ts'), [systemsJournal])
let api = ''

beforeAll(async () => {
  const [{ port }] = (await once(systems, 'message')) as [{ port: number }]
  api = `http://127.0.0.1:${port}`
})
afterAll(() => {
  systems.kill()
  rmSync(folder, { recursive: true })
})

/** How often the systems acted under a key. */
const effects = (authorizationId: string) =>
  readFileSync(systemsJournal, { encoding: 'utf8', flag: 'a+' })
    .split('\n')
    .filter((line) => line === authorizationId).length

async function cutNextAnswer(cutAt: number): Promise<void> {
  systems.send({ cutAt })
  await once(systems, 'message')
}

/** @returns what the connector makes of an order, and what it hears when it asks afterwards */
async function aReceiver(capability: string, effect: ReturnType<typeof httpEffect>) {
  const journal = openJournal(join(mkdtempSync(join(folder, 'journal-')), 'receiver'))
  const receiver = receive({
    keys: serviceKeys(jwks),
    capabilities: [capability],
    journal,
    ...effect,
    onError: () => {},
  })
  const { origin, close } = await receiver.listen(0)
  onTestFinished(async () => {
    await close()
    journal.close()
  })
  const registration = aRegistration(origin, {
    capability,
    endpointUrl: `${origin}/`,
    allowedParameters: ['order', 'note', 'amount', 'currency', 'destination', 'extra'],
  })
  const connector = externalConnector(registration, { key, production: false, clock: () => new Date() })
  return {
    order: (parameters: Record<string, unknown>) => anOrder({ action: capability, parameters }),
    call: (order: ReturnType<typeof anOrder>) => connector.call(order),
    async ask(order: ReturnType<typeof anOrder>) {
      const about = { ...order, capability }
      const { url, headers } = questionTo(registration, about, { key, now: new Date() })
      const exchange = await call({ method: 'GET', url, headers, reach: 'any', timeoutMs: 10_000 })
      return readBackOf(exchange, about, true)
    },
  }
}

function aConfig(members: object): string {
  const file = join(mkdtempSync(join(folder, 'config-')), 'receiver.yaml')
  writeFileSync(file, stringify(members))
  return file
}

const ofHouse = () => ({
  service: 'http://127.0.0.1:3000',
  port: 0,
  journal: 'receiver.journal',
  capability: 'erp:refund',
  request: {
    method: 'POST',
    url: `${api}/refunds/{authorizationId}`,
    headers: { Authorization: 'Bearer ${ERP_TOKEN}' },
    body: {
      order: '{parameters.order}',
      amount: '{parameters.amount}',
      note: '{parameters.note?}',
      of: 'order {parameters.order}',
    },
    executed: [201],
    notExecuted: [422],
    keep: ['number', 'order', 'amount'],
  },
  readBack: {
    url: `${api}/refunds/{authorizationId}`,
    executed: [200],
    notExecuted: [404],
    keep: ['number'],
  },
})

const aHouseReceiver = (members: object = {}) =>
  aReceiver(
    'erp:refund',
    httpEffect(readHttpReceiver(aConfig({ ...ofHouse(), ...members }), { ERP_TOKEN: 'secret' })),
  )
const aStripeReceiver = () => aReceiver('stripe:payout', stripeEffect('sk_test_here', api))

describe.each([
  ['of the house', aHouseReceiver, { order: 'o-1', amount: 12.5 }, 1],
  ['of Stripe', aStripeReceiver, { amount: 1250, currency: 'eur' }, 17],
])('the API %s', (_, make, parameters, step) => {
  test('is called once for a release, and its answer is evidence', async () => {
    const receiver = await make()
    const order = receiver.order(parameters)
    const completed = await receiver.call(order)
    expect(completed).toMatchObject({ kind: 'completed' })
    expect(JSON.stringify(completed)).not.toContain('not to be kept')
    expect(await receiver.call(order)).toEqual(completed)
    expect(effects(order.authorizationId)).toBe(1)
  })

  // proves fault: A system behind a ready receiver loses its answer
  test('loses its answer at every byte: one effect, which a question finds', async () => {
    const receiver = await make()
    const kinds = new Map<string, number>()
    for (let cutAt = 0; cutAt < 360; cutAt += step) {
      await cutNextAnswer(cutAt)
      const order = receiver.order(parameters)
      const { kind } = await receiver.call(order)
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
      expect(kind).not.toBe('failed')
      if (kind === 'unknown') expect(await receiver.ask(order)).toMatchObject({ says: 'executed' })
      expect(effects(order.authorizationId)).toBe(1)
    }
    // Beyond its length an answer is whole.
    expect([kinds.get('unknown'), kinds.get('completed')]).toEqual([expect.any(Number), expect.any(Number)])
  })
})

test.each([
  ['of the house', () => httpEffect(readHttpReceiver(aConfig(ofHouse()), { ERP_TOKEN: 'secret' }))],
  ['of Stripe', () => stripeEffect('sk_test_here', api)],
])('that the API %s has nothing counts ten minutes after the release has expired', async (_, make) => {
  const { release } = JSON.parse(
    signRelease(anOrder(), {
      connectorId: 'external:stripe:payout',
      audience: 'http://127.0.0.1:1',
      timeoutMs: 1_000,
      key,
      now: new Date(),
    }),
  ) as { release: Release }
  const ago = (minutes: number): Release => ({
    ...release,
    capability: 'stripe:payout',
    expiresAt: new Date(Date.now() - minutes * 60_000).toISOString(),
  })
  expect(await make().readBack(ago(9))).toBeUndefined()
  expect(await make().readBack(ago(11))).toMatchObject({ executed: false })
})

test('what the house refuses has failed, what its file does not explain is unknown', async () => {
  const receiver = await aHouseReceiver()
  expect(await receiver.call(receiver.order({ order: 'closed', amount: 1 }))).toEqual({
    kind: 'failed',
    reason: expect.stringContaining('The order is closed.'),
  })
  expect(await receiver.call(receiver.order({ order: 'odd', amount: 1 }))).toMatchObject({ kind: 'unknown' })
  expect(await receiver.call(receiver.order({ amount: 1 }))).toEqual({
    kind: 'failed',
    reason: 'parameters.order is missing',
  })
})

test('a system that cannot be reached has done nothing', async () => {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const nobody = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await new Promise((resolve) => server.close(resolve))
  const house = await aHouseReceiver({ request: { ...ofHouse().request, url: `${nobody}/` } })
  expect(await house.call(house.order({ order: 'o-1', amount: 1 }))).toMatchObject({ kind: 'failed' })
  const stripe = await aReceiver('stripe:payout', stripeEffect('sk_test_here', nobody))
  expect(await stripe.call(stripe.order({ amount: 1, currency: 'eur' }))).toMatchObject({ kind: 'failed' })
})

test.each(['..', '.', '', 'a/../../b'])('a member %j does not lead to another address', async (order) => {
  const receiver = await aHouseReceiver({
    request: { ...ofHouse().request, url: `${api}/refunds/{parameters.order}/{authorizationId}` },
  })
  const { kind } = await receiver.call(receiver.order({ order, amount: 1 }))
  // Encoded it is one step of the path.
  expect(kind).toBe(order.includes('a') ? 'completed' : 'failed')
})

test('Stripe refuses, declines, and is sent nothing that it does not know', async () => {
  const receiver = await aStripeReceiver()
  const reasons = []
  for (const parameters of [
    { amount: 0, currency: 'eur' },
    { amount: 402, currency: 'eur' },
    { amount: 1, currency: 'eur', extra: true },
  ]) {
    const order = receiver.order(parameters)
    reasons.push(await receiver.call(order))
  }
  expect(reasons).toEqual([
    { kind: 'failed', reason: 'Invalid integer: 0' },
    { kind: 'failed', reason: expect.stringMatching(/^pa_\d+ is failed/) },
    { kind: 'failed', reason: 'extra is no parameter of stripe:payout' },
  ])
})

test('the examples are files that it takes', () => {
  const examples = join(import.meta.dirname, '../../examples/receivers')
  expect(readHttpReceiver(join(examples, 'http.yaml'), { ERP_TOKEN: 'x' }).capability).toBe('erp:refund')
  expect(readStripeReceiver(join(examples, 'stripe.yaml')).capabilities).toHaveLength(3)
})

test.each<[string, object]>([
  ['request.url must begin with http:// or https:// and a host', { url: 'https://{parameters.host}/' }],
  ['request.url names {parameters}', { url: 'https://erp.example/{parameters}' }],
  ['request.body names {password}', { body: { a: ['{password}'] } }],
  ['request.body has {parameters.note?} in a text', { body: { a: 'note: {parameters.note?}' } }],
  ['request.headers.X-Key needs the variable X_KEY, which is not set', { headers: { 'X-Key': '${X_KEY}' } }],
  ['request.method must be POST, PUT, PATCH or DELETE', { method: 'GET' }],
  ['request.retries is not a member', { retries: 3 }],
])('a file is refused: %s', (problem, members) => {
  const file = aConfig({ ...ofHouse(), request: { ...ofHouse().request, ...members } })
  expect(() => readHttpReceiver(file, { ERP_TOKEN: 'x' })).toThrow(`${file}: ${problem}`)
})

test('a file of the Stripe receiver is refused for a capability that it lacks', () => {
  const file = aConfig({ service: 'x', port: 0, journal: 'y', capabilities: ['stripe:transfer'] })
  expect(() => readStripeReceiver(file)).toThrow('stripe:payment-intent, stripe:refund or stripe:payout')
})

test('the command serves what its file says, and ends when it is told to', async () => {
  const service = createServer((_, response) => response.end(JSON.stringify(jwks)))
  await once(service.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void service.close())
  const config = aConfig({
    ...ofHouse(),
    service: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
    journal: join(folder, 'of-the-command'),
  })
  const program = join(import.meta.dirname, '../../bin/countersign.js')
  const child = spawn(process.execPath, [program, 'receiver', 'http', '--config', config], {
    env: { ...process.env, ERP_TOKEN: 'secret' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const [, origin = ''] = /^listening on (\S+) for erp:refund$/.exec(line) ?? []
  const registration = aRegistration(origin, {
    capability: 'erp:refund',
    endpointUrl: `${origin}/`,
    allowedParameters: ['order', 'amount'],
  })
  const connector = externalConnector(registration, { key, production: false, clock: () => new Date() })
  const order = anOrder({ action: 'erp:refund', parameters: { order: 'o-2', amount: 3 } })
  expect(await connector.call(order)).toMatchObject({
    kind: 'completed',
    result: { status: 201, answer: { order: 'o-2', amount: 3 } },
  })
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
})
