// The adapters for agent frameworks, by their examples: the real packages with a scripted model, each run a process of its own, before a real
// service and a receiver that counts what it carries out.
import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, test } from 'vitest'
import { isInDoubt, governedTool as governedForAiSdk } from '../../clients/typescript/src/agents/ai-sdk.ts'
import { governed, RunInDoubtError } from '../../clients/typescript/src/agents/index.ts'
import { governedTool as governedForOpenAi, settle } from '../../clients/typescript/src/agents/openai.ts'
import { createCountersign, InDoubtError } from '../../clients/typescript/src/index.ts'
import type { ApprovalRequest } from '../../src/formats/schemas/approval-request.ts'
import { aHuman, anApprovalOf, anApprover, enrolled, putInEffect } from '../authority.ts'
import { loseReply, loseRequest, openFlakyNetwork, arrive } from '../clients/flaky-network.ts'
import type { TestDatabase } from '../database.ts'
import { putInDoubt } from '../intents.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { PYTHON_CLIENT, pythonPath } from '../python.ts'
import { bundledEnvironment } from '../run/environment.ts'
import type { TestService } from '../service.ts'
import { withDatabase } from '../with-service.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const CLIENT = join(ROOT, 'clients', 'typescript')
const installed = existsSync(join(CLIENT, 'node_modules', 'ai', 'package.json'))
if (!installed && process.env['CI'] !== 'true')
  console.warn(
    'The agent frameworks are not installed: run `npm ci` in clients/typescript to test their adapters.',
  )

const maker = aHuman('maker')
const checker = aHuman('checker')
const alice = anApprover('alice')
const human = aHuman('alice', { approverId: 'alice' })
const folder = mkdtempSync(join(tmpdir(), 'countersign-test-agents-'))
const policyDir = aPolicyFolder()
addPolicy(policyDir, {
  name: 'vendor-payment',
  version: '2.1.0',
  capability: 'vendor:pay',
  signals: {
    vendorVerified: 'boolean',
    paymentAmount: 'number',
    riskScore: 'number',
    humanApproved: 'boolean',
  },
  verify: { humanApproved: { by: 'approval', quorum: 1 } },
  rules: [
    {
      id: 'large',
      when: 'signals.paymentAmount > 1000.0',
      outcome: 'reject',
      reason: 'Too large for an agent.',
    },
    { id: 'small', when: 'signals.paymentAmount <= 10.0', outcome: 'approve', reason: 'Small.' },
    { id: 'seen', when: 'signals.humanApproved', outcome: 'approve', reason: 'A person approved it.' },
  ],
})

let database: TestDatabase
let service: TestService
let receiver: ChildProcess
/** Lines that the receiver prints about the effects it carried out. */
const effects: string[] = []
const pythonRun = (name: string) => `python-${name}-${randomUUID()}`
const effectsOn = (vendor: string) => effects.filter((line) => line.includes(` ${vendor} `))

