// The bounded queue in front of the worker threads. A batch is what waits when a thread has room: nothing is ever held to fill one.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { BroadcastChannel } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { AuthorityState } from '../authority/state.ts'
import { failures, type Failure } from '../errors.ts'
import type { BatchWatch } from '../metrics/batches.ts'
import { endOf, type RequestTimes } from '../metrics/times.ts'
import {
  ASKS_AUTHORITY,
  packTask,
  type Boot,
  type Operation,
  type Params,
  type QueuedRequest,
  type Replies,
  type TaskReply,
} from '../../workers/protocol.ts'

const BATCH_MAX = 128
/** A batch ends with the body that reaches this: a thread is busy with a batch for milliseconds, whatever is in it. */
const BATCH_BYTES_MAX = 256 * 1024
/** Two batches of executions in flight per thread: one computes while the other waits for its commit. */
const BATCHES_PER_THREAD = 2
/** And one more if as many wait as it can hold: under full load both often wait at once. Smaller ones would only cost what a whole one costs. */
const WHOLE_BATCHES_PER_THREAD = 1
/** Beside them, so that neither waits for the other: one for audit events, one for what is long, one for the rest. */
const OTHER_BATCHES_PER_THREAD = 3
/** Long, in no hurry, or held up by others' name servers: at most one batch of all these. */
const UNHURRIED: ReadonlySet<Operation> = new Set([
  'simulate',
  'sweep-intents',
  'process-webhooks',
  'propose-change',
  'resolve-change',
])
/** One batch at a time: what arrives while it is stored shares the next commit, which makes each cheaper (`bench -- webhook`). */
const ONE_BATCH: ReadonlySet<Operation> = new Set(['record-audit-event', 'receive-webhook'])
/** Longer than any connector may take. Past it a thread has died with the request, and its outcome is not known. */
const ANSWER_MAX_MS = 60_000

export type WorkerReply = Pick<TaskReply, 'status' | 'headers' | 'body' | 'log' | 'audit'> & {
  readonly times?: RequestTimes
}

export interface Dispatcher {
  /**
   * Sends a request to a thread.
   * in   caller  index into `Boot.callers`, -1 for anonymous
   *      params  of its path, where the operation needs them
   */
  readonly submit: (
    operation: Operation,
    body: Uint8Array,
    caller: number,
    params?: Params,
  ) => Promise<WorkerReply>
  /** How many requests wait at the door, and how many batches are with the threads, by operation. */
  readonly load: () => {
    readonly waiting: ReadonlyMap<Operation, number>
    readonly running: ReadonlyMap<Operation, number>
  }
  /** Hands every thread what is in effect from now on. */
  readonly setAuthority: (authority: AuthorityState) => void
  /** How many executions' evidence the threads keep until the database takes it. */
  readonly owed: () => number
  /** Resolves when that is none. */
  readonly settled: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Somebody waits for its reply. */
interface Asked {
  readonly resolve: (reply: WorkerReply) => void
  readonly since: number
}

interface Waiting extends QueuedRequest, Asked {}

/** With a thread, under consecutive tickets; found by them, because what has to wait longer than its batch is answered by itself. */
interface Batch {
  readonly operation: Operation
  readonly firstTicket: number
  /** Undefined: answered. Without their bodies, which the thread has. */
  readonly requests: (Asked | undefined)[]
  /** How many are not. */
  left: number
  /** Set when it has come back: what is left then follows. */
  times: RequestTimes | undefined
}

/**
 * Starts the threads and waits until they take batches.
 * in    watch  told of every batch, where somebody wants to know
 * fails with the reason of a thread that cannot boot, such as a missing key
 */
export async function openDispatcher(
  start: Omit<Boot, 'authorityChannel' | 'owed'>,
  log: (error: unknown) => void,
  watch?: BatchWatch,
): Promise<Dispatcher> {
  // Changed in place with each new authority: a thread that replaces one boots with the newest.
  const owed = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const boot = { ...start, owed, authorityChannel: `countersign authority ${randomUUID()}` }
  const authorityChannel = new BroadcastChannel(boot.authorityChannel)
  authorityChannel.unref()
  // A thread that replaces one may have booted while a change was told: it asks once it listens.
  authorityChannel.addEventListener('message', (event) => {
    if ((event as MessageEvent).data === ASKS_AUTHORITY) tellAuthority()
  })
  function tellAuthority(): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel between threads, not between windows
    authorityChannel.postMessage(boot.authority)
  }
  const { workerThreads } = boot.config
  const executionsMax = workerThreads * BATCHES_PER_THREAD
  const wholeMax = executionsMax + workerThreads * WHOLE_BATCHES_PER_THREAD
  const othersMax = workerThreads * OTHER_BATCHES_PER_THREAD
  const pool = new Piscina({
    filename: join(import.meta.dirname, '..', '..', 'workers', 'thread.ts'),
    workerData: boot,
    minThreads: workerThreads,
    maxThreads: workerThreads,
    concurrentTasksPerWorker: BATCHES_PER_THREAD + WHOLE_BATCHES_PER_THREAD + OTHER_BATCHES_PER_THREAD,
    idleTimeout: Infinity,
    maxQueue: wholeMax + othersMax,
    // An idle thread that sleeps in Atomics.wait serves no socket: neither PostgreSQL's nor a late connector's.
    atomics: 'disabled',
  })
  let closing = false
  // What the last sweep was still doing is cut off then, and is done by the next one.
  const logUnlessClosing = (error: unknown) => {
    if (!closing) log(error)
  }
  pool.on('error', logUnlessClosing)
  pool.on('message', deliverLate)

