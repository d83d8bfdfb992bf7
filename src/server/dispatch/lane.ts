// One group of worker threads: Piscina runs them, batches.ts chooses their next requests, pending.ts holds the requests without a reply.
import { join } from 'node:path'
import { Piscina } from 'piscina'
import { answerOf, failures } from '../../core/errors/errors.ts'
import {
  packTask,
  type Boot,
  type ThreadReady,
  type ThreadRequest,
  type ThreadReplies,
} from '../../core/threads/thread-messages.ts'
import { QUEUED_MS_MAX, type Operation } from '../../core/operations/index.ts'
import type { Answer } from '../answer.ts'
import type { BatchWatch } from '../metrics/batches.ts'
import { openBatches, type Batch, type BatchLimits, type Load } from './batches.ts'
import type { Queued } from './fair-queue.ts'
import { openPending, type Waiter } from './pending.ts'
import { openReplies, type Meter } from './replies.ts'

/** The longest time with a thread: twice what a connector may take. After it the request is answered: its outcome is unknown. */
const ANSWER_MAX_MS = 60_000
const EXPIRE_EVERY_MS = 1_000

const DIED = 'the thread died'

/** V8's young generation of a thread, three times its semi-space. The objects of an execution outlive a smaller one. */
const YOUNG_MB = { execution: 96, other: 24 }

export interface Submission extends ThreadRequest {
  /** The client whose turn it uses, see `Queued`. */
  readonly client: string
}

export interface LaneOptions extends BatchLimits {
  readonly boot: Boot
  /** The threads start when they are first needed, not with the lane. */
  readonly startsOnDemand?: true
  readonly meter: Meter
  /** Called once for each thread that has booted. */
  readonly onReady: (thread: ThreadReady) => void
  readonly onError: (error: unknown) => void
  readonly watch?: BatchWatch | undefined
}

export interface Lane {
  readonly submit: (submission: Submission) => Promise<Answer>
  readonly load: () => Load
  /** How long the longest waiting request has waited, milliseconds; 0 where no request waits. */
  readonly waitedMs: () => number
  /** How many threads the lane has started. */
  readonly threads: () => number
  readonly close: () => Promise<void>
}

interface QueuedSubmission extends Submission, Waiter<Answer>, Queued {}

/**
 * Starts the threads and waits until they take batches.
 * @throws the reason of a thread that cannot boot, such as a missing key
 */
