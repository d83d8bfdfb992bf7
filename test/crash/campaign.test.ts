// kill -9 of the service, of its database, of one backend or of service and database, again and again under mixed load. What was acknowledged is
// there, each answer means what it says, nothing happened twice, and the evidence holds.
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { readPublicKeys } from '../../src/core/signing/keys.ts'
import type { ApprovalRequest } from '../../src/formats/schemas/approval-request.ts'
import { aHuman, anApprovalOf, anApprover, enrolled, putInEffect } from '../authority.ts'
import { runCommand } from '../command.ts'
import { aCluster, processesOf } from '../embedded/drive.ts'
import { look, postmasterPid } from '../embedded/look.ts'
import { expectEvidence, readStored } from '../evidence.ts'
import { aSlowTransaction, forEach } from '../load.ts'
import { published } from '../fsck/mix.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { startService, until, type Called, type TestService } from '../service.ts'
import { makeKeys } from '../signing-keys.ts'
import { aRejectedTransaction, aTransaction } from '../transactions.ts'
import { openReceiver, type Receiver } from './points/receiver.ts'

/** `CRASH_KILLS=300 npx vitest run test/crash/campaign.test.ts` goes on for longer. */
const KILLS = Number(process.env['CRASH_KILLS'] ?? 8)
const CONNECTIONS = 24
/** Payments, by the policies that their connectors serve. */
const capabilities = { pay: 'vendor:pay', 'pay-approved': 'vendor:pay-approved' } as const
type Payment = keyof typeof capabilities

const alice = anApprover('alice')
const humans = { maker: aHuman('maker', { approverId: 'alice' }), checker: aHuman('checker') }
const policyDir = aPolicyFolder()
addPolicy(policyDir, { name: 'pay', version: '1.0.0', capability: capabilities.pay })
addPolicy(policyDir, {
  name: 'pay-approved',
  version: '1.0.0',
  capability: capabilities['pay-approved'],
  verify: { approved: { by: 'approval', quorum: 1 } },
})

let receiver: Receiver
beforeAll(async () => {
  receiver = await openReceiver()
})
afterAll(async () => {
  await receiver.close()
  rmSync(policyDir, { recursive: true })
})

type Sent = ReturnType<typeof aTransaction>
let payments = 0
const aPayment = (policy: Payment): Sent =>
  aTransaction({
    intent: { action: capabilities[policy], target: `invoice-${++payments}`, parameters: {} },
    policy: { name: policy },
  })

/** Makes a request; undefined where what it rests on could not be stored. */
type Make = (service: TestService) => Sent | Promise<Sent | undefined>
const kinds: readonly Make[] = [
  () => aTransaction(),
  () => aTransaction(),
  () => aSlowTransaction(20 + Math.random() * 180),
  () => aTransaction({ intent: { parameters: { amount: 42, fail: true } } }),
  () => aRejectedTransaction(),
  () => aPayment('pay'),
  async (service) => {
    const transaction = aPayment('pay-approved')
    const asked = await service.post('/approval-requests', { transaction })
    if (asked.status !== 201) return undefined
    const approval = anApprovalOf(alice, asked.body as ApprovalRequest)
    return (await service.post('/approvals', approval)).status === 201 ? transaction : undefined
  },
]

interface Outcome {
  readonly transaction: Sent
  /** Undefined where the connection ended before an answer came. */
  readonly reply: Called | undefined
}

