// The receiver kit of both clients, and the program of examples/external-receiver, called by the service's own connector: acts once, whatever is repeated or crashes.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  fetchServiceKeys,
  openJournal,
  receive,
  Refused,
  serviceKeys,
  type ReceiverConfig,
  type Release,
} from '../../clients/typescript/src/receiver/index.ts'
import { call } from '../../src/core/outbound/call.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { publicKeyJson } from '../../src/core/signing/published.ts'
import { externalConnector } from '../../workers/connectors/external.ts'
import { questionTo, readBackOf } from '../../workers/connectors/read-back.ts'
import { signRelease } from '../../workers/connectors/release.ts'
import { PYTHON_CLIENT, pythonPath } from '../python.ts'
import { aKey, anOrder, aRegistration } from './order.ts'

const key = aKey()
const jwks = { keys: [publicKeyJson(key.public)] }

function aJournal(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-receiver-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'receiver.journal')
}

interface Given extends Partial<Omit<ReceiverConfig, 'journal'>> {
  readonly journal?: string
  readonly port?: number
}

async function aReceiver({ journal = aJournal(), port = 0, ...members }: Given = {}) {
  const acted: Release[] = []
  const opened = openJournal(journal)
  const receiver = await receive({
    keys: serviceKeys(jwks),
    journal: opened,
    capabilities: ['vendor:pay'],
    act: (release) => ({ paid: acted.push(release) }),
    ...members,
  }).listen(port)
  const close = async () => {
    await receiver.close()
    opened.close()
  }
  onTestFinished(close)
  return { acted, receiver: { ...receiver, close }, origin: receiver.origin }
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
  await receiver.close()

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
  const { origin } = await aReceiver({ audience: 'https://receiver.example' })
  const answer = await post(origin, signed('https://receiver.example'))
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
    [400, 'The body is not unambiguous JSON: it does not parse, or repeats a member.', 'x'],
    [400, 'The body is not unambiguous JSON: it does not parse, or repeats a member.', `\ufeff${good}`],
    [
      400,
      'The body is not unambiguous JSON: it does not parse, or repeats a member.',
      good.replace('"target"', '"target":"invoice-8","target"'),
    ],
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
    [403, 'The release is for another receiver.', signed('https://receiver.example')],
    [403, 'The release is for another capability.', signed(origin, anOrder({ action: 'vendor:refund' }))],
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

test('the author says what became of what was begun and never ended, once, and is not asked while it runs', async () => {
  const order = anOrder()
  const journal = aJournal()
  const begun = (JSON.parse(signed('http://127.0.0.1:1', order)) as { release: Release }).release
  appendFileSync(journal, `${JSON.stringify({ authorizationId: order.authorizationId, release: begun })}\n`)
  const asked: Release[] = []
  let isKnown = false
  const act = Promise.withResolvers<string>()
  const { origin } = await aReceiver({
    journal,
    act: () => act.promise,
    readBack(release) {
      asked.push(release)
      return isKnown ? { executed: false, reason: 'the bank has none' } : undefined
    },
  })
  expect(await post(origin, signed(origin, order))).toMatchObject({ status: 500 })
  isKnown = true
  const answer = { success: false, result: { reason: 'the bank has none' } }
  for (let i = 0; i < 2; i++)
    expect(await post(origin, signed(origin, order))).toMatchObject({ status: 200, body: answer })
  expect(asked).toEqual([begun, begun])

  const running = anOrder()
  const posted = post(origin, signed(origin, running))
  const about = { ...running, capability: 'vendor:pay' }
  const registration = aRegistration(origin, { endpointUrl: `${origin}/` })
  const { url, headers } = questionTo(registration, about, { key, now: new Date() })
  const question = () => call({ method: 'GET', url, headers, reach: 'any', timeoutMs: 10_000 })
  // Until the release has been taken it is a 404.
  await expect.poll(async () => (await question()) as { status?: number }).toMatchObject({ status: 503 })
  act.resolve('paid')
  expect(await posted).toMatchObject({ status: 200, body: { success: true, result: 'paid' } })
  expect(await question()).toMatchObject({ status: 200 })
  expect(asked).toHaveLength(2)
})

test('an act that ends while the service asks keeps its answer, and nobody is asked for another', async () => {
  const file = openJournal(aJournal())
  onTestFinished(() => file.close())
  const act = Promise.withResolvers<string>()
  const ended = Promise.withResolvers<undefined>()
  let looks = 0
  const order = anOrder()
  const receiver = receive({
    keys: serviceKeys(jwks),
    capabilities: ['vendor:pay'],
    audience: 'https://receiver.example',
    // As a table answers: what it read may be of before.
    journal: {
      ...file,
      async find(id) {
        const entry = file.find(id)
        if (looks++ === 0) {
          act.resolve('paid')
          await ended.promise
        }
        return entry
      },
    },
    act: () => act.promise,
    readBack: () => ({ executed: false, reason: 'asked too early' }),
  })
  const body = Buffer.from(signed('https://receiver.example', order))
  const posted = receiver.answer({ method: 'POST', body }).finally(() => ended.resolve(undefined))
  await expect.poll(() => file.find(order.authorizationId)).toBeDefined()
  const about = { ...order, capability: 'vendor:pay' }
  const registration = aRegistration('https://receiver.example')
  const { headers } = questionTo(registration, about, { key, now: new Date() })
  const question = headers['countersign-question']
  const told = await receiver.answer({ method: 'GET', question, body: Buffer.alloc(0) })
  expect(told).toEqual(await posted)
  expect(JSON.parse(told.body)).toMatchObject({ success: true, result: 'paid' })
})

test.each<[string, unknown, unknown]>([
  ['nothing', undefined, null],
  ['what has members without a value', { a: undefined, b: 1 }, { b: 1 }],
  [
    'what is too long',
    'x'.repeat(100_000),
    { sha256: sha256Hex(Buffer.from(`"${'x'.repeat(100_000)}"`)), bytes: 100_002 },
  ],
  ['an integer that is not exact', { id: 2 ** 60 }, { notKept: expect.stringContaining('2^53') }],
  ['a number of another kind', 1n, { notKept: expect.stringContaining('BigInt') }],
])('a result that is %s completes the execution', async (_, result, kept) => {
  const { origin } = await aReceiver({ act: () => result })
  expect(await connectorTo(origin).call(anOrder())).toEqual({ kind: 'completed', result: kept })
})

// proves abuse: A weak key, or a key
test("an approver's key in the set does not pass for the service's", async () => {
  const { keyId } = key.public
  const keys = serviceKeys({
    keys: [{ ...publicKeyJson(key.public), keyId: `alice:${keyId}` }, ...jwks.keys],
  })
  expect(await keys.find(keyId)).toBeDefined()
  expect(await keys.find(`alice:${keyId}`)).toBeUndefined()
  expect(() => serviceKeys({})).toThrow('no list "keys"')
})

// proves abuse: Evidence signed by a stolen signing key
test('a release by a key that is revoked is refused', async () => {
  const keys = jwks.keys.map((one) => ({ ...one, revokedAt: '2999-01-01T00:00:00.000Z' }))
  expect(await serviceKeys({ keys }).find(key.public.keyId)).toBeUndefined()
})

test('keys are fetched again for a new one, and once a minute; those that are known outlive a service that is away', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const next = { ...publicKeyJson(aKey().public), keyId: 'the-next-ed25519' }
  let set = jwks.keys
  let fetched = 0
  const service = createServer((_, response) => {
    fetched++
    response.end(JSON.stringify({ keys: set }))
  })
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => closed(service))
  const warned: string[] = []
  const keys = await fetchServiceKeys(`http://127.0.0.1:${(service.address() as AddressInfo).port}`, {
    onWarning: (sentence) => warned.push(sentence),
  })
  const isKnown = async ({ keyId }: { keyId: string }) => (await keys.find(keyId)) !== undefined
  set = [next]
  // A flood of invented ids causes no requests.
  for (let i = 0; i < 3; i++) expect(await isKnown(next)).toBe(false)
  expect(fetched).toBe(1)
  vi.setSystemTime(Date.now() + 31_000)
  expect([await isKnown(next), await isKnown(key.public), fetched]).toEqual([true, false, 2])
  await closed(service)
  vi.setSystemTime(Date.now() + 61_000)
  expect([await isKnown(next), warned.length]).toEqual([true, 1])
  await expect(fetchServiceKeys('http://service.example')).rejects.toThrow('https')
})

