// kill -9 of an MCP gateway at every await between taking a release and answering it: whatever the moment, the server behind acts once at most, and
// what was begun is known to the next process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { publicKeyJson } from '../../src/core/signing/published.ts'
import { Canonical, canonicalize } from '../../src/formats/json/canonical.ts'
import { toolHash } from '../../src/mcp/tools.ts'
import { signQuestion, signRelease } from '../../workers/connectors/release.ts'
import { aKey, anOrder } from '../connectors/order.ts'
import { CACHE } from '../run/bundle.ts'
import { baseEnvironment } from '../run/environment.ts'
import { bundlePrograms } from '../run/programs.ts'
import { instrument } from './points/instrument.ts'
import { awaitOf, awaitsOf, planKills, readMarks, type Kill, type Reached } from './points/plan.ts'
import type { Work } from './releases/child.ts'

/** The receiver as one program, every await marked. Where it finds the packages. */
const MARKED_FOLDER = join(CACHE, 'marked-releases')
const MARKED =
  /^(clients\/typescript\/src\/receiver\/(index|journal|release)|src\/mcp\/(effect|upstream))\.ts$/
/** Processes that are started and killed at the same time. */
const LANES = 2
const AUDIENCE = 'http://127.0.0.1:1'
const CAPABILITY = 'mcp:files'
const RELEASE = 'a release'

const folder = mkdtempSync(join(tmpdir(), 'countersign-test-releases-'))
const key = aKey()
const write = {
  name: 'write',
  description: 'Writes something down.',
  inputSchema: { type: 'object' as const },
}
const pinned = { toolHash: toolHash(write), readOnly: false, errorsAreFinal: false }
const lock = { policy: { name: 'mcp-files', version: '1.0.0' }, tools: { write: pinned } }
/** Acts of the server behind, by the text that it was asked to write. */
const acts: string[] = []

let behind: HttpServer
let marks: ReadonlyMap<string, readonly Reached[]>

beforeAll(async () => {
  const handler = toNodeHandler(createMcpHandler(serverBehind))
  behind = createServer((request, response) => {
    const { method = '', url = '' } = request
    void handler(Object.assign(request, { method, url }), response)
  }).listen(0, '127.0.0.1')
  await once(behind, 'listening')
  const child = join(import.meta.dirname, 'releases', 'child.ts')
  await bundlePrograms(
    MARKED_FOLDER,
    (file, source) => (MARKED.test(file) ? instrument(file, source).text : source),
    { child },
  )
  const list = join(folder, 'marks')
  writeFileSync(list, '')
  const { signal, answers } = await runChild(aCall('whole'), ['release'], { CRASH_LIST: list })
  expect([signal, answers.map(({ status }) => status), actsOf('whole')]).toEqual([null, [200], 1])
  marks = new Map([[RELEASE, readMarks(readFileSync(list, 'utf8'))]])
})
afterAll(async () => {
  behind.closeAllConnections()
  behind.close()
  rmSync(folder, { recursive: true })
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

const actsOf = (text: string) => acts.filter((one) => one === text).length

/** A call of the tool, with a journal of its own. */
interface Call {
  readonly journal: string
  readonly release: string
  readonly question: string
}

function aCall(text: string): Call {
  const parameters = { arguments: { text }, toolHash: pinned.toolHash }
  const order = anOrder({
    action: CAPABILITY,
    target: 'write',
    parameters,
    parametersText: new Canonical(canonicalize(parameters)),
  })
  const given = { connectorId: 'c', audience: AUDIENCE, timeoutMs: 600_000, key, now: new Date() }
  return {
    journal: join(folder, `${order.authorizationId}.journal`),
    release: signRelease(order, given),
    question: Buffer.from(signQuestion({ ...order, capability: CAPABILITY }, given)).toString('base64url'),
  }
}

interface Answered {
  readonly status: number
  readonly body: string
}

/** @returns the signal that ended it, null where it came to its end, and what it has answered */
async function runChild(
  { journal, ...call }: Call,
  asked: readonly ('release' | 'question')[],
  env: Record<string, string>,
): Promise<{ readonly signal: NodeJS.Signals | null; readonly answers: readonly Answered[] }> {
  const { port } = behind.address() as AddressInfo
  const work: Work = {
    journal,
    upstream: `http://127.0.0.1:${port}/mcp`,
    audience: AUDIENCE,
    capability: CAPABILITY,
    lock,
    keySet: { keys: [publicKeyJson(key.public)] },
    asked: asked.map((one) => (one === 'release' ? { release: call.release } : { question: call.question })),
  }
  const child = spawn(process.execPath, [join(MARKED_FOLDER, 'child.mjs')], {
    env: { ...baseEnvironment, CRASH_WORK: JSON.stringify(work), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  expect(code ?? 0, stderr).toBe(0)
  const lines = stdout.split('\n').slice(0, -1)
  return { signal, answers: lines.map((line) => JSON.parse(line) as Answered) }
}

// proves fault: kill -9 of an MCP gateway at every await
test('every step of a release is one that a process is killed at', () => {
  const reached = [...awaitsOf(marks)].join('\n')
  for (const step of ['once:', 'ended:', 'begin:', 'append:', 'list:', 'toolsOf:', 'call:', 'act:'])
    expect(reached).toContain(step)
})

// proves fault: kill -9 of an MCP gateway at every await
test('killed at any of them, the tool is called once at most, and the next process knows of it', async () => {
  const kills = planKills(marks)
  expect(new Set(kills.map(({ at }) => awaitOf(at)))).toEqual(awaitsOf(marks))
  const left = { 'never taken': 0, 'begun, and unknown': 0, answered: 0 }
  const rest = kills.entries()
  const lane = async () => {
    for (const [i, kill] of rest) left[await killAt(kill, `killed-${i}`)]++
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  for (const [how, count] of Object.entries(left)) expect(count, how).toBeGreaterThan(0)
}, 600_000)

async function killAt({ at, nth, when }: Kill<string>, text: string) {
  const what = `killed at ${at}, ${nth}, ${when}`
  const call = aCall(text)
  const { signal, answers } = await runChild(call, ['release'], {
    CRASH_STOP: JSON.stringify({ at, nth, when }),
  })
  expect([signal, answers], what).toEqual(['SIGKILL', []])
  // The service asks what became of it, and somebody sends it again.
  const next = await runChild(call, ['question', 'release', 'question'], {})
  const [told, again, later] = next.answers
  const statuses = next.answers.map(({ status }) => status)
  switch (told?.status) {
    case 404:
      expect([statuses, actsOf(text)], what).toEqual([[404, 200, 200], 1])
      return 'never taken'
    case 503:
      expect(statuses, what).toEqual([503, 500, 503])
      expect(actsOf(text), what).toBeLessThan(2)
      return 'begun, and unknown'
    default:
      expect([statuses, actsOf(text)], what).toEqual([[200, 200, 200], 1])
      expect([again, later]).toEqual([told, told])
      return 'answered'
  }
}