/** Every connection sends its next execution once its last one is answered; every sixth execution is sent twice at once. */
function startLoad(service: TestService, outcomes: Outcome[]) {
  const stopping = new AbortController()
  let answered = 0
  const send = async (transaction: Sent): Promise<void> => {
    const reply = await service.post('/execute', transaction).catch(() => undefined)
    if (reply !== undefined) answered++
    outcomes.push({ transaction, reply })
  }
  async function connection(of: number): Promise<void> {
    for (let n = of; !stopping.signal.aborted; n++) {
      const transaction = await Promise.resolve(kinds[n % kinds.length]!(service)).catch(() => undefined)
      if (transaction !== undefined)
        await Promise.all(n % 6 === 0 ? [send(transaction), send(transaction)] : [send(transaction)])
      // A service that cannot be reached must not become a busy loop.
      if (outcomes.at(-1)?.reply?.status !== 200) await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  const all = Array.from({ length: CONNECTIONS }, (_, of) => connection(of))
  return {
    more: async (count: number) => {
      const enough = answered + Math.round(count)
      await until(() => answered >= enough, `${enough} answers`)
    },
    async stop() {
      stopping.abort()
      await Promise.all(all)
    },
  }
}

const killService = async ({ process: child }: TestService): Promise<void> => {
  child.kill('SIGKILL')
  await once(child, 'exit')
}
/** One that is just executing a transaction: the postmaster ends all others, because it does not trust its memory any more. */
const killBackend = (dataDir: string) =>
  until(async () => {
    const busy = await readIfThere(dataDir, (pool) =>
      pool.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE application_name = 'countersign' AND state <> 'idle' LIMIT 1`,
      ),
    )
    return busy?.rows[0] !== undefined && isKilled(busy.rows[0].pid)
  }, 'a busy backend')

/** Undefined while the database recovers from the kill before. */
const readIfThere = <T>(dataDir: string, read: (pool: Pool) => Promise<T>): Promise<T | undefined> =>
  look(dataDir, read).catch(() => undefined)

/** A backend may have ended by itself since it was seen. */
function isKilled(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}

interface Running {
  readonly service: TestService
  readonly dataDir: string
  readonly load: ReturnType<typeof startLoad>
}

/** Each ends something, and says whether the service lives on. */
const kills: Readonly<Record<string, (running: Running) => Promise<boolean>>> = {
  async service({ service }) {
    await killService(service)
    return false
  },
  async database({ dataDir, service }) {
    const killed = postmasterPid(dataDir)
    process.kill(killed, 'SIGKILL')
    await until(async () => {
      const now = await readIfThere(dataDir, async () => postmasterPid(dataDir))
      return now !== undefined && now !== killed
    }, 'another postmaster')
    await untilReady(service)
    return true
  },
  async both({ dataDir, service }) {
    process.kill(postmasterPid(dataDir), 'SIGKILL')
    await killService(service)
    return false
  },
  async backend({ dataDir, service }) {
    await killBackend(dataDir)
    await untilReady(service)
    return true
  },
}

const untilReady = (service: TestService) =>
  until(async () => (await service.get('/ready')).status === 200, 'GET /ready to answer 200')

// proves fault: kill -9 of the service under load
// proves fault: kill -9 of the postmaster
test(
  `after each of ${KILLS} kills at a random moment everything that was acknowledged is there, and no answer lies`,
  async () => {
    const dataDir = aCluster()
    const signingKeyDir = join(dataDir, 'keys')
    makeKeys(signingKeyDir)
    const key = makeRawKey()
    const env = { DATA_DIR: dataDir, POLICY_DIR: policyDir }
    const callers = [humans.maker.entry, humans.checker.entry]
    const start = () => startService({ signingKeyDir, key, callers, env })

    const first = await start()
    await enrolled(first, humans, alice)
    for (const [policy, capability] of Object.entries(capabilities))
      await putInEffect(first, humans, '/external-connectors/changes', {
        action: 'register',
        capability,
        endpointUrl: `${receiver.origin}/`,
        policy,
        allowedParameters: [],
        reason: 'test',
      })
    expect(await first.stop()).toBe(0)

    const outcomes: Outcome[] = []
    const order = Array.from({ length: KILLS }, (_, n) => Object.keys(kills)[n % 4]!)
    let running: Omit<Running, 'dataDir'> | undefined
    for (const what of order) {
      if (running === undefined) {
        const service = await start()
        running = { service, load: startLoad(service, outcomes) }
      }
      await running.load.more(20 + Math.random() * 200)
      if (await kills[what]!({ dataDir, ...running })) continue
      await running.load.stop()
      await running.service.stop()
      running = undefined
    }
    if (running !== undefined) {
      await running.load.more(50)
      await running.load.stop()
      expect(await running.service.stop()).toBe(0)
    }

    const service = await start()
    const stored = await look(dataDir, readStored)
    const keys = readPublicKeys(signingKeyDir)
    expect(outcomes.flatMap((outcome) => lieOf(outcome, stored) ?? [])).toEqual([])
    for (const [id, same] of Map.groupBy(outcomes, ({ transaction }) => transaction.businessTransactionId)) {
      const own = same.filter(({ reply }) => ![undefined, 409, 503].includes(reply?.status))
      expect(own.length, `answers for ${id}`).toBeLessThanOrEqual(1)
      if (same.every(({ reply }) => reply?.status === 503))
        expect([stored.recorded.has(id), receiver.effects(same[0]!.transaction.intent.target)], id).toEqual([
          false,
          0,
        ])
    }
    await forEach(answeredWith(outcomes, 200), async ({ transaction, reply }) => {
      const read = await service.get(`/trust-records/${transaction.businessTransactionId}`)
      expect(read.text).toBe(reply?.text)
      if (transaction.policy.name !== 'pay-approved') expectEvidence(read.body, keys)
    })
    // A claimed execution is not executed again; an execution that was never claimed is still free.
    await forEach(
      [...answeredWith(outcomes, 503), ...answeredWith(outcomes, undefined)].slice(-500),
      async ({ transaction }) => {
        const { businessTransactionId: id, intent, policy } = transaction
        const before = receiver.effects(intent.target)
        const { status } = await service.post('/execute', transaction)
        if (stored.claimed.has(id)) expect([status, receiver.effects(intent.target)]).toEqual([409, before])
        else if (policy.name !== 'pay-approved') expect([200, 409, 500]).toContain(status)
      },
    )
    for (const { transaction } of outcomes)
      expect(receiver.effects(transaction.intent.target)).toBeLessThanOrEqual(1)
    await look(dataDir, (pool) => published({ pool }))
    for (const command of [['fsck'], ['log', 'audit']]) {
      const { status, stdout, stderr } = await runCommand(command, { ...env, SIGNING_KEY_DIR: signingKeyDir })
      expect(status, `${command.join(' ')}: ${stdout.slice(0, 2_000)} ${stderr}`).toBe(0)
    }
    expect(await service.stop()).toBe(0)
    expect(processesOf(dataDir)).toEqual([])
  },
  120_000 + KILLS * 30_000,
)

function answeredWith(outcomes: readonly Outcome[], status: number | undefined): Outcome[] {
  return outcomes.filter(({ reply }) => reply?.status === status)
}

/** @returns what an answer says that is not so */
function lieOf(
  { transaction, reply }: Outcome,
  { claimed, recorded, inDoubt }: Awaited<ReturnType<typeof readStored>>,
): object | undefined {
  const { businessTransactionId: id, intent } = transaction
  const stands = recorded.has(id)
    ? 'recorded'
    : inDoubt.has(id)
      ? 'in doubt'
      : claimed.has(id)
        ? 'refused'
        : 'free'
  const effects = receiver.effects(intent.target)
  const answer = reply?.status ?? 'none'
  const honest: Readonly<Record<string | number, boolean>> = {
    none: effects === 0 || stands === 'recorded' || stands === 'in doubt',
    200: stands === 'recorded' && (!intent.action.startsWith('vendor:') || effects === 1),
    409: stands !== 'free',
    // Failed for certain, with a record that says so, or rejected by the policy.
    500: effects === 0 && (stands === 'recorded' || stands === 'refused'),
    502: stands === 'recorded' || stands === 'in doubt',
    // The same transaction, sent twice at once, may have been executed by the other request.
    503: true,
  }
  return honest[answer] === true ? undefined : { id, answer, text: reply?.text, stands, effects }
}
