// Agents that are killed, as processes, after each of their requests, and started again: both clients go on where they stopped. An agent keeps nothing of
// its own: killed before a request it leaves what it leaves when the reply of the one before is lost, and the first request leaves nothing before it.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import {
  createCountersign,
  deterministicId,
  type ExecutionRequest,
} from '../../clients/typescript/src/index.ts'
import type { ApprovalRequest } from '../../src/formats/schemas/approval-request.ts'
import { aHuman, anApprovalOf, anApprover, enrolled } from '../authority.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { PYTHON_CLIENT, pythonPath } from '../python.ts'
import type { TestService } from '../service.ts'
import { arrive, openFlakyNetwork } from './flaky-network.ts'
import { withDatabase } from '../with-service.ts'

const agents = {
  TypeScript: { command: process.execPath, args: [join(import.meta.dirname, 'agent.ts')], env: {} },
  Python: {
    command: 'python3',
    args: [join(import.meta.dirname, 'agent.py')],
    env: pythonPath(PYTHON_CLIENT),
  },
}
const maker = aHuman('maker')
const checker = aHuman('checker')
const alice = anApprover('alice')
const policyDir = aPolicyFolder()
const seen = {
  name: 'seen',
  version: '1.0.0',
  capability: 'sandbox:echo',
  verify: { approved: { by: 'approval', quorum: 1 } },
}
addPolicy(policyDir, seen)
let service: TestService

withDatabase(async ({ start }) => {
  service = await start({
    callers: [maker.entry, checker.entry],
    env: { POLICY_DIR: policyDir, APPROVAL_REQUESTS_PER_HOUR: '1000' },
  })
  await enrolled(service, { maker, checker }, alice)
})

type Language = keyof typeof agents

/** Alice signs what somebody waits for. */
async function sign(url: string): Promise<void> {
  const { body } = await service.get(url)
  if ((body as ApprovalRequest).status !== 'PENDING') return
  await service.post('/approvals', anApprovalOf(alice, body as ApprovalRequest))
}

/**
 * Runs an agent to its end.
 * @param killedAt its request of this number is its last: the reply never arrives
 */
async function run(language: Language, work: ExecutionRequest, killedAt?: number) {
  let agent: ChildProcess | undefined
  let count = 0
  const network = await openFlakyNetwork(service.url, async (exchange) => {
    const { route, pass, response } = exchange
    const isLast = count++ === killedAt
    if (/^GET \/approval-requests\/[0-9a-f-]+$/.test(route)) await sign(route.slice('GET '.length))
    if (!isLast) return arrive(exchange)
    await pass()
    agent?.kill('SIGKILL')
    response.destroy()
  })
  try {
    const { command, args, env } = agents[language]
    agent = spawn(command, [...args, network.url, service.key, JSON.stringify(work)], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [output, errors, [code, signal]] = await Promise.all([
      text(agent.stdout!),
      text(agent.stderr!),
      once(agent, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
    ])
    return { output, errors, code, killed: signal === 'SIGKILL' }
  } finally {
    await network.close()
  }
}

const requestsFor = async (target: string) => {
  const { body } = await service.get('/approval-requests?pageSize=100')
  return (body.requests as ApprovalRequest[]).filter(({ request }) => request.target === target)
}

const executionsOf = async (target: string) => {
  const { body } = await service.get('/trust-records?pageSize=100')
  return (body as { transaction: { intent: { target: string } } }[]).filter(
    ({ transaction }) => transaction.intent.target === target,
  )
}

describe.each(['TypeScript', 'Python'] as const)('an agent in %s that is killed', (language) => {
  // The declared signal does not hold: 403. Without a key, below, a rule refuses the work: 500, with no mismatch in the refusal.
  test('after each of its requests: with a key it executes once', async () => {
    for (let at = 0; ; at++) {
      const target = `${language}-key-${at}`
      const work = {
        action: 'sandbox:echo',
        target,
        parameters: { amount: 42 },
        policy: { name: seen.name, version: seen.version },
        signals: { approved: true },
        key: target,
      }
      const first = await run(language, work, at)
      const again = await run(language, work)
      const { businessTransactionId } = await createCountersign({
        baseUrl: service.url,
        apiKey: service.key,
      }).build(work)
      const done = `${deterministicId(businessTransactionId, 'approved')} COMPLETED`
      expect(again, again.errors).toMatchObject({ output: done, code: 0 })
      expect(await requestsFor(target)).toMatchObject([{ status: 'USED' }])
      expect(await executionsOf(target)).toHaveLength(1)
      if (first.killed) continue
      // So many requests it does not have.
      expect(first).toMatchObject({ output: done, code: 0 })
      expect(at).toBeGreaterThan(6)
      return
    }
  }, 240_000)

  test('after each of its requests: without a key each run is work of its own, and each needs a human', async () => {
    for (let at = 0; ; at++) {
      const target = `${language}-keyless-${at}`
      const work = {
        action: 'sandbox:echo',
        target,
        parameters: { amount: 42 },
        policy: { name: seen.name, version: seen.version },
        signals: {},
      }
      const first = await run(language, work, at)
      const again = await run(language, work)
      expect(again, again.errors).toMatchObject({
        output: expect.stringContaining(' COMPLETED') as string,
        code: 0,
      })
      const executions = await executionsOf(target)
      // The next run waits for what the killed one had asked for; only what it had executed is done.
      const requests = await requestsFor(target)
      expect(requests.map(({ status }) => status)).toEqual(executions.map(() => 'USED'))
      if (first.killed) continue
      expect(executions).toHaveLength(2)
      return
    }
  }, 240_000)
})
