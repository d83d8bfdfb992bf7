// A service under a small steady load while its database is in trouble: what each caller was told and how fast, what GET /ready said,
// what the called system saw, and whether all of it agrees with the tables at the end.
import { rmSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { expect, onTestFinished } from 'vitest'
import { readLogStatus } from '../../src/store/tables/log-state.ts'
import { aDealId, openReceiver, type Receiver } from '../crash/points/receiver.ts'
import { readStored, type Stored } from '../evidence.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { startService, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'

/** Each sends its next execution when the last one was answered, and a pause later. */
const LANES = 4
const PAUSE_MS = 50
const CAPABILITY = 'hubspot:deal-update'

export interface Seen {
  readonly id: string
  /** The deal that it changes: what the called system counts. */
  readonly deal: string
  /** `200`, or `503 DATABASE_UNAVAILABLE`; `lost` where no answer came. */
  readonly answer: string
  readonly retryAfter: string | null
  readonly sentAtMs: number
  readonly tookMs: number
}

export interface LoadedService {
  readonly service: TestService
  /** The answers to executions, in the order in which they came. */
  readonly seen: readonly Seen[]
  /** Waits until GET /ready has given this reason. */
  readonly unready: (reason: string) => Promise<void>
  /** The slowest answer of GET /ready. */
  readonly readyMs: () => number
  /** Waits for `count` executions that are sent from now on and answered so. Resolves to how long that took. */
  readonly answered: (answer: string, count?: number) => Promise<number>
  /** Waits until executions succeed again and GET /ready agrees, without a restart. Resolves to how long that took. */
  readonly recovered: () => Promise<number>
  /** Ends the load, waits for pending evidence, compares with the tables, and stops the service. */
  readonly finish: (pool: Pool) => Promise<void>
}

/** @param as options of `startService`; without a database URL the embedded database is used */
export async function startLoaded(as: {
  databaseUrl?: string
  env?: Record<string, string>
}): Promise<LoadedService> {
  const receiver = await openReceiver()
  const policyDir = aPolicyFolder()
  addPolicy(policyDir, { name: 'deal', version: '1.0.0', capability: CAPABILITY })
  const service = await startService({
    ...as,
    env: {
      WORKER_THREADS: '1',
      POLICY_DIR: policyDir,
      HUBSPOT_PRIVATE_APP_TOKEN: 'pat',
      HUBSPOT_BASE_URL: receiver.origin,
      ...as.env,
    },
  })
  const seen: Seen[] = []
  const reasons = new Set<string>()
  let readyMs = 0
  const stopping = new AbortController()

  async function lane(): Promise<void> {
    while (!stopping.signal.aborted) {
      seen.push(await executeOne(service))
      await delay(PAUSE_MS)
    }
  }
  async function watchReady(): Promise<void> {
    while (!stopping.signal.aborted) {
      const sentAtMs = performance.now()
      const { status, body } = await service.get('/ready', { key: null })
      readyMs = Math.max(readyMs, performance.now() - sentAtMs)
      if (status !== 200) reasons.add((body as { reason: string }).reason)
      await delay(PAUSE_MS)
    }
  }
  const all = Promise.all([...Array.from({ length: LANES }, lane), watchReady()])
  // A test that fails before it finishes says why by itself; what its load met when the service was ended would fail the whole run.
  all.catch(() => undefined)
  onTestFinished(() => stopping.abort())

  async function answered(answer: string, count = 1): Promise<number> {
    const fromMs = performance.now()
    const enough = () => seen.filter((one) => one.sentAtMs > fromMs && one.answer === answer).length >= count
    await until(enough, `${count} times ${answer}`).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${JSON.stringify(answersOf(seen))}`, { cause: error })
    })
    return performance.now() - fromMs
  }

  return {
    service,
    seen,
    async unready(reason) {
      await until(() => reasons.has(reason), `GET /ready to say: ${reason}`).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${[...reasons].join('\n')}`, { cause: error })
      })
    },
    readyMs: () => readyMs,
    answered,
    async recovered() {
      const fromMs = performance.now()
      await answered('200', LANES * 2)
      await until(async () => (await service.get('/ready')).status === 200, 'GET /ready to answer 200')
      return performance.now() - fromMs
    },
    async finish(pool) {
      stopping.abort()
      await all
      await expectAgreement(seen, receiver, pool)
      await until(() => logIsAtRest(pool), 'everything that was stored to be under a checkpoint of the log')
      expect(await service.stop()).toBe(0)
      await receiver.close()
      rmSync(policyDir, { recursive: true })
    },
  }
}

async function logIsAtRest(pool: Pool): Promise<boolean> {
  const log = await readLogStatus(pool)
  expect(log?.frozen).toBeNull()
  return log?.queued === false && log.size > 0 && log.size === log.publishedSize
}

async function executeOne(service: TestService): Promise<Seen> {
  const deal = aDealId('done')
  const transaction = aTransaction({
    intent: { action: CAPABILITY, target: deal, parameters: { amount: 7 } },
    policy: { name: 'deal' },
    signals: { approved: true },
  })
  const sentAtMs = performance.now()
  const reply = await service.post('/execute', transaction).catch(() => undefined)
  const code = (reply?.body as { code?: string } | undefined)?.code
  return {
    id: transaction.businessTransactionId,
    deal,
    answer: reply === undefined ? 'lost' : [reply.status, code].filter(Boolean).join(' '),
    retryAfter: reply?.headers.get('retry-after') ?? null,
    sentAtMs,
    tookMs: performance.now() - sentAtMs,
  }
}

/** The slowest answer of each kind, in milliseconds, and how many there were. */
export function answersOf(seen: readonly Seen[]): Record<string, { count: number; slowestMs: number }> {
  const answers: Record<string, { count: number; slowestMs: number }> = {}
  for (const { answer, tookMs } of seen) {
    const { count = 0, slowestMs = 0 } = answers[answer] ?? {}
    answers[answer] = { count: count + 1, slowestMs: Math.round(Math.max(slowestMs, tookMs)) }
  }
  return answers
}

/**
 * Expects that callers, the called system and the database tell one story: an acknowledged execution has its record, an
 * effect has its intent, a 503 had no effect, and the evidence behind a 502 is stored in the end.
 */
async function expectAgreement(seen: readonly Seen[], receiver: Receiver, pool: Pool): Promise<void> {
  const unknown = seen.filter(({ answer }) => answer === '502 EXECUTION_OUTCOME_UNKNOWN')
  let stored: Stored = await readStored(pool)
  await until(async () => {
    stored = await readStored(pool)
    return unknown.every(({ id }) => stored.recorded.has(id))
  }, 'the pending evidence')
  const wrong = seen.filter(({ id, deal, answer, retryAfter }) => {
    const effects = receiver.effects(deal)
    const recorded = stored.recorded.has(id)
    if (effects > 1 || (effects === 1 && !recorded && !stored.inDoubt.has(id))) return true
    if (answer === '200' || answer === '502 EXECUTION_OUTCOME_UNKNOWN') return effects !== 1 || !recorded
    return answer !== '503 DATABASE_UNAVAILABLE' || effects !== 0 || recorded || retryAfter !== '1'
  })
  expect(wrong).toEqual([])
}