test('a journal is of one process, says which line cannot be read, and forgets what was answered long ago', async () => {
  const path = aJournal()
  const { release } = JSON.parse(signed('http://127.0.0.1:1')) as { release: Release }
  const opened = openJournal(path)
  expect(() => openJournal(path)).toThrow(`Process ${process.pid} has this journal open`)
  const long = { ...release, authorizationId: 'long ago', expiresAt: '2020-01-01T00:00:00.000Z' }
  for (const one of [release, long, { ...long, authorizationId: 'in doubt' }]) {
    expect(await opened.begin(one)).toBe(true)
    expect(await opened.begin(one)).toBe(false)
    if (one.authorizationId !== 'in doubt') await opened.end(one.authorizationId, { success: true })
  }
  const twice = { ...release, authorizationId: 'at the same time' }
  const begun = await Promise.all([opened.begin(twice), opened.begin(twice)])
  expect(begun).toEqual([true, false])
  opened.close()
  const late = { ...release, authorizationId: 'late' }
  await expect(opened.begin(late)).rejects.toThrow(`${path} is closed`)
  expect(opened.find('late')).toBeUndefined()
  // A killed process leaves this file.
  writeFileSync(`${path}.pid`, `${process.pid}\n`)
  const again = openJournal(path)
  const found = ['in doubt', 'long ago', release.authorizationId].map((id) => again.find(id))
  expect(found).toMatchObject([
    { release: { target: long.target } },
    undefined,
    { answer: { success: true } },
  ])
  again.close()
  writeFileSync(path, `x\n${readFileSync(path, 'utf8')}`)
  expect(() => openJournal(path)).toThrow(`Line 1 of ${path} cannot be read`)
  expect(existsSync(`${path}.pid`)).toBe(false)
})

