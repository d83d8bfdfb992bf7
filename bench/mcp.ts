// The program `mcp`: the time that the MCP gateway adds to a call of a tool that only reads, beside the same call of the server itself, and the
// calls per second that go through one gateway.
import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { makeHumans } from '../src/cli/setup/people.ts'
import { checkSample } from './evidence.ts'
import { figuresOf, openTimes, type Round } from './figures.ts'
import { number, whole } from './options.ts'
import { say, type Program } from './scenario.ts'
import { startService, temporaryFolder } from './service.ts'

interface McpOptions {
  readonly calls: number
  readonly rounds: number
  readonly seconds: number
  readonly parallel: number
}

export const mcpProgram: Program<McpOptions> = {
  name: 'mcp',
  description:
    'the MCP gateway: a call of a tool that only reads, beside the same call direct, and calls a second',
  help: `
--calls <n>  calls of each round, one after the other (default: 200)
--rounds <n>  rounds, direct and through the gateway in turn (default: 5)
--seconds <n>  length of each round of calls at the same time (default: 5)
--parallel <n>  calls at the same time (default: 16)`,
  parse: {
    calls: whole(1, 100_000),
    rounds: whole(1, 100),
    seconds: number(0.1, 3_600),
    parallel: whole(1, 1_000),
  },
  defaults: { calls: 200, rounds: 5, seconds: 5, parallel: 16 },
  measure: measureMcp,
}

const ALIAS = 'bench'
const COMMAND = join(import.meta.dirname, '..', 'bin', 'countersign.js')
const UPSTREAM = [process.execPath, join(import.meta.dirname, 'mcp-upstream.ts')]
/** The address in the profiles, which is not used: `--url` names the service. */
const NOWHERE = 'http://127.0.0.1:1'
const WARM_UP = 50
const VERIFIED = 20

/** Makes one call. @returns the id of its transaction; undefined without a gateway */
type Look = () => Promise<string | undefined>

async function measureMcp({ calls, rounds, seconds, parallel }: McpOptions, stack: AsyncDisposableStack) {
  const humans = temporaryFolder(stack)
  const dir = temporaryFolder(stack)
  const service = await startService(
    { callers: makeHumans(humans, NOWHERE).map(({ entry }) => entry) },
    stack,
  )
  say('mcp: starts the gateway')
  const trial = ['mcp', '--trial', '--humans', humans, '--dir', dir, '--alias', ALIAS, '--url', service.url]
  const sides = {
    direct: await openClient(UPSTREAM, stack),
    governed: await openClient([process.execPath, COMMAND, ...trial, '--', ...UPSTREAM], stack),
  }
  for (const look of Object.values(sides)) for (let i = 0; i < WARM_UP; i++) await look()

  const ids: string[] = []
  const measured = { direct: [] as Round[], governed: [] as Round[], parallel: [] as Round[] }
  for (let round = 1; round <= rounds; round++) {
    say(`mcp: round ${round} of ${rounds}`)
    const direct = await oneByOne(sides.direct, calls)
    const governed = await oneByOne(sides.governed, calls)
    measured.direct.push(direct.figures)
    measured.governed.push({
      ...governed.figures,
      'p50 − direct ms': governed.figures['p50 ms'] - direct.figures['p50 ms'],
    })
    const together = await atOnce(sides.governed, { parallel, seconds })
    measured.parallel.push(together.figures)
    ids.push(...governed.ids, ...together.ids)
  }
  const { apiKey } = JSON.parse(readFileSync(join(dir, ALIAS, 'agent.json'), 'utf8')) as { apiKey: string }
  const sample = ids.slice(-VERIFIED).map((id) => ({ id, evidence: 'trust-record' as const }))
  const { verified, problems } = await checkSample({ url: service.url, key: apiKey }, sample)
  problems.push(...(new Set(ids).size === ids.length ? [] : ['two calls have one record']))
  problems.push(...(await service.stop()))
  const report = {
    name: 'mcp',
    description:
      'calls of a tool that only reads, direct and through the gateway, over standard input and output',
    service: service.about,
    labels: 'what',
    measurements: [
      { label: 'direct', figures: figuresOf(measured.direct) },
      { label: 'through the gateway', figures: figuresOf(measured.governed) },
      { label: `through the gateway, ${parallel} at a time`, figures: figuresOf(measured.parallel) },
    ],
    checked: { replies: ids.length, verifiedOffline: verified },
  }
  return {
    report,
    constants: { 'calls of each round': calls, rounds, 'seconds at a time': seconds },
    problems,
  }
}

async function openClient(
  [command = '', ...args]: readonly string[],
  stack: AsyncDisposableStack,
): Promise<Look> {
  const client = new Client({ name: 'countersign-bench', version: '1' })
  const transport = new StdioClientTransport({ command, args, stderr: 'pipe' })
  let said = ''
  transport.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await client.connect(transport).catch((error: unknown) => {
    throw new Error(`${command} ${args.join(' ')} does not serve: ${said}`, { cause: error })
  })
  stack.defer(() => client.close())
  let count = 0
  return async () => {
    // Equal calls at the same time would count as one call.
    const { isError, _meta } = await client.callTool({ name: 'look', arguments: { at: count++ } })
    if (isError === true) throw new Error('A call of the tool was answered with an error.')
    const receipt = _meta?.['countersign/receipt'] as { businessTransactionId: string } | undefined
    return receipt?.businessTransactionId
  }
}

async function oneByOne(look: Look, calls: number) {
  const times = openTimes()
  const ids: string[] = []
  for (let i = 0; i < calls; i++) ids.push(...(await timed(look, times)))
  return { figures: { 'p50 ms': times.ms(50), 'p99 ms': times.ms(99) }, ids }
}

async function atOnce(look: Look, { parallel, seconds }: { parallel: number; seconds: number }) {
  const times = openTimes()
  const ids: string[] = []
  const startedMs = performance.now()
  const untilMs = startedMs + seconds * 1000
  async function lane(): Promise<void> {
    while (performance.now() < untilMs) ids.push(...(await timed(look, times)))
  }
  await Promise.all(Array.from({ length: parallel }, lane))
  const perSecond = times.count() / ((performance.now() - startedMs) / 1000)
  return { figures: { 'per s': perSecond, 'p50 ms': times.ms(50), 'p99 ms': times.ms(99) }, ids }
}

async function timed(look: Look, times: ReturnType<typeof openTimes>): Promise<string[]> {
  const startMs = performance.now()
  const id = await look()
  times.add(performance.now() - startMs)
  return id === undefined ? [] : [id]
}
