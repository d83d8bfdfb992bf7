// Chooses the requests that a group of worker threads takes next. Holds queues and counts and starts nothing itself. An idle thread takes the
// waiting requests at once, as far as the limit of their operation allows. While all are busy, a batch may form for some milliseconds.
import { operations, type Operation } from '../../core/operations/index.ts'
import { openFairQueue, type FairQueue, type Queued } from './fair-queue.ts'

export interface BatchLimits {
  readonly threads: number
  /** How many batches a thread may have at once. While one waits for the database, the thread computes another. */
  readonly batchesPerThread: number
  /**
   * How many more batches a thread may have, if each of those is full (`countMax` requests). A batch costs nearly the same whatever its size,
   * so a batch that is not full waits.
   */
  readonly fullBatchesPerThread: number
  /**
   * While every thread is busy, a batch that is not full starts when a thread becomes idle, or when its oldest request has waited this many
   * milliseconds. 0: it starts as soon as a thread may take it.
   */
  readonly formMs: number
}

export interface Batch<Item> {
  readonly operation: Operation
  /** Never empty. */
  readonly requests: readonly Item[]
}

/** How many requests wait for a thread, and how many batches are with the threads, by operation. */
export interface Load {
  readonly waiting: ReadonlyMap<Operation, number>
  readonly running: ReadonlyMap<Operation, number>
}

export interface Batches<Item extends Queued> {
  readonly push: (operation: Operation, item: Item) => void
  /**
   * @param nowMs of `performance.now()`
   * @returns a batch that may start now, taken out of its queue and counted as running; undefined where no batch may
   */
  readonly next: (nowMs: number) => Batch<Item> | undefined
  /** @returns when the forming batch may start even if no other batch has come back; undefined where no batch is forming */
  readonly formedMs: () => number | undefined
  /** A batch that `next` returned has come back. */
  readonly done: (operation: Operation) => void
  /** @returns the requests that came at `sinceMs` or before, taken out of the queues */
  readonly expire: (sinceMs: number) => Item[]
  readonly load: () => Load
  /** @returns the arrival of the longest waiting request, milliseconds of `performance.now()`; undefined where no request waits */
  readonly oldestMs: () => number | undefined
}

interface Waiting<Item extends Queued> {
  readonly operation: Operation
  readonly queue: FairQueue<Item>
}

export function openBatches<Item extends Queued>(limits: BatchLimits): Batches<Item> {
  const batchesMax = limits.threads * limits.batchesPerThread
  const batchesMaxIfFull = batchesMax + limits.threads * limits.fullBatchesPerThread
  /** One queue for each operation submitted so far, in the order in which they are checked. */
  let queues: Waiting<Item>[] = []
  const running = new Map<Operation, number>()
  let runningInAll = 0

  /** @returns when the first batch of this queue may start; Infinity: not until another batch has come back */
  function startsMs({ operation, queue }: Waiting<Item>): number {
    const { countMax, batchesMax: ofOperationMax = Infinity } = operations[operation]
    const oldestMs = queue.oldest()
    if (oldestMs === undefined || (running.get(operation) ?? 0) >= ofOperationMax) return Infinity
    if (queue.length() >= countMax) return runningInAll < batchesMaxIfFull ? oldestMs : Infinity
    if (runningInAll >= batchesMax) return Infinity
    // Piscina gives each batch to the thread with the fewest batches: with fewer batches than threads, a thread is idle.
    return runningInAll < limits.threads ? oldestMs : oldestMs + limits.formMs
  }

  return {
    push(operation, item) {
      let waiting = queues.find((one) => one.operation === operation)
      if (waiting === undefined) queues.push((waiting = { operation, queue: openFairQueue() }))
      waiting.queue.push(item)
    },
    next(nowMs) {
      const at = queues.findIndex((waiting) => startsMs(waiting) <= nowMs)
      const chosen = queues[at]
      if (chosen === undefined) return undefined
      // The chosen queue moves behind the others, so an operation with many requests holds up no other.
      queues = [...queues.slice(at + 1), ...queues.slice(0, at + 1)]
      const { operation, queue } = chosen
      const { countMax, bytesMax } = operations[operation]
      // The waiting items are divided among the threads that have nothing to do.
      const idleThreads = Math.max(1, limits.threads - runningInAll)
      const share = Math.min(countMax, Math.ceil(queue.length() / idleThreads))
      runningInAll++
      running.set(operation, (running.get(operation) ?? 0) + 1)
      return { operation, requests: queue.take({ countMax: share, bytesMax }) }
    },
    formedMs: () => earliest(queues.map(startsMs)),
    done(operation) {
      runningInAll--
      running.set(operation, (running.get(operation) ?? 1) - 1)
    },
    expire: (sinceMs) => queues.flatMap(({ queue }) => queue.expire(sinceMs)),
    load: () => ({
      waiting: new Map(queues.map(({ operation, queue }) => [operation, queue.length()])),
      running,
    }),
    oldestMs: () => earliest(queues.map(({ queue }) => queue.oldest() ?? Infinity)),
  }
}

function earliest(timesMs: readonly number[]): number | undefined {
  const first = Math.min(...timesMs)
  return first === Infinity ? undefined : first
}
