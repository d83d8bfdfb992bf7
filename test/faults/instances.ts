// Several instances on one database, callers that use them as clients must, and a receiver outside that counts what was really done.
import { rmSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { aHuman, putInEffect } from '../authority.ts'
import { json, serve } from '../connectors/loopback.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { aFolder } from '../embedded/drive.ts'
import { readStored } from '../evidence.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { startService, until, type Called, type ServiceOptions, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { makeKeys } from '../signing-keys.ts'

const maker = aHuman('maker')
export const checker = aHuman('checker')
export const humans = { maker, checker }

const CAPABILITY = 'counted:call'
/** An intent is in doubt two seconds after this. */
const TIMEOUT_MS = 10_000

export interface Receiver {
  /** How often each transaction was carried out, by its id. */
  readonly calls: ReadonlyMap<string, number>
  /** Answers those that were held back. */
  release(): void
}

export interface Fleet {
  readonly database: TestDatabase
  readonly receiver: Receiver
  /** One more instance: the same keys, callers and policies. */
  start(options?: StartOptions): Promise<TestService>
  /** Three at once, all of which know the receiver: two humans have registered it. */
  startThree(...options: StartOptions[]): Promise<[TestService, TestService, TestService]>
}

type StartOptions = Pick<ServiceOptions, 'databaseUrl' | 'env'>

/**
 * Runs until the test has finished.
 * @param template of the database, `template0` for an empty one
 */
export async function openFleet(template?: string): Promise<Fleet> {
  const database = await createDatabase(template)
  const signingKeyDir = aFolder()
  makeKeys(signingKeyDir)
  const policies = aPolicyFolder()
  addPolicy(policies, { name: 'counted', version: '1.0.0', capability: CAPABILITY })
  const key = makeRawKey()
  const started: TestService[] = []
  onTestFinished(async () => {
    for (const { process } of started) process.kill('SIGKILL')
    await Promise.all(started.map((service) => service.stop()))
    rmSync(policies, { recursive: true })
    await database.drop()
  })
  const { origin, ...receiver } = await startReceiver()

  async function start({ databaseUrl = database.url, env = {} }: StartOptions = {}): Promise<TestService> {
    const service = await startService({
      databaseUrl,
      signingKeyDir,
      key,
      callers: [maker.entry, checker.entry],
      env: { POLICY_DIR: policies, WORKER_THREADS: '1', ...env },
    })
    started.push(service)
    return service
  }

  return {
    database,
    receiver,
    start,
    async startThree(...options) {
      const three = await Promise.all([start(options[0]), start(options[1]), start(options[2])])
      await putInEffect(three[0], humans, '/external-connectors/changes', {
        action: 'register',
        capability: CAPABILITY,
        endpointUrl: `${origin}/`,
        policy: 'counted',
        allowedParameters: ['delayMs', 'hold'],
        timeoutMs: TIMEOUT_MS,
        reason: 'test',
      })
      for (const instance of three) await until(() => executes(instance), 'the receiver to be known')
      return three
    },
  }
}

async function executes(instance: TestService): Promise<boolean> {
  return (await instance.post('/execute', aCountedTransaction())).status === 200
}

interface Release {
  readonly businessTransactionId: string
  readonly capability: string
  readonly parameters: { readonly delayMs?: number; readonly hold?: boolean }
}

async function startReceiver(): Promise<Receiver & { origin: string }> {
  const calls = new Map<string, number>()
  const held = new Set<() => void>()
  const { origin } = await serve((socket, { body }) => {
    const { release } = JSON.parse(body) as { release: Release }
    const { businessTransactionId, capability, parameters } = release
    calls.set(businessTransactionId, (calls.get(businessTransactionId) ?? 0) + 1)
    const answer = () => {
      const executedAt = new Date().toISOString()
      socket.end(json(200, { businessTransactionId, capability, success: true, result: {}, executedAt }))
    }
    if (parameters.hold === true) held.add(answer)
    else setTimeout(answer, parameters.delayMs ?? 0)
  })
  return {
    origin,
    calls,
    release() {
      for (const answer of held) answer()
      held.clear()
    },
  }
}

/** One that the receiver carries out: after `delayMs`, or when the test lets it. */
export function aCountedTransaction(parameters: Release['parameters'] = {}, businessTransactionId?: string) {
  return aTransaction({
    ...(businessTransactionId === undefined ? {} : { businessTransactionId }),
    intent: { action: CAPABILITY, parameters },
    policy: { name: 'counted', version: '1.0.0' },
    signals: { approved: true },
  })
}

type Sent = ReturnType<typeof aTransaction>

/** One POST /execute as its caller saw it. */
interface Seen {
  readonly id: string
  readonly service: TestService
  /** Undefined where the connection ended, or could not be made, before an answer came. */
  readonly status: number | undefined
  readonly ms: number
}

export interface Callers {
  readonly seen: readonly Seen[]
  /** Ids whose record a caller holds: by its answer, or by reading it afterwards. */
  readonly acknowledged: ReadonlySet<string>
  /** Ids that a caller was told are in doubt: it leaves them alone. */
  readonly inDoubt: ReadonlySet<string>
  /** Waits for so many more acknowledged executions. */
  more(count: number): Promise<void>
  /** They begin nothing new; resolves when each has carried out, or left in doubt, what it began. */
  stop(): Promise<void>
}

/**
 * Callers in a steady stream, each to any instance that is in service.
 * @param inService the instances that a load balancer would choose from at this moment
 */
export function startCallers(inService: () => readonly TestService[], count = 6): Callers {
  const seen: Seen[] = []
  const acknowledged = new Set<string>()
  const inDoubt = new Set<string>()
  const stopping = new AbortController()

  const any = () => {
    const services = inService()
    return services[Math.floor(Math.random() * services.length)] as TestService
  }

  async function post(transaction: Sent): Promise<number | undefined> {
    const service = any()
    const startedMs = performance.now()
    const status = (await answered(service.post('/execute', transaction)))?.status
    seen.push({ id: transaction.businessTransactionId, service, status, ms: performance.now() - startedMs })
    return status
  }

  /** Asks an instance that answers what it knows of the execution. */
  async function read(id: string): Promise<'recorded' | 'in doubt' | 'unknown'> {
    for (;;) {
      const service = any()
      const record = await answered(service.get(`/trust-records/${id}`))
      if (record?.status === 200) return 'recorded'
      const intent = record?.status === 404 && (await answered(service.get(`/execution-intents/${id}`)))
      if (intent && intent.status === 404) return 'unknown'
      if (intent && intent.status === 200 && intent.body.inDoubt === true) return 'in doubt'
      await delay(50)
    }
  }

  /** No second time without having asked what became of the first. */
  async function carryOut(transaction: Sent): Promise<void> {
    const id = transaction.businessTransactionId
    for (;;) {
      const status = await post(transaction)
      const known = status === 200 ? 'recorded' : await read(id)
      if (known === 'recorded') acknowledged.add(id)
      if (known === 'in doubt') inDoubt.add(id)
      if (known !== 'unknown') return
    }
  }

  async function call(): Promise<void> {
    while (!stopping.signal.aborted) await carryOut(aCountedTransaction({ delayMs: Math.random() * 200 }))
  }

  const calling = Promise.all(Array.from({ length: count }, call))
  return {
    seen,
    acknowledged,
    inDoubt,
    async more(wanted) {
      const enough = acknowledged.size + wanted
      await until(() => acknowledged.size >= enough, `${wanted} executions`)
    },
    async stop() {
      stopping.abort()
      await calling
    },
  }
}

async function answered(call: Promise<Called>): Promise<Called | undefined> {
  try {
    return await call
  } catch (error) {
    if (error instanceof TypeError && error.message === 'fetch failed') return undefined
    throw error
  }
}

/** Expects that every acknowledged execution is stored, that nothing was done twice, and that every effect is stored or in doubt. */
export async function expectAccounted({ database, receiver }: Fleet, callers: Callers): Promise<void> {
  const { recorded, inDoubt } = await readStored(database.pool)
  const { acknowledged } = callers
  expect(acknowledged.size).toBeGreaterThan(0)
  expect([...acknowledged].filter((id) => !recorded.has(id) || !receiver.calls.has(id))).toEqual([])
  expect([...receiver.calls].filter(([, times]) => times > 1)).toEqual([])
  const done = [...receiver.calls.keys()]
  expect(done.filter((id) => !recorded.has(id) && !inDoubt.has(id))).toEqual([])
}
