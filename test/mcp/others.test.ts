// The gateway beside programs that others wrote: MCP's conformance suite, the official client 1.x, the inspector, and the server with everything.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { CLI } from '../command.ts'
import { leftOut, OTHERS } from '../others.ts'
import { freePort } from '../../src/cli/free-port.ts'
import { anOldClient, type OldClient } from './old-client.ts'
import { serveByHttp, startTrial, type OpenRequest, type ServedByHttp, type Trial } from './trial.ts'

const MCP = join(OTHERS, '@modelcontextprotocol')
const EXPECTED = join(import.meta.dirname, 'not-applicable.yaml')
const LOOK_EVERY_MS = 200

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

const isShort = ({ request }: OpenRequest) => !JSON.stringify(request.parameters).includes('"seconds":60')

/** Dana approves what waits and was not cancelled meanwhile, but for tasks that take a minute, which the suite cancels. */
async function approveShortTasks(signal: AbortSignal): Promise<void> {
  const nextLook = () => setTimeout(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
  for (; !signal.aborted; await nextLook()) await trial.approve(isShort).catch(() => {})
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
    const command = [process.execPath, join(import.meta.dirname, 'suite.ts')]
    mkdirSync(join(folder, 'suite'))
    const gateway = { alias: 'suite', port: await freePort(), upstream: { command } }
    // A trial keeps the file that is there.
    const tools = { failing_job: { errorsAreFinal: true } }
    writeFileSync(join(folder, 'suite', 'gateway.yaml'), stringify({ ...gateway, tools }))
    suite = await trialOf('suite', port, command)
  })
  afterAll(async () => {
    expect(await suite.stop()).toBe(0)
    await trial.stop()
  })

  /** The scenarios of tasks, which are run beside what the revision requires, with how many of their checks pass. */
  const tasks = {
    'tasks-lifecycle': 8,
    'tasks-capability-negotiation': 5,
    'tasks-wire-fields': 4,
    'tasks-request-state-removal': 3,
    'tasks-mrtr-input': 1,
    'tasks-request-headers': 5,
    'tasks-dispatch-and-envelope': 8,
    'tasks-status-notifications': 0,
    'tasks-required-task-error': 1,
    'tasks-mrtr-composition': 1,
  }

  test.each<[string, Readonly<Record<string, number>>]>([
    ['2025-11-25', {}],
    ['2026-07-28', tasks],
  ])('conforms to the revision %s', async (revision, unscored) => {
    const args = ['--url', url, '--requirements', revision, '--expected-failures', EXPECTED]
    const stopped = new AbortController()
    const approving = approveShortTasks(stopped.signal)
    const { status, said } = await run('conformance/dist/index.js', 'server', ...args)
    stopped.abort()
    await approving
    expect(status, said).toBe(0)
    expect(Number(/Total: (\d+) passed/.exec(said)?.[1])).toBeGreaterThan(30)
    const expected = (parse(readFileSync(EXPECTED, 'utf8')) as { server: string[] }).server
    for (const [scenario, passed] of Object.entries(unscored)) {
      const failed = expected.filter((entry) => entry.startsWith(`${scenario}:`)).length
      expect(said).toContain(`${scenario}: ${passed} passed, ${failed} failed`)
    }
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
      .poll(() =>
        fetch(`http://127.0.0.1:${behind}/mcp`).then(
          () => 'up',
          () => 'down',
        ),
      )
      .toBe('up')
    const served = await trialOf('everything-http', port, [`http://127.0.0.1:${behind}/mcp`])
    onTestFinished(async () => void (await served.stop()))
    const client = await anOldClient('streamableHttp', new URL(`http://127.0.0.1:${port}/mcp`))
    expect(await approved(client, echo)).toMatchObject(echoed)
  })
})
