// The connection to the server behind a gateway, cut at every phase of a call, and the call sent again: the server acts once at most, and what is answered
// is what is known.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openJournal, receive, serviceKeys } from '../../clients/typescript/src/receiver/index.ts'
import { publicKeyJson } from '../../src/core/signing/published.ts'
import { Canonical, canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import type { UpstreamConfig } from '../../src/mcp/config.ts'
import { openResults, toolEffect } from '../../src/mcp/effect.ts'
import { toolHash, type Tool } from '../../src/mcp/tools.ts'
import { openUpstream, type Listed } from '../../src/mcp/upstream.ts'
import { signQuestion, signRelease } from '../../workers/connectors/release.ts'
import { aKey, anOrder } from '../connectors/order.ts'
import { UPSTREAM } from './trial.ts'

const AUDIENCE = 'http://127.0.0.1:1'
const CAPABILITY = 'mcp:files'

const folder = mkdtempSync(join(tmpdir(), 'countersign-test-streams-'))
afterAll(() => rmSync(folder, { recursive: true }))

const key = aKey()
const write = {
  name: 'write',
  description: 'Writes something down.',
  inputSchema: { type: 'object' as const },
}
const pinOf = (tool: Tool) => ({ toolHash: toolHash(tool), readOnly: false, errorsAreFinal: false })

/**
 * A gateway's receiver in front of a server.
 * @param given.onCalled is called when a call of it was written
 */
async function aReceiver(
  config: UpstreamConfig,
  given: { readonly timeoutMs: number; readonly onCalled?: () => void },
) {
  const { timeoutMs, onCalled = () => {} } = given
  const upstream = openUpstream(config, { timeoutMs, version: '1.0.0' })
  const pinned = pinOf((await upstream.list()).tools.find(({ name }) => name === 'write')!)
  const lock = { policy: { name: 'mcp-files', version: '1.0.0' }, tools: { write: pinned } }
  async function list(): Promise<Listed> {
    const listed = await upstream.list()
    return {
      ...listed,
      call(...called) {
        const answered = listed.call(...called)
        setImmediate(onCalled)
        return answered
      },
    }
  }
  const journal = openJournal(join(folder, randomUUID()))
  const { answer } = receive({
    keys: serviceKeys({ keys: [publicKeyJson(key.public)] }),
    capabilities: [CAPABILITY],
    journal,
    audience: AUDIENCE,
    ...toolEffect({ ...upstream, list }, { lock, results: openResults() }),
    onError: () => {},
  })
  const close = async () => {
    await upstream.close()
    journal.close()
  }
  return { answer, close, toolHash: pinned.toolHash }
}

type Receiver = Awaited<ReturnType<typeof aReceiver>>

/** A release of the service, as often as it is sent, and its question what became of it. */
function aRelease({ answer, toolHash: pinnedHash }: Receiver, args: Readonly<Record<string, Json>>) {
  const parameters = { arguments: args, toolHash: pinnedHash }
  const parametersText = new Canonical(canonicalize(parameters))
  const order = anOrder({ action: CAPABILITY, target: 'write', parameters, parametersText })
  const given = { connectorId: 'c', audience: AUDIENCE, timeoutMs: 600_000, key, now: new Date() }
  const release = Buffer.from(signRelease(order, given))
  const question = Buffer.from(signQuestion({ ...order, capability: CAPABILITY }, given)).toString(
    'base64url',
  )
  return {
    send: () => answer({ method: 'POST', body: release }),
    ask: () => answer({ method: 'GET', question, body: Buffer.alloc(0) }),
  }
}

type End = 'completed' | 'failed' | 'in doubt'

/** Sends a release, the same one again, and asks what became of it. */
async function endOf(release: ReturnType<typeof aRelease>, making = release.send()): Promise<End> {
  const [first, again, asked] = [await making, await release.send(), await release.ask()]
  if (first.status !== 200) {
    expect([first.status, again.status, asked.status]).toEqual([500, 500, 503])
    return 'in doubt'
  }
  expect([again, asked]).toEqual([first, first])
  return (JSON.parse(first.body) as { success: boolean }).success ? 'completed' : 'failed'
}

/** Where the connection is cut, by what of the exchange has gone through, or what else is wrong with it. */
type Fault =
  | 'no connection'
  | 'nothing of the request'
  | 'half of the request'
  | 'the request alone'
  | 'the head of the answer'
  | 'half of the answer'
  | 'all but the end of the answer'
  | 'an answer that is no UTF-8'

/** A proxy that lets every exchange through, but for calls of a tool while it has a fault. */
async function aProxy(behind: number) {
  let fault: Fault | undefined
  const sockets = new Set<Socket>()

  function serve(client: Socket): void {
    const server = connect(behind, '127.0.0.1')
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => [client, server].forEach((one) => one.destroy()))
    }
    let asked: Buffer | undefined
    let answered = Buffer.alloc(0)
    client.on('data', (chunk: Buffer) => {
      if (fault === undefined || (asked === undefined && !chunk.includes('mcp-method: tools/call'))) {
        server.write(chunk)
        return
      }
      asked = Buffer.concat([asked ?? Buffer.alloc(0), chunk])
      if (fault === 'nothing of the request') client.destroy()
      else if (isWhole(asked) && fault !== 'half of the request') server.write(asked)
      else if (isWhole(asked)) server.end(asked.subarray(0, headOf(asked) + 20), () => client.destroy())
    })
    server.on('data', (chunk: Buffer) => {
      if (asked === undefined && fault !== 'no connection') {
        client.write(closing(chunk))
        return
      }
      answered = Buffer.concat([answered, chunk])
      if (!isWhole(answered)) return
      // The server has acted by then, whatever the client gets to know.
      if (asked !== undefined) client.end(passed(answered))
      else refuse(client, answered)
    })
  }

  /** Answers the list of tools, and makes no connection more. */
  function refuse(client: Socket, answer: Buffer): void {
    listening.close()
    client.end(closing(answer))
  }

  function passed(answer: Buffer): Buffer {
    const head = headOf(answer)
    switch (fault) {
      case 'the request alone':
        return Buffer.alloc(0)
      case 'the head of the answer':
        return answer.subarray(0, head)
      case 'half of the answer':
        return answer.subarray(0, (head + answer.length) >> 1)
      case 'all but the end of the answer':
        return answer.subarray(0, -LAST_CHUNK.length)
      default:
        return Buffer.from(answer.toString('latin1').replace('did write', 'd\xffd write'), 'latin1')
    }
  }

  const listen = async (port: number) => {
    const opened = createServer(serve).listen(port, '127.0.0.1')
    await once(opened, 'listening')
    return opened
  }
  let listening = await listen(0)
  const { port } = listening.address() as AddressInfo
  function close(): void {
    listening.close()
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close,
    have: (next: Fault) => void (fault = next),
    async mend(): Promise<void> {
      if (!listening.listening) listening = await listen(port)
      fault = undefined
    },
  }
}

