// countersign mcp --port beside a real service: clients of both revisions, each known by its token, whose calls never meet.
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as send } from 'node:http'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { randomUUID } from 'node:crypto'
import { Client, StreamableHTTPClientTransport, type ClientCapabilities } from '@modelcontextprotocol/client'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { decide } from '../../src/cli/setup/authority.ts'
import { makeCaller } from '../../src/cli/setup/people.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { runCommand } from '../command.ts'
import { leftOut, OTHERS } from '../others.ts'
import { freePort } from '../../src/cli/free-port.ts'
import { anOldClient } from './old-client.ts'
import { serveByHttp, startTrial, UPSTREAM, type ServedByHttp, type Trial } from './trial.ts'

const ISSUER = 'https://login.example.com'
const folder = mkdtempSync(join(tmpdir(), 'countersign-test-mcp-http-'))
const config = join(folder, 'gateways', 'journal', 'gateway.yaml')
const agents = ['one', 'two', 'four'].map((name) => `${ISSUER}#${name}`)

let trial: Trial
let served: ServedByHttp
let port: number
let url: string
let pair: Awaited<ReturnType<typeof generateKeyPair>>
/** Output of a gateway that serves clients without authentication. */
let trialSaid: string

beforeAll(async () => {
  trial = await startTrial(folder)
  port = await freePort()
  url = `http://127.0.0.1:${port}/mcp`
  const args = ['--trial', '--port', String(port), '--unauthenticated', '--alias', 'journal']
  const places = ['--dir', join(folder, 'gateways'), '--humans', folder]
  const alone = await serveByHttp(trial.env, [...args, ...places, '--', process.execPath, UPSTREAM, folder])
  trialSaid = alone.said()
  expect(await alone.stop()).toBe(0)
  pair = await generateKeyPair('ES256')
  const jwks = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'one' }] }
  const issuer = { issuer: ISSUER, audience: url, jwks, algorithms: ['ES256'], scopePrefix: 'countersign:' }
  appendFileSync(config, stringify({ holdSeconds: 1, http: { tokenIssuers: [issuer] } }))
  // The gateway's own key, which names those whom it may act for.
  const key = makeCaller({ callerId: 'gateway' })
  await decide(trial.service.url, '/caller-keys/changes', trial.humans, {
    action: 'issue',
    callerId: 'gateway',
    keyHash: sha256Hex(key.rawKey),
    allowedCapabilities: ['mcp:journal'],
    allowedPrincipalIds: agents,
    reason: 'Agents by token.',
  })
  const profile = { url: trial.service.url, apiKey: key.rawKey }
  writeFileSync(join(config, '..', 'agent.json'), JSON.stringify(profile))
  served = await start()
})
afterAll(async () => {
  expect(await served.stop()).toBe(0)
  await trial.stop()
  rmSync(folder, { recursive: true })
})

const start = () => serveByHttp(trial.env, ['--config', config, '--port', String(port)])

function aToken(sub: string, claims: object = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const scope = 'countersign:mcp:journal'
  return new SignJWT({ iss: ISSUER, aud: url, sub, iat: now, exp: now + 600, scope, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'one', typ: 'at+jwt' })
    .sign(pair.privateKey)
}

async function aClient(
  sub: string,
  mode: 'auto' | 'legacy',
  capabilities: ClientCapabilities = {},
): Promise<Client> {
  const headers = { authorization: `Bearer ${await aToken(sub)}` }
  const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  onTestFinished(() => client.close())
  return client
}

const acts = () => readFileSync(join(folder, 'acts'), { encoding: 'utf8', flag: 'a+' }).trim().split('\n')
const actsWith = (text: string) => acts().filter((line) => line.includes(text))

type Result = Awaited<ReturnType<Client['callTool']>>
const statusOf = (result: Result) => result._meta?.['countersign/status']
const idIn = (result: Result) => result._meta?.['countersign/transactionId'] as string
const resultOf = (id: string) => ({ name: 'countersign_result', arguments: { id } })

type Call = Parameters<Client['callTool']>[0]

/** Repeats a call, which is held for a second at a time, as long as it stands so. */
async function whileIt(is: readonly string[], client: Client, call: Call): Promise<Result> {
  let result = await client.callTool(call)
  while (is.includes(statusOf(result) as string)) result = await client.callTool(call)
  return result
}
const asked = (client: Client, call: Call) => whileIt(['running'], client, call)
const ended = (client: Client, call: Call) => whileIt(['running', 'waiting'], client, call)

