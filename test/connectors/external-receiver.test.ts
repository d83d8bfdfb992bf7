// The receiver of examples/external-receiver, called by the service's own connector: acts once, whatever is repeated or crashes.
import { spawn } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Refused, startReceiver, type ReceiverConfig } from '../../examples/external-receiver/receiver.ts'
import { readKeys, type Release } from '../../examples/external-receiver/release.ts'
import { call } from '../../src/core/outbound/call.ts'
import { publicKeyJson } from '../../src/core/signing/published.ts'
import { externalConnector } from '../../workers/connectors/external.ts'
import { questionTo, readBackOf } from '../../workers/connectors/read-back.ts'
import { signRelease } from '../../workers/connectors/release.ts'
import { aKey, anOrder, aRegistration } from './order.ts'

const key = aKey()
const jwks = { keys: [publicKeyJson(key.public)] }

function aJournal(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-receiver-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'receiver.journal')
}

async function aReceiver(members: Partial<ReceiverConfig> = {}) {
  const acted: Release[] = []
  const receiver = await startReceiver({
    keys: readKeys(jwks),
    journal: aJournal(),
    port: 0,
    capability: 'vendor:pay',
    act: (release) => ({ paid: acted.push(release) }),
    ...members,
  })
  onTestFinished(() => closed(receiver))
  return { acted, receiver, origin: receiver.origin }
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}

const connectorTo = (origin: string, now = () => new Date()) =>
  externalConnector(aRegistration(origin, { endpointUrl: `${origin}/` }), {
    key,
    production: false,
    clock: now,
  })

const signed = (origin: string, order = anOrder(), now = new Date()) =>
  signRelease(order, { connectorId: 'external:vendor:pay', audience: origin, timeoutMs: 10_000, key, now })

async function ask(origin: string, method: 'PATCH' | 'POST', body = '') {
  const exchange = await call({ method, url: origin, headers: {}, body, reach: 'any', timeoutMs: 10_000 })
  if (exchange.kind !== 'answered') throw new Error(exchange.kind)
  return { status: exchange.status, body: JSON.parse(Buffer.from(exchange.body).toString()) as unknown }
}

const post = (origin: string, body: string) => ask(origin, 'POST', body)

test('a release is carried out once, and its answer completes the execution', async () => {
  const { acted, origin } = await aReceiver()
  const order = anOrder({ parameters: { amount: 12.5, note: 'für Ada' } })
  expect(await connectorTo(origin).call(order)).toEqual({ kind: 'completed', result: { paid: 1 } })
  expect(acted).toMatchObject([{ authorizationId: order.authorizationId, parameters: { note: 'für Ada' } }])
})

// proves fault: It dies in the middle; abuse: A release repeated, altered, forged
test('a repeat gets the stored answer, at the same time or after a restart, and nothing is done again', async () => {
  const journal = aJournal()
  const { acted, receiver, origin } = await aReceiver({ journal })
  const body = signed(origin)
  const [first, second] = await Promise.all([post(origin, body), post(origin, body)])
  expect(first.status).toBe(200)
  expect(second).toEqual(first)
  await closed(receiver)

  const { acted: again } = await aReceiver({ journal, port: Number(new URL(origin).port) })
  expect(await post(origin, body)).toEqual(first)
  expect([acted.length, again.length]).toEqual([1, 0])
})

test('what it refuses fails for certain, in its own words', async () => {
  const { origin } = await aReceiver({
    act() {
      throw new Refused('invoice already paid')
    },
  })
  expect(await connectorTo(origin).call(anOrder())).toEqual({
    kind: 'failed',
    reason: 'invoice already paid',
  })
})

test('behind a proxy the audience is where the proxy is', async () => {
  const { receiver } = await aReceiver({ origin: 'https://receiver.example' })
  const { port } = receiver.address() as AddressInfo
  const answer = await post(`http://127.0.0.1:${port}`, signed('https://receiver.example'))
  expect(answer).toMatchObject({ status: 200, body: { success: true } })
})

test('an effect that ended in an error nobody foresaw is unknown, and never tried again', async () => {
  const logged = vi.spyOn(console, 'error').mockReturnValue()
  onTestFinished(() => logged.mockRestore())
  let effects = 0
  const { origin } = await aReceiver({
    act() {
      effects++
      throw new Error('the bank hung up')
    },
  })
  const order = anOrder()
  for (let i = 0; i < 2; i++)
    expect(await connectorTo(origin).call(order)).toEqual({ kind: 'unknown', cause: 'answered 500' })
  expect(effects).toBe(1)
  expect(String(logged.mock.calls[0])).toContain('the bank hung up')
})

