// One group of worker threads and the fair queues in front of it. A batch is what waits when a thread is free: nothing is ever held
// back to fill one.
import { join } from 'node:path'
import { Piscina } from 'piscina'
import { failures, type Failure } from '../../core/errors.ts'
import type { BatchWatch } from '../metrics/batches.ts'
import { endOf, type RequestTimes } from '../metrics/times.ts'
import {
  packTask,
  type Boot,
  type Operation,
  type Params,
  type QueuedRequest,
  type Replies,
  type TaskReply,
} from '../../core/messages.ts'
import { openFairQueue, type FairQueue, type Queued } from './fair-queue.ts'
import { operations } from './operations.ts'

/** Longer than any connector may take. Past it a thread has died with the request, and its outcome is not known. */
const ANSWER_MAX_MS = 60_000

/** V8's young generation of a thread that is not for executions: three times its semi-space. */
const OTHER_YOUNG_MB = 24

export type WorkerReply = Pick<TaskReply, 'status' | 'headers' | 'body' | 'log' | 'audit'> & {
  readonly times?: RequestTimes
}

export interface Submission {
  readonly operation: Operation
  /** Whose turn it uses, see `Queued`. */
  readonly client: string
  /** Index into `Boot.callers`, -1 for anonymous. */
  readonly caller: number
  readonly body: Uint8Array
  /** Of its path, where the operation needs them. */
  readonly params?: Params | undefined
}

export interface LaneOptions {
  readonly boot: Boot
  readonly threads: number
  /** Batches in flight for each thread: one computes while the others wait for the database. */
  readonly batchesPerThread: number
  /** And so many more while as many requests wait as a batch can hold. Smaller ones would only cost what a whole one costs. */
  readonly wholeBatchesPerThread?: number
  /** The threads start when they are first needed, not with the lane. */
  readonly startsLate?: true
  /**
   * Told what a request cost, milliseconds of thread time, when its reply comes; and asked before it is sent.
   * out of `refused`: the failure of a client that has used up its budget meanwhile
   */
  readonly meter: Meter
  readonly onError: (error: unknown) => void
  readonly watch?: BatchWatch | undefined
}

export interface Meter {
  readonly refused: (operation: Operation, client: string) => Failure | undefined
  readonly charge: (operation: Operation, client: string, reply: TaskReply) => void
}

export interface Lane {
  readonly submit: (submission: Submission) => Promise<WorkerReply>
  /** How many requests wait here, and how many batches the threads have, by operation. */
  readonly load: () => {
    readonly waiting: ReadonlyMap<Operation, number>
    readonly running: ReadonlyMap<Operation, number>
  }
  /** How long the request that waits longest has waited, milliseconds; 0 where none does. */
  readonly waitedMs: () => number
  /** How many threads it has started. */
  readonly threads: () => number
  readonly close: () => Promise<void>
}

/** A request whose reply somebody awaits. */
interface Pending {
  readonly client: string
  readonly since: number
  readonly resolve: (reply: WorkerReply) => void
}

interface Waiting extends QueuedRequest, Pending, Queued {}

/** With a thread, under consecutive tickets; found by them, because a deferred execution is answered after its batch. */
interface Batch {
  readonly operation: Operation
  readonly firstTicket: number
  /** Undefined: answered. Without their bodies, which the thread has. */
  readonly requests: (Pending | undefined)[]
  /** How many are not answered yet. */
  left: number
  /** Set when it has come back: what is left then follows. */
  times: RequestTimes | undefined
}

/**
 * Starts the threads and waits until they take batches.
 * fails with the reason of a thread that cannot boot, such as a missing key
 */