  let queue: Waiting[] = []
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
    for (const reply of replies.replies.splice(0))
      answer(batch, reply.ticket - batch.firstTicket, { ...reply, times })
  }

  /** Of executions that had to wait longer than their batches. */
  function deliverLate(replies: Replies): void {
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

  /** Once per turn of the event loop: what arrived together travels together. */
  function flush(): void {
    flushing = false
    for (;;) {
      // The oldest request that may go says what is next; all that wait for the same travel with it.
      const isWhole = queue.filter(({ operation }) => operation === 'execute').length >= BATCH_MAX
      const operation = queue.find((request) => mayStart(request.operation, isWhole))?.operation
      if (operation === undefined) return
      const idleThreads = Math.max(1, workerThreads - executions() - others())
      const alike = queue.filter((request) => request.operation === operation)
      // A simulation is long by itself: many in a batch would add up.
      const size = operation === 'simulate' ? 1 : Math.min(BATCH_MAX, Math.ceil(alike.length / idleThreads))
      const batch = withinBytes(alike.slice(0, size))
      void send(operation, batch)
      if (batch.length === alike.length && alike.length === queue.length) queue = []
      else {
        const sent = new Set(batch)
        queue = queue.filter((request) => !sent.has(request))
      }
    }
  }

  /**
   * A batch that waits for a lock keeps its place. Audit events, which anyone can cause, get no more than one.
   * in  isWhole  whether as many executions wait as a batch can have
   */
  function mayStart(operation: Operation, isWhole: boolean): boolean {
    if (operation === 'execute') return executions() < (isWhole ? wholeMax : executionsMax)
    if (others() >= othersMax) return false
    if (ONE_BATCH.has(operation)) return !running.get(operation)
    return !UNHURRIED.has(operation) || ![...UNHURRIED].some((one) => running.get(one))
  }

  function executions(): number {
    return running.get('execute') ?? 0
  }

  function others(): number {
    return batches - executions()
  }

  async function send(operation: Operation, requests: readonly Waiting[]): Promise<void> {
    batches++
    running.set(operation, (running.get(operation) ?? 0) + 1)
    const sentMs = performance.now()
    watch?.sent(operation, { requests: requests.length, waitedMs: sentMs - (requests[0]?.since ?? sentMs) })
    const task = packTask(operation, requests, nextTicket)
    const batch: Batch = {
      operation,
      firstTicket: nextTicket,
      requests: requests.map(({ resolve, since }) => ({ resolve, since })),
      left: requests.length,
      times: undefined,
    }
    nextTicket += requests.length
    underway.push(batch)
    try {
      deliver((await pool.run(task, { transferList: [task.bodies.buffer] })) as Replies, batch, sentMs)
    } catch (error) {
      logUnlessClosing(error)
      for (const at of requests.keys()) answer(batch, at, lost(operation, 'the thread died'))
    }
    watch?.done(operation, performance.now() - sentMs)
    batches--
    running.set(operation, (running.get(operation) ?? 1) - 1)
    flush()
  }

  const backstop = setInterval(() => {
    const oldest = performance.now() - ANSWER_MAX_MS
    const unsent = queue.filter(({ since }) => since <= oldest)
    if (unsent.length > 0) queue = queue.filter(({ since }) => since > oldest)
    for (const { resolve } of unsent) resolve(replyOf(failures.overloaded()))
    for (const batch of underway.slice()) {
      for (const [at, request] of batch.requests.entries()) {
        if (request !== undefined && request.since <= oldest)
          answer(batch, at, lost(batch.operation, `no answer within ${ANSWER_MAX_MS} ms`))
      }
    }
  }, 1_000)

  await Promise.all(pool.threads.map(() => pool.run(packTask('execute', [], 0))))
  return {
    submit(operation, body, caller, params) {
      if (!flushing) {
        flushing = true
        setImmediate(flush)
      }
      return new Promise((resolve) => {
        queue.push({ operation, caller, body, params, since: performance.now(), resolve })
      })
    },
    load() {
      const waits = new Map<Operation, number>()
      for (const { operation } of queue) waits.set(operation, (waits.get(operation) ?? 0) + 1)
      return { waiting: waits, running }
    },
    setAuthority(authority) {
      boot.authority = authority
      tellAuthority()
    },
    owed: () => Atomics.load(owed, 0),
    async settled() {
      for (let left = Atomics.load(owed, 0); left > 0; left = Atomics.load(owed, 0))
        await Atomics.waitAsync(owed, 0, left).value
    },
    async close() {
      closing = true
      clearInterval(backstop)
      authorityChannel.close()
      await pool.destroy()
    },
  }
}

/** The longest run from the front that stays within BATCH_BYTES_MAX, one at least. */
function withinBytes(queued: readonly Waiting[]): readonly Waiting[] {
  let bytes = 0
  const over = queued.findIndex(({ body }, i) => (bytes += body.byteLength) > BATCH_BYTES_MAX && i > 0)
  return over === -1 ? queued : queued.slice(0, over)
}

/** Only an execution can have done something outside. */
function lost(operation: Operation, cause: string): WorkerReply {
  const failure = operation === 'execute' ? failures.outcomeUnknown(cause) : failures.internal(cause)
  return { ...replyOf(failure), log: { cause } }
}

function replyOf(failure: Failure): WorkerReply {
  return { status: failure.status, headers: failure.headers, body: failure.body(), log: {} }
}