export async function openLane(options: LaneOptions): Promise<Lane> {
  const { boot, meter, watch } = options
  const piscina = startThreads(options)
  const batches = openBatches<QueuedSubmission>(options)
  const pending = openPending<Answer>()
  const replies = openReplies({ pending, meter, watch })
  let flushing = false
  let forming: NodeJS.Timeout | undefined
  let closing = false
  /** A thread that ends while the lane closes is no error. */
  const onError = (error: unknown) => {
    if (!closing) options.onError(error)
  }
  piscina.on('error', onError)
  // Piscina passes on the messages that a thread posts to its parentPort beside the results of its tasks.
  piscina.on('message', (message: ThreadReady | ThreadReplies) => {
    if ('port' in message) start(message)
    else replies.ofDeferred(message)
  })
  const expiring = setInterval(() => {
    const nowMs = performance.now()
    for (const { resolve } of batches.expire(nowMs - QUEUED_MS_MAX))
      resolve(answerOf(failures.overloaded('queue')))
    pending.giveUp(
      // The time that a batch's requests waited in a queue does not count.
      ({ sentMs }) => sentMs <= nowMs - ANSWER_MAX_MS,
      (operation) => lost(operation, `no answer within ${ANSWER_MAX_MS} ms`),
    )
  }, EXPIRE_EVERY_MS)

  function start(thread: ThreadReady): void {
    // When a thread ends, Piscina reports only the batches that it still had, not the executions that its batches deferred.
    thread.port.on('close', () => {
      if (closing) return
      pending.giveUp(
        ({ threadId }) => threadId === thread.threadId,
        (operation) => lost(operation, DIED),
      )
    })
    options.onReady(thread)
  }

  /** Runs once per turn of the event loop: requests that arrived together share a batch. */
  function flush(): void {
    flushing = false
    clearTimeout(forming)
    const nowMs = performance.now()
    for (let batch = batches.next(nowMs); batch !== undefined; batch = batches.next(nowMs)) {
      const affordable = refuseOverBudget(batch, meter)
      if (affordable.length === 0) batches.done(batch.operation)
      else void send(batch.operation, affordable)
    }
    const formedMs = batches.formedMs()
    if (formedMs !== undefined) forming = setTimeout(flush, Math.ceil(formedMs - nowMs))
  }

  async function send(operation: Operation, requests: readonly QueuedSubmission[]): Promise<void> {
    const sentMs = performance.now()
    const waitedMs = sentMs - Math.min(...requests.map(({ since }) => since))
    watch?.sent(operation, { requests: requests.length, waitedMs })
    const batch = pending.note(operation, requests, sentMs)
    const task = packTask({ operation, authorityEpoch: boot.authority.epoch }, requests, batch.firstTicket)
    try {
      const answered = (await piscina.run(task, { transferList: [task.bodies.buffer] })) as ThreadReplies
      replies.ofBatch(answered, batch)
    } catch (error) {
      onError(error)
      for (const at of requests.keys()) pending.answer(batch, at, lost(operation, DIED))
    }
    watch?.done(operation, performance.now() - sentMs)
    batches.done(operation)
    flush()
  }

  async function close(): Promise<void> {
    closing = true
    clearInterval(expiring)
    clearTimeout(forming)
    await piscina.destroy()
  }

  try {
    const emptyTask = packTask({ operation: 'execute', authorityEpoch: boot.authority.epoch }, [], 0)
    await Promise.all(piscina.threads.map(() => piscina.run(emptyTask)))
  } catch (error) {
    await close()
    throw error
  }
  return {
    submit(submission) {
      if (!flushing) {
        flushing = true
        setImmediate(flush)
      }
      const { operation, body } = submission
      return new Promise((resolve) => {
        const since = performance.now()
        batches.push(operation, { ...submission, bytes: body.byteLength, since, resolve })
      })
    },
    load: batches.load,
    waitedMs() {
      const oldestMs = batches.oldestMs()
      return oldestMs === undefined ? 0 : performance.now() - oldestMs
    },
    threads: () => piscina.threads.length,
    close,
  }
}

function startThreads({
  boot,
  threads,
  batchesPerThread,
  fullBatchesPerThread,
  startsOnDemand,
}: LaneOptions): Piscina {
  return new Piscina({
    filename: join(import.meta.dirname, '..', '..', '..', 'workers', 'thread.ts'),
    workerData: boot,
    minThreads: startsOnDemand ? 0 : threads,
    maxThreads: threads,
    concurrentTasksPerWorker: batchesPerThread + fullBatchesPerThread,
    idleTimeout: Infinity,
    maxQueue: threads * (batchesPerThread + fullBatchesPerThread),
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB[boot.lane === 'execution' ? 'execution' : 'other'] },
    // An idle thread that sleeps in Atomics.wait serves no socket: neither PostgreSQL's nor a connector's.
    atomics: 'disabled',
  })
}

/** Refuses requests of clients whose earlier requests have used up their budget meanwhile, and returns the others. */
function refuseOverBudget(
  { operation, requests }: Batch<QueuedSubmission>,
  meter: Meter,
): readonly QueuedSubmission[] {
  return requests.filter(({ client, resolve }) => {
    const failure = meter.refused(operation, client)
    if (failure !== undefined) resolve(answerOf(failure))
    return failure === undefined
  })
}

/** Only an execution can have had an effect outside the service. */
function lost(operation: Operation, cause: string): Answer {
  return answerOf(operation === 'execute' ? failures.outcomeUnknown(cause) : failures.internal(cause))
}
