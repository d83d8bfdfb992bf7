// The gateway beside programs that others wrote: MCP's conformance suite, the official client 1.x, the inspector, and the server with everything.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { CLI } from '../command.ts'
import { leftOut, OTHERS } from '../others.ts'
import { freePort } from '../../src/cli/free-port.ts'
import { serveByHttp, startTrial, type ServedByHttp, type Trial } from './trial.ts'

const MCP = join(OTHERS, '@modelcontextprotocol')

const folder = mkdtempSync(join(tmpdir(), 'countersign-test-mcp-others-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function run(file: string, ...args: string[]): Promise<{ status: number | null; said: string }> {
  const child = spawn(process.execPath, [join(MCP, file), ...args], {
    cwd: folder,
    env: { ...trial.env, HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, said }
}

const trialOf = (alias: string, port: number, server: readonly string[]) => {
  const http = ['--trial', '--port', String(port), '--unauthenticated', '--alias', alias]
  return serveByHttp(trial.env, [...http, '--dir', folder, '--humans', folder, '--', ...server])
}

/** What is used of the official client 1.x. */
interface OldClient {
  readonly connect: (transport: unknown) => Promise<void>
  readonly callTool: (call: object) => Promise<Record<string, unknown>>
  readonly close: () => Promise<void>
}

const oldModule = (file: string) =>
  import(pathToFileURL(join(MCP, 'sdk', 'dist', 'esm', 'client', file)).href) as Promise<
    Record<string, (new (...given: unknown[]) => unknown) & { readonly name?: string }>
  >

async function anOldClient(transport: string, ...args: readonly unknown[]): Promise<OldClient> {
  const [{ Client }, transports] = await Promise.all([oldModule('index.js'), oldModule(`${transport}.js`)])
  const Transport = Object.values(transports).find(({ name = '' }) => name.endsWith('ClientTransport'))!
  const client = new Client!({ name: 'old', version: '1' }) as OldClient
  await client.connect(new Transport(...args))
  onTestFinished(() => client.close())
  return client
}

/** Repeats a call of which Dana approves what waits, until it has ended. */
async function approved(client: OldClient, call: object): Promise<Record<string, unknown>> {
  for (;;) {
    const result = await client.callTool(call)
    const status = (result['_meta'] as Record<string, unknown>)['countersign/status']
    if (status === 'waiting') await trial.approve()
    if (status !== 'waiting' && status !== 'running') return result
  }
}

let trial: Trial

describe.skipIf(leftOut())('the gateway', () => {
  let suite: ServedByHttp
  let url: string

  beforeAll(async () => {
    trial = await startTrial(folder)
    const port = await freePort()
    url = `http://127.0.0.1:${port}/mcp`
    suite = await trialOf('suite', port, [process.execPath, join(import.meta.dirname, 'suite.ts')])
  })
  afterAll(async () => {
    expect(await suite.stop()).toBe(0)
    await trial.stop()
  })

  test.each(['2025-11-25', '2026-07-28'])('conforms to the revision %s', async (revision) => {
    const expected = join(import.meta.dirname, 'not-applicable.yaml')
    const args = ['--url', url, '--requirements', revision, '--expected-failures', expected]
    const { status, said } = await run('conformance/dist/index.js', 'server', ...args)
    expect(status, said).toBe(0)
    expect(Number(/Total: (\d+) passed/.exec(said)?.[1])).toBeGreaterThan(30)
  })

  test('answers the inspector', async () => {
    const cli = 'inspector/clients/launcher/build/index.js'
    const call = ['--method', 'tools/call', '--tool-name', 'test_simple_text']
    const { status, said } = await run(cli, '--cli', url, '--transport', 'http', ...call)
    expect(said).toContain('"countersign/receipt"')
    expect(status).toBe(0)
  })

  test('answers the official client 1.x by HTTP', async () => {
    const client = await anOldClient('streamableHttp', new URL(url))
    expect(await client.callTool({ name: 'test_simple_text', arguments: {} })).toMatchObject({
      content: [{ text: 'This is a simple text response for testing.' }],
      _meta: { 'countersign/receipt': { url: expect.stringContaining('/trust-records/') } },
    })
  })

  const everything = join(MCP, 'server-everything', 'dist', 'index.js')
  const echo = { name: 'echo', arguments: { message: 'hello' } }
  const echoed = {
    content: [{ text: 'Echo: hello' }],
    _meta: { 'countersign/status': 'completed' },
  }

  test('governs the server with everything over standard input and output', async () => {
    const args = ['mcp', '--trial', '--alias', 'everything', '--dir', folder, '--humans', folder]
    const command = { command: process.execPath, env: trial.env, stderr: 'ignore' }
    const server = ['--', process.execPath, everything, 'stdio']
    const client = await anOldClient('stdio', { ...command, args: [CLI, ...args, ...server] })
    expect(await approved(client, echo)).toMatchObject(echoed)
  })

  test('governs the server with everything by HTTP', async () => {
    const [behind, port] = [await freePort(), await freePort()]
    const env = { ...trial.env, PORT: String(behind) }
    const child = spawn(process.execPath, [everything, 'streamableHttp'], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    onTestFinished(() => void child.kill())
    await once(child.stderr, 'data')
    await expect
      .poll(
        () =>
          fetch(`http://127.0.0.1:${behind}/mcp`).then(
            () => 'up',
            () => 'down',
          ),
        { timeout: 20_000 },
      )
      .toBe('up')
    const served = await trialOf('everything-http', port, [`http://127.0.0.1:${behind}/mcp`])
    onTestFinished(async () => void (await served.stop()))
    const client = await anOldClient('streamableHttp', new URL(`http://127.0.0.1:${port}/mcp`))
    expect(await approved(client, echo)).toMatchObject(echoed)
  })
})