/** Has each request make a connection of its own: one that was kept could be cut in the moment it is used again. */
const closing = (answer: Buffer) =>
  Buffer.from(answer.toString('latin1').replace(/connection: keep-alive/i, 'Connection: close'), 'latin1')

const LAST_CHUNK = '0\r\n\r\n'
const headOf = (message: Buffer) => message.indexOf('\r\n\r\n') + 4

/** Whether a request or an answer has come to its end. */
function isWhole(message: Buffer): boolean {
  const head = headOf(message)
  if (head === 3) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(message.toString('latin1', 0, head))?.[1]
  return length === undefined
    ? message.includes(`\r\n${LAST_CHUNK}`)
    : message.length >= head + Number(length)
}

describe.each(['json', 'sse'] as const)('a server by HTTP that answers in %s', (responseMode) => {
  const acts: string[] = []
  const behind = createHttpServer()
  let proxy: Awaited<ReturnType<typeof aProxy>>
  let receiver: Receiver

  beforeAll(async () => {
    const handler = toNodeHandler(createMcpHandler(serverBehind, { responseMode }))
    behind.on('request', (request, response) => {
      const { method = '', url = '' } = request
      void handler(Object.assign(request, { method, url }), response)
    })
    await once(behind.listen(0, '127.0.0.1'), 'listening')
    proxy = await aProxy((behind.address() as AddressInfo).port)
    receiver = await aReceiver({ url: proxy.url }, { timeoutMs: 10_000 })
  })
  afterAll(async () => {
    await receiver.close()
    proxy.close()
    behind.closeAllConnections()
    behind.close()
  })

  function serverBehind(): Server {
    const server = new Server({ name: 'behind', version: '1.0.0' }, { capabilities: { tools: {} } })
    server.setRequestHandler('tools/list', () => ({ tools: [write] }))
    server.setRequestHandler('tools/call', ({ params }) => {
      acts.push(String(params.arguments?.['text']))
      return { content: [{ type: 'text', text: 'did write' }] }
    })
    return server
  }

  // proves fault: The connection to an MCP server is cut
  test.each<[Fault, End, number]>([
    ['no connection', 'failed', 0],
    ['nothing of the request', 'in doubt', 0],
    ['half of the request', 'in doubt', 0],
    ['the request alone', 'in doubt', 1],
    ['the head of the answer', 'in doubt', 1],
    ['half of the answer', 'in doubt', 1],
    // An event is whole before its stream ends.
    ['all but the end of the answer', responseMode === 'sse' ? 'completed' : 'in doubt', 1],
    ['an answer that is no UTF-8', 'in doubt', 1],
  ])(
    'a call with %s is %s, with %i acts however often it is sent, and the next one is carried out',
    async (fault, end, count) => {
      const text = randomUUID()
      const actsOf = () => acts.filter((one) => one === text).length
      proxy.have(fault)
      const release = aRelease(receiver, { text })
      const first = await release.send()
      await proxy.mend()
      expect([await endOf(release, Promise.resolve(first)), actsOf()]).toEqual([end, count])
      expect(await endOf(aRelease(receiver, { text }))).toBe('completed')
      expect(actsOf()).toBe(count + 1)
    },
  )
})