test.skipIf(spawnSync('python3', ['--version']).error !== undefined)(
  "the Python client's kit takes the same releases, and answers the same questions",
  async () => {
    const program = `
import sys
from countersign.receiver import FixedKeys, Journal, Receiver
import json
receiver = Receiver(
    keys=FixedKeys(json.loads(sys.argv[1])),
    capabilities=["vendor:pay"],
    journal=Journal(sys.argv[2]),
    act=lambda release: {"note": release["parameters"]["note"]},
)
listening = receiver.listen(0)
print(listening.origin, flush=True)
sys.stdin.read()
listening.close()`
    const child = spawn('python3', ['-c', program, JSON.stringify(jwks), aJournal()], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, ...pythonPath(PYTHON_CLIENT) },
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [origin] = (await once(createInterface(child.stdout), 'line')) as [string]
    const order = anOrder({ parameters: { note: 'für Ada' } })
    const result = { note: 'für Ada' }
    for (let i = 0; i < 2; i++)
      expect(await connectorTo(origin).call(order)).toEqual({ kind: 'completed', result })
    const about = { ...order, capability: 'vendor:pay' }
    const registration = aRegistration(origin, { endpointUrl: `${origin}/` })
    const { url, headers } = questionTo(registration, about, { key, now: new Date() })
    const exchange = await call({ method: 'GET', url, headers, reach: 'any', timeoutMs: 10_000 })
    expect(readBackOf(exchange, about, true)).toMatchObject({ says: 'executed' })
    child.stdin.end()
    expect(await once(child, 'exit')).toEqual([0, null])
  },
)

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
  // Begun and answered each, but for the one in the middle; and the end of the last line.
  expect(readFileSync(journal, 'utf8').split('\n').length).toBe(2 * 3 + 1 + 1)
})
