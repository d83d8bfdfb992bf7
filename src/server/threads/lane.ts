// One group of worker threads: Piscina runs them, batches.ts says what they take next, pending.ts who waits for it.
import { join } from 'node:path'
import { Piscina } from 'piscina'
import { failures, type Failure } from '../../core/errors.ts'
import {
  packTask,
  type Boot,
  type Operation,
  type Params,
  type QueuedRequest,
  type Replies,
  type TaskReply,
} from '../../core/messages.ts'
import type { Answer } from '../answer.ts'
import type { BatchWatch } from '../metrics/batches.ts'
import { endOf } from '../metrics/times.ts'
import { openBatches, type BatchLimits, type Load } from './batches.ts'
import type { Queued } from './fair-queue.ts'
import { openPending, type PendingRequest, type SentBatch } from './pending.ts'

/** Longer than any connector may take. Past it a thread has died with the request, and its outcome is not known. */
const ANSWER_MAX_MS = 60_000
const EXPIRE_EVERY_MS = 1_000

/** V8's young generation of a thread, three times its semi-space. The objects of an execution outlive a smaller one. */
const YOUNG_MB = { execution: 96, other: 24 }

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

export interface LaneOptions extends BatchLimits {
  readonly boot: Boot
  /** The threads start when they are first needed, not with the lane. */
  readonly startsLate?: true
  readonly meter: Meter
  readonly onError: (error: unknown) => void
  readonly watch?: BatchWatch | undefined
}

export interface Meter {
  /** Asked before a request is sent: the failure of a client that has used up its budget since it came. */
  readonly refused: (operation: Operation, client: string) => Failure | undefined
  /** Told what a request cost when its reply comes. */
  readonly charge: (operation: Operation, client: string, reply: TaskReply) => void
}

export interface Lane {
  readonly submit: (submission: Submission) => Promise<Answer>
  readonly load: () => Load
  /** How long the request that waits longest has waited, milliseconds; 0 where none does. */
  readonly waitedMs: () => number
  /** How many threads it has started. */
  readonly threads: () => number
  readonly close: () => Promise<void>
}

interface Waiting extends QueuedRequest, PendingRequest<Answer>, Queued {}

/**
 * Starts the threads and waits until they take batches.
 * @throws the reason of a thread that cannot boot, such as a missing key
 */
export async function openLane(options: LaneOptions): Promise<Lane> {
  const { boot, threads, batchesPerThread, wholeBatchesPerThread, startsLate, meter, watch } = options
  const pool = new Piscina({
    filename: join(import.meta.dirname, '..', '..', '..', 'workers', 'thread.ts'),
    workerData: boot,
    minThreads: startsLate ? 0 : threads,
    maxThreads: threads,
    concurrentTasksPerWorker: batchesPerThread + wholeBatchesPerThread,
    idleTimeout: Infinity,
    maxQueue: threads * (batchesPerThread + wholeBatchesPerThread),
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB[boot.lane === 'execution' ? 'execution' : 'other'] },
    // An idle thread that sleeps in Atomics.wait serves no socket: neither PostgreSQL's nor a connector's.
    atomics: 'disabled',
  })
  const batches = openBatches<Waiting>(options)
  const pending = openPending<Answer>()
  let closing = false
  const failed = (error: unknown) => {
    if (!closing) options.onError(error)
  }
  pool.on('error', failed)
  pool.on('message', deliverDeferred)

  let flushing = false
  /** Once per turn of the event loop: what arrived together shares a batch. */
  function flush(): void {
    flushing = false
    for (let batch = batches.next(); batch !== undefined; batch = batches.next()) {
      const { operation } = batch
      const affordable = batch.requests.filter(({ client, resolve }) => {
        // What the client's earlier requests cost is known only now that they are done.
        const failure = meter.refused(operation, client)
        if (failure !== undefined) resolve(answerOf(failure))
        return failure === undefined
      })
      if (affordable.length === 0) batches.done(operation)
      else void send(operation, affordable)
    }
  }

  async function send(operation: Operation, requests: readonly Waiting[]): Promise<void> {
    const sentMs = performance.now()
    const waitedMs = sentMs - Math.min(...requests.map(({ since }) => since))
    watch?.sent(operation, { requests: requests.length, waitedMs })
    const batch = pending.send(operation, requests)
    const task = packTask(operation, requests, batch.firstTicket)
    try {
      deliver((await pool.run(task, { transferList: [task.bodies.buffer] })) as Replies, batch, sentMs)
    } catch (error) {
      failed(error)
      for (const at of requests.keys()) pending.answer(batch, at, lost(operation, 'the thread died'))
    }
    watch?.done(operation, performance.now() - sentMs)
    batches.done(operation)
    flush()
  }

  function deliver({ replies, report }: Replies, batch: SentBatch<Answer>, sentMs: number): void {
    if (report !== undefined) watch?.reported(report)
    const times = { sentMs, reports: report === undefined ? [] : [report] }
    batch.times = times
    // Piscina keeps the array of a finished task until V8's next full collection: without splice(0) all reply texts with it.
    for (const reply of replies.splice(0)) {
      const at = reply.ticket - batch.firstTicket
      meter.charge(batch.operation, batch.requests[at]?.client ?? '', reply)
      pending.answer(batch, at, { ...reply, times })
    }
  }

  /** Replies of executions that had to wait longer than their batches. */
  function deliverDeferred({ replies, report }: Replies): void {
    if (report !== undefined) watch?.reported(report)
    for (const reply of replies) {
      const batch = pending.find(reply.ticket)
      if (batch === undefined) continue
      const at = reply.ticket - batch.firstTicket
      const { times } = batch
      const [first] = times?.reports ?? []
      if (times === undefined || first === undefined || report === undefined) {
        pending.answer(batch, at, reply)
        continue
      }
      watch?.late(report.startedAt - endOf(first))
      pending.answer(batch, at, { ...reply, times: { ...times, reports: [first, report] } })
    }
  }

  const expiring = setInterval(() => {
    const longAgo = performance.now() - ANSWER_MAX_MS
    for (const { resolve } of batches.expire(longAgo)) resolve(answerOf(failures.overloaded()))
    pending.expire(longAgo, (operation) => lost(operation, `no answer within ${ANSWER_MAX_MS} ms`))
  }, EXPIRE_EVERY_MS)

  const close = async () => {
    closing = true
    clearInterval(expiring)
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
      return new Promise((resolve) => {
        const since = performance.now()
        batches.push(operation, {
          operation,
          client,
          caller,
          body,
          bytes: body.byteLength,
          params,
          since,
          resolve,
        })
      })
    },
    load: batches.load,
    waitedMs() {
      const oldestMs = batches.oldestMs()
      return oldestMs === undefined ? 0 : performance.now() - oldestMs
    },
    threads: () => pool.threads.length,
    close,
  }
}

/** Only an execution can have done something outside. */
function lost(operation: Operation, cause: string): Answer {
  const failure = operation === 'execute' ? failures.outcomeUnknown(cause) : failures.internal(cause)
  return { ...answerOf(failure), log: { ...failure.log(), cause } }
}

function answerOf(failure: Failure): Answer {
  const { status, headers, audit } = failure
  return {
    status,
    headers,
    body: failure.body(),
    log: failure.log(),
    ...(audit === undefined ? {} : { audit }),
  }
}