// proves abuse: A release repeated, altered, forged
test('what is no release of the service for this receiver is refused before anything is done', async () => {
  const { acted, origin } = await aReceiver()
  const good = signed(origin)
  const other = aKey()
  const bodies: [number, string, string][] = [
    [400, 'Not JSON with one reading.', 'x'],
    [400, 'Not JSON with one reading.', good.replace('"target"', '"target":"invoice-8","target"')],
    [401, 'Unknown key.', '{}'],
    [401, 'Unknown key.', 'null'],
    [401, 'Unknown key.', good.replace(key.public.keyId, '20200101T000000Z-ed25519')],
    [401, 'Unknown key.', good.replace('"algorithm":"ed25519"', '"algorithm":"ml-dsa-65"')],
    [401, 'The signature does not hold.', good.replace('invoice-7', 'invoice-8')],
    [401, 'The signature does not hold.', good.replace(/"signature":"[^"]*"/, '"signature":""')],
    [
      401,
      'The signature does not hold.',
      signRelease(anOrder(), {
        connectorId: 'external:vendor:pay',
        audience: origin,
        timeoutMs: 10_000,
        key: { public: key.public, sign: other.sign },
        now: new Date(),
      }),
    ],
    [403, 'For another receiver.', signed('https://receiver.example')],
    [403, 'Another capability.', signed(origin, anOrder({ action: 'vendor:refund' }))],
    [403, 'Expired.', signed(origin, anOrder(), new Date(Date.now() - 12_000))],
    [403, 'Not issued yet.', signed(origin, anOrder(), new Date(Date.now() + 60_000))],
    [413, 'Too large.', 'x'.repeat(1024 * 1024 + 1)],
  ]
  for (const [status, error, body] of bodies)
    expect(await post(origin, body)).toEqual({ status, body: { error } })
  expect((await ask(origin, 'PATCH')).status).toBe(405)
  expect(acted).toEqual([])
})

test('asked what became of a release, it answers from its journal', async () => {
  const journal = aJournal()
  const { origin } = await aReceiver({ journal })
  const order = anOrder()
  const askAbout = async ({ businessTransactionId, authorizationId }: typeof order, by = key) => {
    const about = { businessTransactionId, authorizationId, capability: 'vendor:pay' }
    const registration = aRegistration(origin, { endpointUrl: `${origin}/` })
    const { url, headers } = questionTo(registration, about, { key: by, now: new Date() })
    const exchange = await call({ method: 'GET', url, headers, reach: 'any', timeoutMs: 10_000 })
    return { exchange, said: readBackOf(exchange, about, true) }
  }
  expect((await askAbout(order)).said).toMatchObject({
    says: 'not_executed',
    note: expect.stringContaining('never'),
  })
  const answered = await post(origin, signed(origin, order))
  const { exchange, said } = await askAbout(order)
  expect(said).toMatchObject({ says: 'executed' })
  expect(exchange).toMatchObject({ status: 200, body: Buffer.from(JSON.stringify(answered.body)) })
  // Nobody else is told, and a release is no question.
  expect((await askAbout(order, aKey())).exchange).toMatchObject({ status: 401 })
  const release = Buffer.from(signed(origin).replace('"release":', '"question":')).toString('base64url')
  for (const [header, status] of [
    [release, 401],
    ['x', 400],
  ] as const)
    expect(
      await call({
        method: 'GET',
        url: origin,
        headers: { 'countersign-question': header },
        reach: 'any',
        timeoutMs: 10_000,
      }),
    ).toMatchObject({ status })
})

test('asked about what it has begun and never ended, it does not know', async () => {
  const begun = anOrder()
  const journal = aJournal()
  appendFileSync(journal, `{"authorizationId":"${begun.authorizationId}"}\n`)
  const { origin } = await aReceiver({ journal })
  const about = { ...begun, capability: 'vendor:pay' }
  const registration = aRegistration(origin, { endpointUrl: `${origin}/` })
  const { url, headers } = questionTo(registration, about, { key, now: new Date() })
  const exchange = await call({ method: 'GET', url, headers, reach: 'any', timeoutMs: 10_000 })
  expect(readBackOf(exchange, about, true)).toEqual({ unknown: 'answered 503' })
})

// proves abuse: A weak key, or a key
test("an approver's key in the set does not pass for the service's", () => {
  const { keyId } = key.public
  const keys = [...jwks.keys, { ...publicKeyJson(key.public), keyId: `alice:${keyId}` }]
  expect([...readKeys({ keys }).keys()]).toEqual([keyId])
})

// proves abuse: Evidence signed by a stolen signing key
test('a release by a key that is revoked is refused', () => {
  const keys = jwks.keys.map((one) => ({ ...one, revokedAt: '2999-01-01T00:00:00.000Z' }))
  expect(readKeys({ keys }).size).toBe(0)
})

// proves fault: It dies in the middle
test('the program fetches the keys once, and killed in the middle of an effect it never does it again', async () => {
  let fetched = 0
  const service = createServer((request, response) => {
    if (request.url === '/.well-known/jwks.json') fetched++
    response.end(JSON.stringify(jwks))
  })
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => closed(service))
  const { port } = service.address() as AddressInfo
  const journal = aJournal()
  const start = async () => {
    const program = join(import.meta.dirname, '../../examples/external-receiver/receiver.ts')
    const args = [program, '--service', `http://127.0.0.1:${port}`, '--port', '0', '--journal', journal]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = new Promise((resolve) => child.once('exit', resolve))
    const kill = () => {
      child.kill('SIGKILL')
      return exited
    }
    onTestFinished(async () => void (await kill()))
    for await (const line of createInterface(child.stdout)) {
      const origin = /^listening on (\S+)/.exec(line)?.[1]
      if (origin !== undefined) return { origin, kill }
    }
    throw new Error('the receiver did not start')
  }
  const first = await start()
  const done = anOrder()
  expect(await connectorTo(first.origin).call(done)).toEqual({ kind: 'completed', result: { effects: 1 } })
  expect(await connectorTo(first.origin).call(anOrder())).toEqual({
    kind: 'completed',
    result: { effects: 2 },
  })
  await first.kill()

  // As a death in the middle of an effect leaves it: begun, and the last line half written.
  const begun = anOrder()
  appendFileSync(journal, `{"authorizationId":"${begun.authorizationId}"}\n{"authorizationId":"`)
  const second = await start()
  expect(await connectorTo(second.origin).call(begun)).toEqual({ kind: 'unknown', cause: 'answered 500' })
  expect(await connectorTo(second.origin).call(done)).toEqual({ kind: 'completed', result: { effects: 1 } })
  expect(await connectorTo(second.origin).call(anOrder())).toEqual({
    kind: 'completed',
    result: { effects: 1 },
  })
  expect(fetched).toBe(2)
  expect(readFileSync(journal, 'utf8').split('\n').length).toBe(2 * 3 + 1 + 1)
})