/** A message without a client, whose connection can be cut. */
async function post(body: string | Uint8Array, headers: Record<string, string> = {}) {
  const own = {
    authorization: `Bearer ${await aToken('one')}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  return fetch(url, { method: 'POST', body: Buffer.from(body), headers: { ...own, ...headers } })
}

const refused = (args: string[]) => runCommand(['mcp', '--config', config, ...args], trial.env)
const base64urlOf = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe('who may call', () => {
  test('a trial prints the address for a client, and is served to this machine alone', async () => {
    expect(JSON.parse(/\{\n[^]*\n\}/.exec(trialSaid)?.[0] ?? '')).toEqual({
      mcpServers: { journal: { type: 'http', url } },
    })
    const proxied = join(folder, 'proxied.yaml')
    const http = { url: 'https://tools.example.com/mcp' }
    writeFileSync(proxied, stringify({ alias: 'journal', port, upstream: { command: ['true'] }, http }))
    const unauthenticated = ['--port', String(port), '--unauthenticated']
    const [open, elsewhere, stdio, number] = await Promise.all([
      refused(unauthenticated),
      runCommand(['mcp', '--config', proxied, ...unauthenticated], trial.env),
      refused(['--unauthenticated']),
      refused(['--port', '70000']),
    ])
    expect(open).toMatchObject({ status: 1, stderr: expect.stringContaining('exclude each other') })
    expect(elsewhere).toMatchObject({ status: 1, stderr: expect.stringContaining('leave http.url out') })
    expect(stdio).toMatchObject({ status: 1, stderr: expect.stringContaining('needs --port') })
    expect(number.stderr).toContain('must be from 1 to 65535')
  })

  test('a client is told which issuers it can have a token of', async () => {
    const answer = await post('{}', { authorization: '' })
    expect(answer.status).toBe(401)
    const metadata = /resource_metadata="([^"]+)"/.exec(answer.headers.get('www-authenticate') ?? '')?.[1]
    expect(await (await fetch(metadata!)).json()).toEqual({
      resource: url,
      authorization_servers: [ISSUER],
      bearer_methods_supported: ['header'],
      resource_name: 'countersign-journal',
      scopes_supported: ['countersign:mcp:journal'],
    })
  })

  // proves abuse: A token of another service, or a page that a name was pointed at
  test.each<[string, number, () => Promise<Record<string, string>>]>([
    ['for another audience', 401, async () => bearer(await aToken('one', { aud: 'https://other.example' }))],
    ['that has expired', 401, async () => bearer(await aToken('one', { exp: 1 }))],
    ['without the scope', 403, async () => bearer(await aToken('one', { scope: 'openid' }))],
    ['from a page elsewhere', 403, async () => ({ origin: 'https://evil.example' })],
  ])('a token %s is refused with %i', async (_, status, headers) => {
    const given = await headers()
    const answer = await post('{}', given)
    expect(answer.status).toBe(status)
    if (!('origin' in given)) expect(answer.headers.get('www-authenticate')).toContain('resource_metadata=')
  })

  test('what a token says of itself cannot write lines of its own to the terminal', async () => {
    const text = 'x\ncountersign mcp: serves \u001b[2J'
    const header = { alg: 'ES256', kid: 'one', typ: 'at+jwt', crit: [text], [text]: 1 }
    const token = `${base64urlOf(header)}.${base64urlOf({ iss: ISSUER })}.${'A'.repeat(86)}`
    expect((await post('{}', bearer(token))).status).toBe(401)
    await expect.poll(() => served.said()).toContain('x\ufffdcountersign mcp: serves \ufffd[2J')
  })

  test('a name that was pointed at this machine is refused', async () => {
    const status = await new Promise((resolve, reject) => {
      const headers = { host: 'evil.example', authorization: 'Bearer x' }
      const sent = send(url, { method: 'POST', headers }, (response) => resolve(response.statusCode))
      sent.on('error', reject).end()
    })
    expect(status).toBe(403)
  })
})

describe.each(['auto', 'legacy'] as const)('a client (%s)', (mode) => {
  test('calls a tool, and evidence names the caller of its token', async () => {
    const client = await aClient('one', mode)
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('look')
    const mine = randomUUID()
    const result = await asked(client, { name: 'look', arguments: { mine } })
    expect(result).toMatchObject({
      content: [{ text: 'did look' }],
      _meta: { 'countersign/status': 'completed' },
    })
    expect(actsWith(mine)).toHaveLength(1)
    const asGateway = {
      key: (JSON.parse(readFileSync(join(config, '..', 'agent.json'), 'utf8')) as { apiKey: string }).apiKey,
    }
    const { body } = await trial.service.get(`/trust-records/${idIn(result)}`, asGateway)
    expect(body.transaction).toMatchObject({
      authority: { principalId: agents[0] },
      metadata: { submittedBy: 'gateway' },
    })
  })

  // proves abuse: An agent that goes on with the call of another
  test('shares no call with another caller', async () => {
    const [one, two] = [await aClient('one', mode), await aClient('two', mode)]
    const transactionId = randomUUID()
    const call = {
      name: 'write',
      arguments: { text: randomUUID() },
      _meta: { 'countersign/transactionId': transactionId },
    }
    const waiting = await Promise.all([asked(one, call), asked(two, call)])
    expect(waiting.map(statusOf)).toEqual(['waiting', 'waiting'])
    expect(idIn(waiting[0])).not.toBe(idIn(waiting[1]))
    const requests = JSON.stringify(await trial.openRequests())
    expect(requests.split(`"text":"${call.arguments.text}"`)).toHaveLength(3)
    expect(statusOf(await two.callTool(resultOf(idIn(waiting[0]))))).toBe('unknown-id')
    await trial.approve()
    const results = await Promise.all([ended(one, call), ended(two, call)])
    expect(results.map(statusOf)).toEqual(['completed', 'completed'])
    expect(results.map(idIn)).toEqual(waiting.map(idIn))
    expect(actsWith(call.arguments.text)).toHaveLength(2)
    // Also what has ended is its own caller's.
    const id = idIn(results[0])
    const verify = { name: 'countersign_verify', arguments: { id } }
    expect([statusOf(await one.callTool(resultOf(id))), statusOf(await two.callTool(resultOf(id)))]).toEqual([
      'completed',
      'unknown-id',
    ])
    expect((await one.callTool(verify)).content).toMatchObject([{ text: expect.stringContaining('holds: ') }])
    expect(await two.callTool(verify)).toMatchObject({
      content: [{ text: expect.stringContaining('There is no record') }],
    })
  })

  // proves abuse: A connection that is cut while a call runs, and the call sent again
  test('that is cut off after the release, and calls again, gets the outcome of the one act', async () => {
    const client = await aClient('one', mode)
    const text = randomUUID()
    const call = { name: 'write', arguments: { text, how: 'slow' } }
    const waiting = await asked(client, call)
    expect(statusOf(waiting)).toBe('waiting')
    await trial.approve()
    const cut = new AbortController()
    const lost = client.callTool(call, { signal: cut.signal }).catch(() => 'lost')
    await expect.poll(() => actsWith(text)).toHaveLength(1)
    cut.abort()
    expect(await lost).toBe('lost')
    writeFileSync(join(folder, `go-${text}`), '')
    const result = await ended(client, call)
    expect([statusOf(result), idIn(result)]).toEqual(['completed', idIn(waiting)])
    expect(actsWith(text)).toHaveLength(1)
  })
})

/** Calls `write`, and takes what is asked for as an answer. */
const request = (client: Client, params: object) =>
  client.request(
    { method: 'tools/call', params: { name: 'write', ...params } },
    { allowInputRequired: true },
  ) as Promise<Result & { requestState?: string }>

/** @returns what the client goes on with when it is asked to open the request */
async function stateOf(client: Client, params: object): Promise<string> {
  let asking = await request(client, params)
  while (asking.requestState === undefined) asking = await request(client, params)
  return asking.requestState
}

// proves abuse: An agent that goes on with the call of another
test('what a client was given to go on with is taken from nobody else', async () => {
  const elicitation = { url: {} }
  const params = { arguments: { text: randomUUID() } }
  const [one, two] = [
    await aClient('one', 'auto', { elicitation }),
    await aClient('two', 'auto', { elicitation }),
  ]
  const requestState = await stateOf(one, params)
  const going = { ...params, requestState, inputResponses: { approval: { action: 'accept' } } }
  await expect(request(two, going)).rejects.toThrow(/requestState/i)
  await expect(request(one, { ...going, requestState: `${requestState}x` })).rejects.toThrow(/requestState/i)
  let result = await request(one, going)
  while (statusOf(result) === 'running') result = await request(one, going)
  expect(statusOf(result)).toBe('waiting')
  expect(actsWith(params.arguments.text)).toEqual([])
})

/** A call of 2026-07-28 as bytes, on a connection that is cut. */
async function aRawCall(params: object, capabilities: ClientCapabilities = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
  const call = { name: 'write', ...params, _meta: { ..._meta, ...(params as { _meta?: object })._meta } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call })
  const head = [
    'POST /mcp HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${await aToken('one')}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    'MCP-Protocol-Version: 2026-07-28',
    'Mcp-Method: tools/call',
    'Mcp-Name: write',
    `Content-Length: ${body.length}`,
  ].join('\r\n')
  return { head, whole: `${head}\r\n\r\n${body}` }
}

/** Sends bytes on a connection of their own, which is left open. */
async function sendRaw(bytes: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  await new Promise((resolve) => socket.write(bytes, resolve))
  return socket
}

/** @param seconds for which a call is held until its client is told how it stands */
async function restartHolding(seconds: number): Promise<void> {
  expect(await served.stop()).toBe(0)
  writeFileSync(config, readFileSync(config, 'utf8').replace(/^holdSeconds: .*$/m, `holdSeconds: ${seconds}`))
  served = await start()
}

const waitsFor = async (text: string) => JSON.stringify(await trial.openRequests()).split(text).length - 1

describe('a client whose connection is cut', () => {
  // proves fault: A client of an MCP gateway goes away
  test.each(['head', 'body'])('in the %s of its call has asked for nothing', async (part) => {
    const text = randomUUID()
    const { head, whole } = await aRawCall({ arguments: { text } })
    const cut = await sendRaw(part === 'head' ? head.slice(0, -9) : whole.slice(0, -9))
    cut.destroy()
    const client = await aClient('one', 'auto')
    expect(statusOf(await asked(client, { name: 'write', arguments: { text } }))).toBe('waiting')
    expect([await waitsFor(text), actsWith(text).length]).toEqual([1, 0])
  })

  // proves fault: A client of an MCP gateway goes away
  test('while it waits for a human has taken the call back, and its next one is another', async () => {
    const text = randomUUID()
    // Once it was told that it waits, it may go away: so it is not told before it does.
    await restartHolding(45)
    const cut = await sendRaw((await aRawCall({ arguments: { text } })).whole)
    await expect.poll(() => waitsFor(text)).toBe(1)
    cut.destroy()
    await expect.poll(() => waitsFor(text)).toBe(0)
    await restartHolding(1)
    const [client, call] = [await aClient('one', 'auto'), { name: 'write', arguments: { text } }]
    expect(statusOf(await asked(client, call))).toBe('waiting')
    await trial.approve()
    expect(statusOf(await ended(client, call))).toBe('completed')
    expect(actsWith(text)).toHaveLength(1)
  })

  // proves fault: A client of an MCP gateway goes away
  test('after it was told to wait keeps its call, and the next equal one goes on with it', async () => {
    const text = randomUUID()
    const [client, call] = [await aClient('one', 'auto'), { name: 'write', arguments: { text } }]
    const waiting = await asked(client, call)
    expect(statusOf(waiting)).toBe('waiting')
    const cut = await sendRaw((await aRawCall({ arguments: { text } })).whole)
    cut.destroy()
    const next = await asked(client, call)
    expect([statusOf(next), idIn(next), await waitsFor(text)]).toEqual(['waiting', idIn(waiting), 1])
    await trial.approve()
    const result = await ended(client, call)
    expect([statusOf(result), idIn(result)]).toEqual(['completed', idIn(waiting)])
    expect(actsWith(text)).toHaveLength(1)
  })

  // proves fault: A client of an MCP gateway goes away
  test.each<[string, 'runs' | 'is answered']>([
    ['equal', 'is answered'],
    ['host id', 'runs'],
    ['host id', 'is answered'],
    ['requestState', 'runs'],
    ['requestState', 'is answered'],
  ])('and calls again by %s, gets the one act: cut while it %s', async (by, phase) => {
    const text = randomUUID()
    const args = { arguments: { text, how: 'slow', size: 8_000_000 } }
    const capabilities = by === 'requestState' ? { elicitation: { url: {} } } : {}
    const client = await aClient('one', 'auto', capabilities)
    const named = by === 'host id' ? { _meta: { 'countersign/transactionId': randomUUID() } } : {}
    let again: object = { ...args, ...named }
    if (by === 'requestState') {
      const requestState = await stateOf(client, again)
      again = { ...args, requestState, inputResponses: { approval: { action: 'accept' } } }
    }
    while (statusOf(await request(client, again)) !== 'waiting');
    await trial.approve()
    await expect.poll(() => actsWith(text)).toHaveLength(1)
    const cut = await sendRaw((await aRawCall(again, capabilities)).whole)
    if (phase === 'runs') cut.destroy()
    writeFileSync(join(folder, `go-${text}`), '')
    if (phase === 'is answered') {
      // The rest of its answer is never read.
      await once(cut, 'readable')
      cut.destroy()
    }
    let result = await request(client, again)
    while (['running', 'waiting'].includes(statusOf(result) as string)) result = await request(client, again)
    expect(statusOf(result)).toBe('completed')
    expect(actsWith(text)).toHaveLength(1)
  })
})

/** A proxy that cuts what goes through it when it is told to. */
async function aProxy() {
  const open = new Set<Socket>()
  let events = 0
  const listener = createServer((from) => {
    const to = connect(port, '127.0.0.1').on(
      'data',
      (chunk) => (events += chunk.toString().split('\nid: ').length - 1),
    )
    for (const socket of [from, to]) {
      open.add(socket)
      socket.on('error', () => {}).on('close', () => [from, to].forEach((one) => one.destroy()))
    }
    from.pipe(to).pipe(from)
  })
  const cut = () => open.forEach((socket) => socket.destroy())
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    listener.close()
    cut()
  })
  const address = new URL(url)
  address.port = String((listener.address() as AddressInfo).port)
  return { address, cut, events: () => events }
}

describe('a session of 2025', () => {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }

  /** A session by messages as they are. */
  async function aSession(sub: string) {
    const begun = await post(JSON.stringify(initialize), bearer(await aToken(sub)))
    await begun.text()
    return { ...bearer(await aToken(sub)), 'mcp-session-id': begun.headers.get('mcp-session-id')! }
  }

  // proves fault: A client of an MCP gateway goes away
  test.skipIf(leftOut())(
    'whose stream a proxy cuts while a call runs resumes it, and gets the outcome of the one act',
    async () => {
      const { address, cut, events } = await aProxy()
      const headers = bearer(await aToken('one'))
      const client = await anOldClient('streamableHttp', address, { requestInit: { headers } })
      const text = randomUUID()
      const call = { name: 'write', arguments: { text, how: 'slow' } }
      const of = async () => (await client.callTool(call)) as Result
      let waiting = await of()
      while (statusOf(waiting) === 'running') waiting = await of()
      await trial.approve()
      await expect.poll(() => actsWith(text)).toHaveLength(1)
      const before = events()
      const made = of()
      // The first event of its stream, by which it can be resumed.
      await expect.poll(events).toBeGreaterThan(before)
      cut()
      writeFileSync(join(folder, `go-${text}`), '')
      const result = await made
      expect([statusOf(result), idIn(result)]).toEqual(['completed', idIn(waiting)])
      expect(actsWith(text)).toHaveLength(1)
      // It was told: an equal call is another one.
      const next = await of()
      expect(['running', 'waiting']).toContain(statusOf(next))
      expect(idIn(next)).not.toBe(idIn(waiting))
    },
  )

  // proves fault: A client of an MCP gateway goes away
  test('that is cut by a raw connection while it waits keeps its call, and the next equal one goes on with it', async () => {
    const session = await aSession('one')
    const text = randomUUID()
    const params = { name: 'write', arguments: { text } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params })
    const head = [
      'POST /mcp HTTP/1.1',
      `Host: 127.0.0.1:${port}`,
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      'MCP-Protocol-Version: 2025-11-25',
      ...Object.entries(session).map(([name, value]) => `${name}: ${value}`),
      `Content-Length: ${body.length}`,
    ].join('\r\n')
    const socket = await sendRaw(`${head}\r\n\r\n${body}`)
    await expect.poll(() => waitsFor(text)).toBe(1)
    socket.destroy()
    const again = async () => {
      const answer = await post(body, session)
      const data = /^data: (\{.*)$/m.exec(await answer.text())![1]!
      return (JSON.parse(data) as { result: Result }).result
    }
    const waiting = await again()
    expect([statusOf(waiting), await waitsFor(text)]).toEqual(['waiting', 1])
    await trial.approve()
    let result = await again()
    while (['running', 'waiting'].includes(statusOf(result) as string)) result = await again()
    expect([statusOf(result), idIn(result)]).toEqual(['completed', idIn(waiting)])
    expect(actsWith(text)).toHaveLength(1)
  })

  // proves abuse: An agent that goes on with the call of another
  test('resumes none of the streams of another one', async () => {
    const [mine, theirs] = [await aSession('one'), await aSession('two')]
    const list = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' })
    const version = { 'mcp-protocol-version': '2025-11-25' }
    const text = await (await post(list, { ...mine, ...version })).text()
    const id = /^id: (.*)$/m.exec(text)![1]!
    const resume = (session: Record<string, string>) =>
      fetch(url, {
        headers: { ...session, ...version, accept: 'text/event-stream', 'last-event-id': id },
      })
    const again = await resume(mine)
    expect([again.status, await again.text()]).toEqual([200, expect.stringContaining('"id":2')])
    expect((await resume(theirs)).status).toBe(400)
    expect((await resume({ ...mine, authorization: theirs.authorization })).status).toBe(404)
  })
})

/** The used part of the tasks extension's own client, with a task as that client shows it. */
interface Tasks {
  readonly callTool: (name: string, args: object) => Promise<TaskExecution>
  readonly task: (id: string) => {
    readonly snapshot: () => Promise<Record<string, unknown>>
    readonly result: () => Promise<unknown>
    readonly cancel: () => Promise<void>
    readonly update: (responses: object) => Promise<void>
  }
  readonly close: () => Promise<void>
}
interface TaskExecution {
  readonly kind: string
  readonly handle?: { readonly taskId: string }
  readonly settle: () => Promise<{ readonly outcome: unknown }>
}

const PROTOCOL_VERSION = '2026-07-28'
const clientInfo = { name: 'test', version: '1' }

/** Sends a message of 2026-07-28 as it is, with these capabilities. */
async function sendModern(sub: string, message: { method: string; params?: object }, capabilities: object) {
  const params = (message.params ?? {}) as Record<string, unknown>
  const _meta = {
    ...(params['_meta'] as object | undefined),
    'io.modelcontextprotocol/protocolVersion': PROTOCOL_VERSION,
    'io.modelcontextprotocol/clientInfo': clientInfo,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
  const body = { jsonrpc: '2.0', id: 1, ...message, params: { ...params, _meta } }
  const name = (params['taskId'] ?? params['name']) as string | undefined
  return post(JSON.stringify(body), {
    ...bearer(await aToken(sub)),
    'mcp-protocol-version': PROTOCOL_VERSION,
    'mcp-method': message.method,
    ...(name !== undefined && { 'mcp-name': name }),
  })
}

interface Message {
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number }
}

const dispatch = async (...given: Parameters<typeof sendModern>) =>
  (await (await sendModern(...given)).json()) as Message

/** Listens for tasks: what comes, one message after the other, until the stream ends. */
async function* listening(sub: string, taskIds: readonly string[]): AsyncGenerator<Message, undefined> {
  const message = { method: 'subscriptions/listen', params: { notifications: { taskIds } } }
  const answer = await sendModern(sub, message, TASKS)
  let text = ''
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    const events = `${text}${chunk}`.split('\n\n')
    text = events.pop()!
    for (const event of events)
      for (const data of event.split('\n').filter((line) => line.startsWith('data: {')))
        yield JSON.parse(data.slice(6)) as Message
  }
}

const acknowledged = (...taskIds: string[]) => ({
  method: 'notifications/subscriptions/acknowledged',
  params: { notifications: { taskIds }, _meta: { 'io.modelcontextprotocol/subscriptionId': 1 } },
})
const listenedToAll = {
  id: 1,
  result: { resultType: 'complete', _meta: { 'io.modelcontextprotocol/subscriptionId': 1 } },
}

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } }

async function aTaskClient(sub: string): Promise<Tasks> {
  const { createTaskSessionFromClient } = (await import(
    pathToFileURL(join(OTHERS, '@modelcontextprotocol', 'ext-tasks', 'dist', 'client', 'index.js')).href
  )) as { createTaskSessionFromClient: (client: Client, options: object) => Tasks }
  const tasks = createTaskSessionFromClient(await aClient(sub, 'auto'), {
    endpointId: url,
    v2RequestFraming: { protocolVersion: PROTOCOL_VERSION, clientInfo, clientCapabilities: {} },
    async rawDispatch(message: { method: string; params?: object }) {
      const { result, error } = await dispatch(sub, message, TASKS)
      return error === undefined ? { kind: 'result', result } : { kind: 'error', error }
    },
  })
  onTestFinished(() => tasks.close())
  return tasks
}

describe.skipIf(leftOut())('a client that takes tasks', () => {
  test('is given one for a call that waits, and its outcome, also after the gateway was killed', async () => {
    const tasks = await aTaskClient('one')
    const text = randomUUID()
    const execution = await tasks.callTool('write', { text })
    const id = execution.handle!.taskId
    expect(await tasks.task(id).snapshot()).toMatchObject({
      status: 'working',
      statusMessage: expect.stringMatching(/^Waits for a human .*\/console\/requests\//),
    })
    await tasks.task(id).update({ approval: { action: 'accept' } })
    await served.stop('SIGKILL')
    served = await start()
    expect(await tasks.task(id).snapshot()).toMatchObject({ status: 'working' })
    const other = await aTaskClient('two')
    await expect(other.task(id).snapshot()).rejects.toThrow('There is no task with this id')
    await expect(other.task(id).cancel()).rejects.toThrow('There is no task with this id')
    expect([await waitsFor(text), actsWith(text)]).toEqual([1, []])
    await trial.approve()
    const { outcome } = await execution.settle()
    expect(JSON.stringify(outcome)).toContain('did write')
    expect(actsWith(text)).toHaveLength(1)
    // Its outcome was told, and is there all the same.
    expect(await tasks.task(id).snapshot()).toMatchObject({ status: 'completed' })
    await tasks.task(id).cancel()
    expect(await tasks.task(id).snapshot()).toMatchObject({ status: 'completed' })
  })

  test('that cancels one takes the call back before a human has approved it, and not after the release', async () => {
    const tasks = await aTaskClient('one')
    const [early, late] = [randomUUID(), randomUUID()]
    const dropped = (await tasks.callTool('write', { text: early })).handle!.taskId
    await tasks.task(dropped).cancel()
    await expect.poll(() => waitsFor(early)).toBe(0)
    expect(await tasks.task(dropped).snapshot()).toMatchObject({ status: 'cancelled' })
    await tasks.task(dropped).cancel()

    const released = (await tasks.callTool('write', { text: late, how: 'slow' })).handle!.taskId
    await trial.approve()
    await expect.poll(() => actsWith(late)).toHaveLength(1)
    await tasks.task(released).cancel()
    writeFileSync(join(folder, `go-${late}`), '')
    expect(JSON.stringify(await tasks.task(released).result())).toContain('did write')
    expect([actsWith(early), actsWith(late).length]).toEqual([[], 1])
  })

  test('and listens is told when a human has approved one and when it has ended, and no other client is', async () => {
    const { TaskStatusNotificationV2Schema } = (await import(
      pathToFileURL(join(OTHERS, '@modelcontextprotocol', 'ext-tasks', 'dist', 'core', 'v2', 'schemas.js'))
        .href
    )) as { TaskStatusNotificationV2Schema: { parse: (message: unknown) => unknown } }
    const text = randomUUID()
    const args = { text, how: 'slow' }
    const id = (await (await aTaskClient('one')).callTool('write', args)).handle!.taskId
    const next = async () => (await mine.next()).value
    const mine = listening('one', [id, randomUUID()])
    expect(await next()).toMatchObject(acknowledged(id))
    expect(await Array.fromAsync(listening('two', [id]))).toMatchObject([acknowledged(), listenedToAll])
    // One that goes away while it listens takes nothing back.
    await listening('one', [id]).return(undefined)
    await trial.approve()
    const working = { taskId: id, status: 'working', statusMessage: 'Runs' }
    expect(await next()).toMatchObject({ method: 'notifications/tasks', params: working })
    await expect.poll(() => actsWith(text)).toHaveLength(1)
    writeFileSync(join(folder, `go-${text}`), '')
    const [last, ...rest] = await Array.fromAsync(mine)
    expect(TaskStatusNotificationV2Schema.parse(last)).toMatchObject({
      params: { taskId: id, status: 'completed', result: { content: [{ text: 'did write' }] } },
    })
    expect(rest).toMatchObject([listenedToAll])
    // Its outcome was told: the next equal call is another one.
    const { result } = await dispatch(
      'one',
      { method: 'tools/call', params: { name: 'write', arguments: args } },
      TASKS,
    )
    expect(result).toMatchObject({ status: 'working' })
    expect(result!['taskId']).not.toBe(id)
    expect(await Array.fromAsync(listening('one', [id]))).toMatchObject([
      acknowledged(id),
      { params: { taskId: id, status: 'completed' } },
      listenedToAll,
    ])
    expect(actsWith(text)).toHaveLength(1)
  })

  test('is given the result of a call that waits for nobody', async () => {
    const client = await aTaskClient('one')
    const look = () => client.callTool('look', { mine: randomUUID() })
    let execution = await look()
    // One that takes longer than a call is held is a task, too.
    while (execution.handle !== undefined) execution = await look()
    expect(JSON.stringify((await execution.settle()).outcome)).toContain('did look')
  })
})

const WAITING = { _meta: { 'countersign/status': 'waiting' } }

describe('a client that lies about what it can', () => {
  // proves abuse: A client that declares what it cannot do
  test.each<[string, () => unknown, object]>([
    [
      'an error',
      () => {
        throw new Error('I cannot open anything')
      },
      { isError: true, content: [{ text: expect.stringContaining('I cannot open anything') }] },
    ],
    [
      'nonsense',
      () => ({ action: 'approved by me', content: 7 }),
      { isError: true, content: [{ text: expect.stringContaining('Invalid elicitation result') }] },
    ],
    ['that its user declines', () => ({ action: 'decline' }), WAITING],
    ['that its user accepts', () => ({ action: 'accept' }), WAITING],
  ])(
    'and answers %s when it is asked to open the request, has approved nothing',
    async (_, answer, reply) => {
      const client = await aClient('one', 'legacy', { elicitation: { url: {} } })
      client.setRequestHandler('elicitation/create', answer as never)
      const text = randomUUID()
      const call = { name: 'write', arguments: { text } }
      expect(await asked(client, call)).toMatchObject(reply)
      expect([await waitsFor(text), actsWith(text)]).toEqual([1, []])
      await trial.approve()
      expect(statusOf(await ended(client, call))).toBe('completed')
      expect(actsWith(text)).toHaveLength(1)
    },
  )

  // proves abuse: A client that declares what it cannot do
  test('and never goes on with what it was given, has its call go on with an equal one', async () => {
    const text = randomUUID()
    const call = { name: 'write', arguments: { text } }
    const { result } = await dispatch('one', { method: 'tools/call', params: call }, TASKS)
    expect(result).toMatchObject({ resultType: 'task', status: 'working' })
    await stateOf(await aClient('one', 'auto', { elicitation: { url: {} } }), call)
    const waiting = await asked(await aClient('one', 'auto'), call)
    expect([statusOf(waiting), idIn(waiting)]).toEqual(['waiting', result!['taskId']])
    expect(await waitsFor(text)).toBe(1)
  })

  // proves abuse: A client that declares what it cannot do
  test.each<[string, object, number]>([
    ['without having declared tasks', {}, -32_021],
    ['with a declaration that is none', { extensions: { 'io.modelcontextprotocol/tasks': [] } }, -32_602],
    ['of a task that there is not', TASKS, -32_602],
  ])('and asks %s is refused', async (_, capabilities, code) => {
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      for (const taskId of [randomUUID(), 'x']) {
        const { error } = await dispatch(
          'one',
          { method, params: { taskId, inputResponses: {} } },
          capabilities,
        )
        expect(error?.code, method).toBe(code)
      }
  })

  // proves abuse: A client that declares what it cannot do
  test.each<[string, object, object, number]>([
    ['without having declared tasks', {}, [randomUUID()], -32_021],
    ['to what is no list', TASKS, {}, -32_602],
    ['to more tasks than it can have', TASKS, Array.from({ length: 201 }, () => randomUUID()), -32_602],
  ])('and listens %s is refused', async (_, capabilities, taskIds, code) => {
    const message = { method: 'subscriptions/listen', params: { notifications: { taskIds } } }
    expect((await dispatch('one', message, capabilities)).error?.code).toBe(code)
  })

  // proves abuse: An agent that floods its gateway
  test('and listens too many times at once is refused, until one of them has ended', async () => {
    const call = { method: 'tools/call', params: { name: 'write', arguments: { text: randomUUID() } } }
    const { result } = await dispatch('four', call, TASKS)
    const id = result!['taskId'] as string
    const streams = Array.from({ length: 32 }, () => listening('four', [id]))
    await Promise.all(streams.map((stream) => stream.next()))
    const message = { method: 'subscriptions/listen', params: { notifications: { taskIds: [id] } } }
    expect((await dispatch('four', message, TASKS)).error?.code).toBe(-32_603)
    const another = listening('one', [id])
    expect(await Array.fromAsync(another)).toMatchObject([acknowledged(), listenedToAll])
    await streams[0]!.return(undefined)
    const first = async () => (await listening('four', [id]).next()).value?.method
    await expect.poll(first).toBe('notifications/subscriptions/acknowledged')
    await Promise.all(streams.map((stream) => stream.return(undefined)))
  })
})

test('a session of 2025 is of the caller that began it, and of nobody after it was ended', async () => {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }
  const begun = await post(JSON.stringify(initialize))
  const session = { 'mcp-session-id': begun.headers.get('mcp-session-id')! }
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' })
  expect((await post(ping, session)).status).toBe(200)
  const another = { ...session, authorization: `Bearer ${await aToken('two')}` }
  expect((await post(ping, another)).status).toBe(404)
  expect((await post(ping)).status).toBe(400)
  const headers = { ...session, authorization: `Bearer ${await aToken('one')}` }
  expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(200)
  expect((await post(ping, session)).status).toBe(404)
})

// proves abuse: An agent that floods its gateway
test('a client that sends too many requests is told when it may go on, and no other client is', async () => {
  const headers = bearer(await aToken('three'))
  let answers: Response[] = []
  // One comes back every tenth of a second.
  while (!answers.some(({ status }) => status === 429))
    answers = await Promise.all(Array.from({ length: 100 }, () => fetch(url, { headers })))
  const over = answers.find(({ status }) => status === 429)!
  expect(Number(over.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expect(over.headers.get('ratelimit-policy')).toBe('"requests";q=600;w=60')
  expect((await over.json()) as object).toMatchObject({
    error: { message: expect.stringContaining('a client may send 600 requests a minute') },
  })
  expect((await (await aClient('one', 'auto')).listTools()).tools).not.toEqual([])
})

test.each<[string, string | Uint8Array, number, string]>([
  ['two equal keys', '{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":1,"a":2}}', 400, 'duplicate key'],
  [
    'bytes that are no UTF-8',
    Buffer.from('{"jsonrpc":"2.0","id":7,"method":"\xff"}', 'latin1'),
    400,
    'not UTF-8',
  ],
  ['no JSON', 'x', 400, 'Refused, and nothing was done'],
  ['more than 1 MiB', `"${'x'.repeat(1024 * 1024)}"`, 413, ''],
])('a message with %s is refused', async (_, body, status, reason) => {
  const answer = await post(body)
  expect(answer.status).toBe(status)
  expect(await answer.text()).toContain(reason)
})

test('what waits when the gateway is stopped, or killed, goes on with the next equal call', async () => {
  const call = { name: 'write', arguments: { text: randomUUID() } }
  const id = idIn(await asked(await aClient('two', 'legacy'), call))
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const held = (await aClient('two', 'auto')).callTool(call).catch(() => undefined)
    await served.stop(signal)
    await held
    served = await start()
  }
  // A session of 2025 is another wish: its caller can still ask for the outcome by the id.
  await trial.approve()
  const result = await ended(await aClient('two', 'auto'), resultOf(id))
  expect(statusOf(result)).toBe('completed')
  expect(existsSync(join(config, '..', 'open-calls.ndjson'))).toBe(true)
})