describe('a program', () => {
  const place = join(folder, 'program')
  const deaf = join(place, 'deaf')
  const actsOf = (text: string) =>
    readFileSync(join(place, 'acts'), { encoding: 'utf8', flag: 'a+' }).split(text).length - 1
  const onCalled = () => rmSync(deaf, { force: true })
  let receiver: Receiver
  beforeAll(async () => {
    mkdirSync(place)
    receiver = await aReceiver(
      { command: [process.execPath, UPSTREAM, place] },
      { timeoutMs: 3_000, onCalled },
    )
  })
  afterAll(() => receiver.close())

  // proves fault: The connection to an MCP server is cut
  test.each<[string, string, End, number]>([
    ['exits before it reads a call', 'deaf', 'in doubt', 0],
    ['exits before it acts', 'drop', 'in doubt', 0],
    ['exits before it answers', 'die', 'in doubt', 1],
    ['exits in the middle of its answer', 'half, and die', 'in doubt', 1],
    ['answers twice', 'twice', 'completed', 1],
    ['answers what is no UTF-8', 'no UTF-8', 'in doubt', 1],
    ['answers the half and hangs', 'half, and hang', 'in doubt', 1],
  ])('that %s (%s): %s, with %i acts however often it is sent', async (_, how, end, count) => {
    if (how === 'deaf') writeFileSync(deaf, '')
    const text = randomUUID()
    expect(await endOf(aRelease(receiver, { how, text }))).toBe(end)
    expect(actsOf(text)).toBe(count)
  })
})