export async function openLane(options: LaneOptions): Promise<Lane> {
  const { boot, threads, batchesPerThread, wholeBatchesPerThread = 0, startsLate, meter, watch } = options
  const batchesMax = threads * batchesPerThread
  const wholeMax = batchesMax + threads * wholeBatchesPerThread
  const pool = new Piscina({
    filename: join(import.meta.dirname, '..', '..', '..', 'workers', 'thread.ts'),
    workerData: boot,
    minThreads: startsLate ? 0 : threads,
    maxThreads: threads,
    concurrentTasksPerWorker: batchesPerThread + wholeBatchesPerThread,
    idleTimeout: Infinity,
    maxQueue: wholeMax,
    // An execution's objects outlive a smaller young generation (docs/design-notes.md); for other work it would only be memory.
    ...(boot.lane === 'execution' ? {} : { resourceLimits: { maxYoungGenerationSizeMb: OTHER_YOUNG_MB } }),
    // An idle thread that sleeps in Atomics.wait serves no socket: neither PostgreSQL's nor a connector's.
    atomics: 'disabled',
  })
  let closing = false
  const failed = (error: unknown) => {
    if (!closing) options.onError(error)
  }
  pool.on('error', failed)
  pool.on('message', deliverDeferred)

  /** One for each operation that was ever asked for; the one at the front is looked at next. */
  let queues: { readonly operation: Operation; readonly queue: FairQueue<Waiting> }[] = []
  // No Map: V8 leaves its outgrown table pointing to the next, and one that is dead in the old space keeps all that follow.
  const underway: Batch[] = []
  let nextTicket = 0
  let batches = 0
  const running = new Map<Operation, number>()
  let flushing = false

  function deliver(replies: Replies, batch: Batch, sentMs: number): void {
    const { report } = replies
    if (report !== undefined) watch?.reported(report)
    const times = { sentMs, reports: report === undefined ? [] : [report] }
    batch.times = times
    // Taken out: with what is left of piscina's tasks, all texts would otherwise stay until a full collection.
    for (const reply of replies.replies.splice(0)) {
      const at = reply.ticket - batch.firstTicket
      meter.charge(batch.operation, batch.requests[at]?.client ?? '', reply)
      answer(batch, at, { ...reply, times })
    }
  }

  /** Of executions that had to wait longer than their batches. */
  function deliverDeferred(replies: Replies): void {
    const { report } = replies
    if (report !== undefined) watch?.reported(report)
    for (const reply of replies.replies) {
      const { ticket } = reply
      const batch = underway.find(
        (one) => ticket >= one.firstTicket && ticket < one.firstTicket + one.requests.length,
      )
      if (batch === undefined) continue
      const { times } = batch
      const [first] = times?.reports ?? []
      if (times === undefined || first === undefined || report === undefined) {
        answer(batch, ticket - batch.firstTicket, reply)
        continue
      }
      watch?.late(report.startedAt - endOf(first))
      answer(batch, ticket - batch.firstTicket, { ...reply, times: { ...times, reports: [first, report] } })
    }
  }

  function answer(batch: Batch, at: number, reply: WorkerReply): void {
    const request = batch.requests[at]
    if (request === undefined) return
    batch.requests[at] = undefined
    if (--batch.left === 0) underway.splice(underway.indexOf(batch), 1)
    request.resolve(reply)
  }

  /** Once per turn of the event loop: what arrived together shares a batch. */
  function flush(): void {
    flushing = false
    for (;;) {
      const next = queues.findIndex(({ operation, queue }) => mayStart(operation, queue))
      const chosen = queues[next]
      if (chosen === undefined) return
      // Behind the others: an operation that many wait for holds up no other.
      queues = [...queues.slice(next + 1), ...queues.slice(0, next + 1)]
      const { operation, queue } = chosen
      const { countMax, bytesMax } = operations[operation]
      const idleThreads = Math.max(1, threads - batches)
      const share = Math.min(countMax, Math.ceil(queue.length() / idleThreads))
      const batch = affordable(operation, queue.take({ countMax: share, bytesMax }))
      if (batch.length > 0) void send(operation, batch)
    }
  }

  function mayStart(operation: Operation, queue: FairQueue<Waiting>): boolean {
    const { countMax, batchesMax: ownMax = Infinity } = operations[operation]
    if (queue.length() === 0 || (running.get(operation) ?? 0) >= ownMax) return false
    return batches < (queue.length() >= countMax ? wholeMax : batchesMax)
  }

  /** Answers those whose client has used up its budget since they came: it is known only when the requests before have been done. */
  function affordable(operation: Operation, requests: readonly Waiting[]): Waiting[] {
    return requests.filter(({ client, resolve }) => {
      const failure = meter.refused(operation, client)
      if (failure !== undefined) resolve(replyOf(failure))
      return failure === undefined
    })
  }

  async function send(operation: Operation, requests: readonly Waiting[]): Promise<void> {
    batches++
    running.set(operation, (running.get(operation) ?? 0) + 1)
    const sentMs = performance.now()
    const waitedMs = sentMs - Math.min(...requests.map(({ since }) => since))
    watch?.sent(operation, { requests: requests.length, waitedMs })
    const task = packTask(operation, requests, nextTicket)
    const batch: Batch = {
      operation,
      firstTicket: nextTicket,
      requests: requests.map(({ client, since, resolve }) => ({ client, since, resolve })),
      left: requests.length,
      times: undefined,
    }
    nextTicket += requests.length
    underway.push(batch)
    try {
      deliver((await pool.run(task, { transferList: [task.bodies.buffer] })) as Replies, batch, sentMs)
    } catch (error) {
      failed(error)
      for (const at of requests.keys()) answer(batch, at, lost(operation, 'the thread died'))
    }
    watch?.done(operation, performance.now() - sentMs)
    batches--
    running.set(operation, (running.get(operation) ?? 1) - 1)
    flush()
  }

  const backstop = setInterval(() => {
    const longAgo = performance.now() - ANSWER_MAX_MS
    for (const { queue } of queues)
      for (const { resolve } of queue.expire(longAgo)) resolve(replyOf(failures.overloaded()))
    for (const batch of underway.slice()) {
      for (const [at, request] of batch.requests.entries()) {
        if (request !== undefined && request.since <= longAgo)
          answer(batch, at, lost(batch.operation, `no answer within ${ANSWER_MAX_MS} ms`))
      }
    }
  }, 1_000)

  const close = async () => {
    closing = true
    clearInterval(backstop)
    await pool.destroy()
  }
  try {
    await Promise.all(pool.threads.map(() => pool.run(packTask('execute', [], 0))))
  } catch (error) {
    await close()
    throw error
  }
  return {
    submit({ operation, client, caller, body, params }) {
      if (!flushing) {
        flushing = true
        setImmediate(flush)
      }
      let waiting = queues.find((one) => one.operation === operation)
      if (waiting === undefined) queues.push((waiting = { operation, queue: openFairQueue() }))
      const { queue } = waiting
      return new Promise((resolve) => {
        const since = performance.now()
        queue.push({ operation, client, caller, body, bytes: body.byteLength, params, since, resolve })
      })
    },
    load: () => ({
      waiting: new Map(queues.map(({ operation, queue }) => [operation, queue.length()])),
      running,
    }),
    waitedMs() {
      const oldest = Math.min(...queues.map(({ queue }) => queue.oldest() ?? Infinity))
      return oldest === Infinity ? 0 : performance.now() - oldest
    },
    threads: () => pool.threads.length,
    close,
  }
}

/** Only an execution can have done something outside. */
function lost(operation: Operation, cause: string): WorkerReply {
  const failure = operation === 'execute' ? failures.outcomeUnknown(cause) : failures.internal(cause)
  return { ...replyOf(failure), log: { ...failure.log(), cause } }
}

function replyOf(failure: Failure): WorkerReply {
  const { status, headers, audit } = failure
  return {
    status,
    headers,
    body: failure.body(),
    log: failure.log(),
    ...(audit === undefined ? {} : { audit }),
  }
}