withDatabase(async ({ start, ...made }) => {
  if (!installed && process.env['CI'] !== 'true') return
  database = made.database
  service = await start({
    callers: [maker.entry, checker.entry, human.entry],
    env: { POLICY_DIR: policyDir, APPROVAL_REQUESTS_PER_HOUR: '1000' },
  })
  await enrolled(service, { maker, checker }, alice)
  receiver = spawn(
    process.execPath,
    [
      join(ROOT, 'examples', 'external-receiver', 'receiver.ts'),
      `--service=${service.url}`,
      '--port=0',
      `--journal=${join(folder, 'receiver.journal')}`,
    ],
    { env: bundledEnvironment, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const lines = createInterface(receiver.stdout!)
  const [listening] = (await once(lines, 'line')) as [string]
  lines.on('line', (line) => effects.push(line))
  await putInEffect(service, { maker, checker }, '/external-connectors/changes', {
    action: 'register',
    capability: 'vendor:pay',
    endpointUrl: `${/http:\S+/.exec(listening)![0]}/`,
    policy: 'vendor-payment',
    allowedParameters: ['amount', 'currency', 'invoice'],
    reason: 'test',
  })
  writeFileSync(join(folder, 'agent.json'), JSON.stringify({ url: service.url, apiKey: service.key }))
})
afterAll(() => {
  receiver?.kill()
  rmSync(folder, { recursive: true })
})

/** The newest request for a payment to a vendor. */
async function requestsFor(vendor: string): Promise<ApprovalRequest[]> {
  const { body } = await service.get(`/approval-requests?target=${vendor}`)
  return body.requests as ApprovalRequest[]
}

async function sign(vendor: string): Promise<void> {
  const [request] = await requestsFor(vendor)
  const { status, text: answer } = await service.post('/approvals', anApprovalOf(alice, request!))
  expect(status, answer).toBe(201)
}

/** A network whose connection breaks after the first execution has arrived, and stays broken until it is repaired. */
async function openBreakingNetwork() {
  let isBroken = false
  const network = await openFlakyNetwork(service.url, (exchange) => {
    if (isBroken) return loseRequest(exchange)
    if (exchange.route !== 'POST /execute') return arrive(exchange)
    isBroken = true
    return loseReply(exchange)
  })
  // Its next execution arrives, and is answered.
  function repair(): void {
    network.plan('POST /execute', arrive)
    isBroken = false
  }
  return { ...network, repair }
}

/** The receiver's answer, as the model repeats it. */
const DONE = /effects\\*":\d/

interface Framework {
  readonly example: string
  /** Changes what is kept of a stopped run as a host does that lets somebody edit the arguments. */
  readonly edited: (kept: string) => string
}

const frameworks: Record<string, Framework> = {
  'Vercel AI SDK': {
    example: 'ai-sdk.ts',
    edited: (kept) => kept.replaceAll('"amount":250', '"amount":300'),
  },
  'OpenAI Agents SDK': {
    example: 'openai-agents.ts',
    edited: (kept) => kept.replaceAll('\\"amount\\":250', '\\"amount\\":300'),
  },
  LangChain: {
    example: 'langchain.ts',
    edited: (kept) =>
      Buffer.from(
        Buffer.from(kept, 'base64').toString('latin1').replaceAll('"amount":250', '"amount":300'),
        'latin1',
      ).toString('base64'),
  },
}

describe.skipIf(!installed && process.env['CI'] !== 'true').each(Object.entries(frameworks))(
  'an agent of the %s',
  (name, { example, edited }) => {
    const vendorOf = (of: string) => `${name.replaceAll(' ', '-')}-${of}`

    /** Runs the agent to its end, or until it stops for a human. */
    async function agent(of: string, given: readonly string[] = [], url = service.url) {
      const child = spawn(
        process.execPath,
        [
          join(CLIENT, 'examples', example),
          `--profile=${join(folder, 'agent.json')}`,
          `--folder=${folder}`,
          `--run=${vendorOf(of)}`,
          `--vendor=${vendorOf(of)}`,
          ...given,
        ],
        { env: { ...bundledEnvironment, COUNTERSIGN_URL: url }, stdio: ['ignore', 'pipe', 'pipe'] },
      )
      const [out, errors, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close') as Promise<[number | null]>,
      ])
      return { out, errors, code }
    }

    test('runs at once what needs nobody, and reads it back when the call is repeated', async () => {
      const first = await agent('small', ['--amount', '5'])
      expect(first, first.errors).toMatchObject({
        code: 0,
        out: expect.stringMatching(DONE) as string,
      })
      // The same run from its beginning: the same call, so nothing is done again.
      rmSync(join(folder, `${vendorOf('small')}.json`))
      expect((await agent('small', ['--amount', '5'])).out).toBe(first.out)
      expect(effectsOn(vendorOf('small'))).toHaveLength(1)
      expect(await requestsFor(vendorOf('small'))).toEqual([])
    })

    test('stops where a human must approve, and goes on in another process, once, whatever its framework approves', async () => {
      const of = 'approved'
      const first = await agent(of)
      expect(first.out, first.errors).toContain('stopped: Waits for 1 approval: request ')
      const [request] = await requestsFor(vendorOf(of))
      expect(first.out).toContain(request!.actionCode)
      expect(request!.request.note).toContain('Invoice 2026-119')

      const file = join(folder, `${vendorOf(of)}.json`)
      const kept = readFileSync(file, 'utf8')

      // Neither a resume before the decision nor a framework that approves everything by itself replaces the human.
      const early = await agent(of, ['--always-approve'])
      expect(early.out, early.errors).toContain('Waits for 1 approval')
      expect(effectsOn(vendorOf(of))).toEqual([])
      writeFileSync(file, kept)

      await sign(vendorOf(of))
      // Three times from one stopped run, two of them at the same time: each reads the one execution.
      const copies = ['one', 'other', 'late'].map((copy) => join(folder, `${vendorOf(of)}-${copy}`))
      for (const copy of copies) {
        mkdirSync(copy)
        writeFileSync(join(copy, `${vendorOf(of)}.json`), kept)
      }
      const [one, other, late] = copies.map((copy) => () => agent(of, [`--folder=${copy}`]))
      const [resumed, second] = await Promise.all([one!(), other!()])
      expect(resumed.out, resumed.errors).toMatch(DONE)
      expect(second.out, second.errors).toBe(resumed.out)
      expect((await late!()).out).toBe(resumed.out)
      expect(effectsOn(vendorOf(of))).toHaveLength(1)
      expect(await requestsFor(vendorOf(of))).toMatchObject([{ status: 'USED' }])
    })

    test('with edited arguments asks anew: the approval is for what was approved', async () => {
      const of = 'edited'
      await agent(of)
      await sign(vendorOf(of))
      const file = join(folder, `${vendorOf(of)}.json`)
      writeFileSync(file, edited(readFileSync(file, 'utf8')))
      const { out, errors } = await agent(of)
      expect(out, errors).toContain('stopped: ')
      expect(effectsOn(vendorOf(of))).toEqual([])
      const requests = await requestsFor(vendorOf(of))
      expect(requests.map(({ request, status }) => [request.parameters['amount'], status])).toEqual([
        [300, 'PENDING'],
        [250, 'APPROVED'],
      ])
    })

    test('tells the model why a human declined, and does not ask again', async () => {
      const of = 'declined'
      await agent(of)
      const [request] = await requestsFor(vendorOf(of))
      const { status } = await service.post(
        `/approval-requests/${request!.request.requestId}/decline`,
        { reason: 'not our invoice' },
        { key: human.key },
      )
      expect(status).toBe(200)
      const { out, errors } = await agent(of)
      expect(out, errors).toContain('not our invoice')
      expect(effectsOn(vendorOf(of))).toEqual([])
      expect(await requestsFor(vendorOf(of))).toHaveLength(1)
    })

    test('tells the model why the policy refuses, and asks nobody', async () => {
      const of = 'large'
      const { out, errors } = await agent(of, ['--amount', '5000'])
      expect(out, errors).toContain('Too large for an agent')
      expect(await requestsFor(vendorOf(of))).toEqual([])
      expect(effectsOn(vendorOf(of))).toEqual([])
    })

    test('ends the run where it is not known what became of a call: the model does not get to repeat it', async () => {
      const network = await openBreakingNetwork()
      const { out, errors, code } = await agent('doubtful', ['--amount', '5'], network.url)
      await network.close()
      expect(errors).toMatch(/not known/)
      expect([code, out]).toEqual([1, ''])
      expect(effectsOn(vendorOf('doubtful'))).toHaveLength(1)
    })

    test('runs nothing while the service is away', async () => {
      const { out, errors } = await agent('away', ['--amount', '5'], 'http://127.0.0.1:9')
      expect(out + errors).toMatch(/127\.0\.0\.1:9/)
      expect(effectsOn(vendorOf('away'))).toEqual([])
    })
  },
)

const connect = (baseUrl = service.url) => createCountersign({ baseUrl, apiKey: service.key, maxAttempts: 2 })
const thrownBy = (work: Promise<unknown>) => work.catch((thrown: unknown) => thrown)

describe.skipIf(!installed && process.env['CI'] !== 'true')('a governed tool', () => {
  interface Payment {
    readonly vendor: string
    readonly amount: number
  }
  const paying = {
    action: 'vendor:pay',
    target: ({ vendor }: Payment) => vendor,
    parameters: ({ amount }: Payment) => ({ amount, currency: 'EUR', invoice: '2026-119' }),
    policy: { name: 'vendor-payment', version: '2.1.0' },
    signals: ({ amount }: Payment) => ({ vendorVerified: true, paymentAmount: amount, riskScore: 5 }),
  }
  test('refuses the other calls of a run while the outcome of one is not known', async () => {
    const network = await openBreakingNetwork()
    const tool = governed(connect(network.url), paying)
    const input = { vendor: 'doubtful', amount: 5 }
    const one = { run: 'a', call: '1', input }
    expect(await thrownBy(tool.execute(one))).toBeInstanceOf(InDoubtError)
    network.repair()
    const again = { ...one, call: '2' }
    for (const attempt of [
      () => tool.propose(again),
      () => tool.execute(again),
      () => tool.execute({ ...one, input: { ...input, amount: 6 } }),
    ]) {
      const error = await thrownBy(attempt())
      expect(error).toBeInstanceOf(RunInDoubtError)
      expect(error).toMatchObject({
        call: one,
        message: expect.stringContaining('Do not repeat it') as string,
      })
    }
    expect(await tool.propose({ ...again, run: 'another' })).toMatchObject({ state: 'approved' })
    expect(await tool.execute(one)).toMatchObject({ state: 'executed' })
    expect(await tool.propose(again)).toMatchObject({ state: 'approved' })
    expect(effectsOn('doubtful')).toHaveLength(1)
    await network.close()
  })

  test('of the AI SDK tells the model not to repeat the call, and ends the run', async () => {
    const network = await openBreakingNetwork()
    const tool = governedForAiSdk<Payment>(connect(network.url), { ...paying, run: 'b' })
    const error = await thrownBy(tool.execute({ vendor: 'repeated', amount: 5 }, { toolCallId: '1' }))
    expect(error).toMatchObject({ name: 'RunInDoubtError', cause: expect.any(InDoubtError) as Error })
    const approving = tool.toolApproval({ vendor: 'repeated', amount: 5 }, { toolCallId: '2' })
    expect(await thrownBy(approving)).toBeInstanceOf(RunInDoubtError)
    await network.close()
    expect(isInDoubt({ steps: [{ content: [{ type: 'text' }, { type: 'tool-error', error }] }] })).toBe(true)
    expect(isInDoubt({ steps: [{ content: [{ type: 'tool-error', error: new Error('no') }] }] })).toBe(false)
  })

  test.each([
    ['EXECUTED', 'closed', 'was executed, as alice says. Asked the vendor.'],
    ['NOT_EXECUTED', 'refused', 'was not executed, as alice says. Asked the vendor.'],
  ])('tells that a human has closed a call as %s', async (resolution, state, words) => {
    const tool = governed(connect(), paying)
    const call = { run: 'c', call: resolution, input: { vendor: `closed-${resolution}`, amount: 5 } }
    const executed = await tool.execute(call)
    const id = executed.state === 'executed' ? executed.record.businessTransactionId : ''
    await putInDoubt(database, id)
    const body = { resolution, note: 'Asked the vendor.' }
    expect((await service.post(`/execution-intents/${id}/resolve`, body, { key: human.key })).status).toBe(
      200,
    )
    for (const standing of [await tool.propose(call), await tool.execute(call)])
      expect(standing).toMatchObject({ state, reason: expect.stringContaining(words) as string })
  })

  test('of OpenAI Agents is settled by the arguments as its schema reads them', async () => {
    const schema = {
      '~standard': {
        validate: (written: unknown) => ({ value: { amount: 250, ...(written as { vendor: string }) } }),
      },
    }
    const tool = governedForOpenAi<Payment>(connect(), { ...paying, run: 'd', schema })
    const vendor = 'by-default'
    expect(await tool.needsApproval(undefined, { vendor, amount: 250 }, 'call-1')).toBe(true)
    const approved: unknown[] = []
    const item = { name: 'pay', arguments: JSON.stringify({ vendor }), rawItem: { callId: 'call-1' } }
    const state = {
      getInterruptions: () => [item],
      approve: (one: unknown) => void approved.push(one),
      reject: (_one: unknown, { message }: { message: string }) => expect.fail(message),
    }
    expect((await settle(state, { pay: tool })).waiting).toHaveLength(1)
    expect(await requestsFor(vendor)).toHaveLength(1)
    await sign(vendor)
    expect((await settle(state, { pay: tool })).settled).toBe(1)
    expect(approved).toEqual([item])
  })

  test('in Python is the same call as in TypeScript, and goes on in another process', async () => {
    /** Makes the calls one after the other in a process of their own: run, call, vendor and amount of each. */
    async function python(calls: readonly (readonly [string, string, string, number])[], url = service.url) {
      const child = spawn('python3', [join(import.meta.dirname, 'governed_tool.py'), JSON.stringify(calls)], {
        env: {
          ...process.env,
          ...pythonPath(PYTHON_CLIENT),
          COUNTERSIGN_URL: url,
          COUNTERSIGN_API_KEY: service.key,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
      expect(errors).toBe('')
      return out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
    }

    const small = pythonRun('small')
    const [first, again, other] = await python([
      [small, '1', small, 5],
      [small, '1', small, 5],
      [small, '2', small, 5000],
    ])
    expect(first).toMatchObject({ proposed: 'approved', returned: { effects: expect.any(Number) as number } })
    expect(again).toEqual({ ...first, proposed: 'executed' })
    expect(other).toEqual({
      proposed: 'refused',
      raised: 'refused',
      reason: expect.stringContaining('Too large') as string,
    })
    const input = { vendor: small, amount: 5 }
    expect(await governed(connect(), paying).execute({ run: small, call: '1', input })).toMatchObject({
      state: 'executed',
      record: { businessTransactionId: first!['id'] },
    })
    expect(effectsOn(small)).toHaveLength(1)

    const seen = pythonRun('seen')
    const waiting = {
      proposed: 'waits',
      raised: 'waits',
      reason: expect.stringContaining('action code') as string,
    }
    expect(await python([[seen, '1', seen, 250]])).toEqual([waiting])
    await sign(seen)
    // With other arguments it is other work, which is asked anew.
    const [approved, edited] = await python([
      [seen, '1', seen, 250],
      [seen, '1', seen, 300],
    ])
    expect(approved).toMatchObject({
      proposed: 'approved',
      returned: { effects: expect.any(Number) as number },
    })
    expect(edited).toEqual(waiting)
    expect(effectsOn(seen)).toHaveLength(1)
    const [pending] = await requestsFor(seen)
    const path = `/approval-requests/${pending!.request.requestId}/decline`
    expect((await service.post(path, { reason: 'not our invoice' }, { key: human.key })).status).toBe(200)
    const declined = {
      proposed: 'refused',
      raised: 'refused',
      reason: expect.stringContaining('not our invoice') as string,
    }
    expect(await python([[seen, '1', seen, 300]])).toEqual([declined])

    const network = await openBreakingNetwork()
    const doubtful = pythonRun('doubtful')
    const [lost, next] = await python(
      [
        [doubtful, '1', doubtful, 5],
        [doubtful, '2', doubtful, 5],
      ],
      network.url,
    )
    await network.close()
    expect(lost).toMatchObject({ proposed: 'approved', raised: 'InDoubtError' })
    expect(next).toMatchObject({
      raised: 'doubt',
      call: '1',
      reason: expect.stringContaining('Do not repeat it') as string,
    })
    expect(effectsOn(doubtful)).toHaveLength(1)
  })
})
