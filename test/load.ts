// A steady stream of executions over many connections, and what each caller saw: what faults and drains are tested under.
import { setTimeout as delay } from 'node:timers/promises'
import { cleanUpWhereTestFails } from './run/cleanup.ts'
import type { Called, TestService } from './service.ts'
import { aTransaction } from './transactions.ts'

export type Sent = ReturnType<typeof aTransaction>

export interface Outcome {
  readonly transaction: Sent
  /** By `performance.now()`. */
  readonly sentAt: number
  /** When it was answered or lost, likewise. */
  readonly endedAt: number
  /** Undefined where the connection ended, or could not be made, before an answer came. */
  readonly reply: Called | undefined
  /** The error code then. */
  readonly lost: string | undefined
}

export interface Load {
  /** In the order in which they ended. */
  readonly outcomes: readonly Outcome[]
  /** How many were answered with this status. */
  count(status: number): number
  /** Sends no more; resolves when what was sent has been answered or lost. */
  stop(): Promise<readonly Outcome[]>
}

/**
 * Every connection sends its next execution once its last one is answered; every fourth of them has a slow connector.
 *
 * @param options.pauseMs before its next execution, for a test that looks at each of them several times and runs for long
 */
export function startLoad(
  service: Pick<TestService, 'post'>,
  connections: number,
  { pauseMs = 0 }: { pauseMs?: number } = {},
): Load {
  const outcomes: Outcome[] = []
  const stopping = new AbortController()

  async function connection(slow: boolean): Promise<void> {
    while (!stopping.signal.aborted) {
      const outcome = await send(service, slow ? aSlowTransaction(20 + Math.random() * 180) : aTransaction())
      outcomes.push(outcome)
      if (pauseMs > 0) await delay(pauseMs)
      else if (outcome.reply?.status !== 200) await delay(10) // an unreachable service must not become a busy loop
    }
  }

  const all = Array.from({ length: connections }, (_, i) => connection(i % 4 === 0))
  cleanUpWhereTestFails(() => stopping.abort())
  return {
    outcomes,
    count: (status) => outcomes.filter(({ reply }) => reply?.status === status).length,
    async stop() {
      stopping.abort()
      await Promise.all(all)
      return outcomes
    },
  }
}

async function send(service: Pick<TestService, 'post'>, transaction: Sent): Promise<Outcome> {
  const sentAt = performance.now()
  try {
    const reply = await service.post('/execute', transaction)
    return { transaction, sentAt, endedAt: performance.now(), reply, lost: undefined }
  } catch (error) {
    const { code } = (error as Error).cause as { code?: string }
    return { transaction, sentAt, endedAt: performance.now(), reply: undefined, lost: String(code) }
  }
}

/** An approved transaction whose connector answers after `delayMs`. */
export function aSlowTransaction(delayMs: number): Sent {
  return aTransaction({ intent: { parameters: { amount: 42, delayMs: Math.round(delayMs) } } })
}

/** Runs `work` over all items, a few at a time. */
export async function forEach<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]()
  const worker = async () => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: 16 }, worker))
}
