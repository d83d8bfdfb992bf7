// kill -9 of an MCP gateway and its service at the same moment, while calls are at every step between them: each call acts once at most, and the
// client that repeats it learns what became of it.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../src/cli/free-port.ts'
import { serveByHttp, startTrial, UPSTREAM, type ServedByHttp, type Trial } from '../mcp/trial.ts'

const CALLS = 12

const folder = mkdtempSync(join(tmpdir(), 'countersign-test-killed-together-'))
const gateways = join(folder, 'gateways')
const config = join(gateways, 'journal', 'gateway.yaml')

let trial: Trial
let served: ServedByHttp
let port: number

const serve = (...given: string[]) =>
  serveByHttp(trial.env, ['--port', String(port), '--unauthenticated', ...given])

beforeAll(async () => {
  trial = await startTrial(folder)
  port = await freePort()
  const places = ['--dir', gateways, '--humans', folder]
  served = await serve('--trial', '--alias', 'journal', ...places, '--', process.execPath, UPSTREAM, folder)
})
afterAll(async () => {
  expect(await served.stop()).toBe(0)
  await trial.stop()
  rmSync(folder, { recursive: true })
})

async function aClient(): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)))
  return client
}

const acts = () => readFileSync(join(folder, 'acts'), { encoding: 'utf8', flag: 'a+' }).split('\n')
const actsOf = (text: string) => acts().filter((line) => line.includes(text)).length

const aCall = () => ({
  name: 'look',
  arguments: { text: randomUUID() },
  _meta: { 'countersign/transactionId': randomUUID() },
})

/** The outcome of a call, however often it has to be asked for. */
async function outcomeOf(client: Client, call: ReturnType<typeof aCall>): Promise<unknown> {
  let status: unknown = 'running'
  while (status === 'running' || status === 'waiting')
    status = (await client.callTool(call))._meta?.['countersign/status']
  return status
}

// proves fault: kill -9 of an MCP gateway and of its service
test.each([
  ['when the first call acts', () => acts().length > 1],
  ['when the first call is answered', (answered: number) => answered > 0],
  ['when half of them are answered', (answered: number) => answered > CALLS / 2],
])('killed %s, no call acts twice, and each is known of', async (_, isMoment) => {
  rmSync(join(folder, 'acts'), { force: true })
  const calls = Array.from({ length: CALLS }, aCall)
  let answered = 0
  const client = await aClient()
  const first = calls.map(async (call) => {
    const result = await client.callTool(call)
    answered++
    return result
  })
  const settled = Promise.allSettled(first)
  await expect.poll(() => isMoment(answered), { interval: 1, timeout: 30_000 }).toBe(true)
  await Promise.all([served.stop('SIGKILL'), trial.killService()])
  await client.close()
  const before = await settled
  await trial.startAgain()
  served = await serve('--config', config)

  const again = await aClient()
  const outcomes = await Promise.all(calls.map((call) => outcomeOf(again, call)))
  await again.close()
  for (const [i, call] of calls.entries()) {
    const [outcome, did] = [outcomes[i], actsOf(call.arguments.text)]
    if (before[i]?.status === 'fulfilled') expect(outcome).toBe('completed')
    expect([outcome, did]).toBeOneOf([
      ['completed', 1],
      ['resolved', 1],
      ['in-doubt', 0],
      ['in-doubt', 1],
    ])
    const id = call._meta['countersign/transactionId']
    const { status } = await trial.service.get(`/transactions/${id}`, { key: trial.humans.proposer.rawKey })
    expect(status).toBe(200)
  }
})
