// The messages between the front end and the worker threads, and the packing of request bodies for transfer.
import type { MessagePort } from 'node:worker_threads'
import type { AuthorityState } from '../callers/authority-state.ts'
import type { Caller } from '../../formats/people/caller.ts'
import type { VerifiedToken } from '../callers/caller-keys.ts'
import type { Config } from '../config/config.ts'
import type { PlainAnswer, RefusalKind } from '../errors/errors.ts'
import type { LoopReport } from './event-loop.ts'
import type { NotificationWay } from '../../store/queues/notification-queue.ts'
import type { LaneName, Operation } from '../operations/index.ts'
import type { EvidenceFaultMemory } from './evidence-fault.ts'

/**
 * Batches that an execution thread has in flight: one; a second when requests have waited some milliseconds, because the first may be with a
 * slow database; and a third when a full batch waits, because under full load both are often with the database.
 */
export const EXECUTION_BATCHES = { batchesPerThread: 2, fullBatchesPerThread: 1, formMs: 4 }

/** The data that a thread starts with. */
export interface Boot {
  readonly lane: LaneName
  readonly config: Config
  /** Connection string. */
  readonly database: string
  /** Configured, or made by the first start; `authority` has governance's decisions on them, and further callers. */
  readonly callers: readonly Caller[]
  /** Undefined: LOG=off. */
  readonly evidenceLog: EvidenceLog | undefined
  /** A copy of the database's state. It is passed, not read: a thread that replaces another must not need a database to boot. */
  readonly authority: AuthorityState
  /** Shared by the threads of the instance: the fault that stops executions (src/core/threads/evidence-fault.ts). */
  readonly evidenceFaultMemory: EvidenceFaultMemory
  /** The ways in which approvers are notified of approval requests. */
  readonly notificationWays: readonly NotificationWay[]
  /** Whether metrics are served: then the thread reports its state, and counts outcomes. */
  readonly measured: boolean
}

/** The newest log of the database: `<name>/log/<number>`. */
export interface EvidenceLog {
  /** Also the prefix of `/batch/` in the origins of batches. */
  readonly name: string
  /** Its number, shared by the threads of the instance. The thread that ticks reads it at each tick, so that a reopened log needs no restart. */
  readonly number: Int32Array<SharedArrayBuffer>
}

/** The origin of the log in which receipts promise their inclusion. */
export function newestOrigin({ name, number }: EvidenceLog): string {
  return `${name}/log/${Atomics.load(number, 0)}`
}

/** The message of a thread that has booted. */
export interface ThreadReady {
  /** Node's number of the thread, which its replies contain. */
  readonly threadId: number
  /** The port on which the thread takes each `ToThread`, and answers each question. */
  readonly port: MessagePort
  /** The thread's counter of executions whose evidence is not stored yet, shared with the main thread. */
  readonly pendingEvidence: PendingCount
}

/** One number that two threads share. */
export type PendingCount = Int32Array<SharedArrayBuffer>

/** The messages besides tasks. */
export type ToThread =
  | { readonly kind: 'authority'; readonly state: AuthorityState }
  /** `asked` identifies the question: the `ThreadReport` repeats it. */
  | { readonly kind: 'report'; readonly asked: number }

/** The answer of a thread to a question. */
export interface ThreadReport {
  readonly asked: number
  /** The thread's lane and number, `execution-1`. */
  readonly thread: string
  readonly loop: LoopReport
  readonly pool: PoolUse
}

export interface PoolUse {
  readonly total: number
  readonly idle: number
  /** Requests that wait for a connection. */
  readonly waiting: number
}

/** One batch of requests for one operation: every body in one buffer that is transferred, not copied. */
export interface Task {
  readonly operation: Operation
  /** The `epoch` of the authority in effect when the task is sent: the thread uses no older authority. */
  readonly authorityEpoch: string
  readonly bodies: Uint8Array<ArrayBuffer>
  readonly requests: readonly PackedRequest[]
}

interface PackedRequest {
  /** The number of the request, which its reply repeats. */
  readonly ticket: number
  readonly callerIndex: number
  readonly token?: VerifiedToken
  readonly params?: PathParams
  /** End of the request's body in `bodies`; it starts at the end of the previous body. */
  readonly end: number
}

export type PathParams = Readonly<Record<string, string>>

/** Finished requests, in any order; requests that still wait for their connector follow in a later message. */
export interface ThreadReplies {
  /** As in `ThreadReady`: requests that a batch has deferred are lost with their thread. */
  readonly threadId: number
  readonly replies: ThreadReply[]
  /** Only executions have a report. */
  readonly report?: BatchReport
}

/** The `callerIndex` of a request without a caller: an open route, or the service itself. */
export const NOBODY = -1

/** The stages of the pipeline, in order (workers/execute/index.ts), as metrics and Server-Timing name them: `admit` is the claim. */
export const stageNames = [
  'validate',
  'decide',
  'gate',
  'admit',
  'perform',
  'seal',
  'verify',
  'receipt',
  'store',
] as const
export type StageName = (typeof stageNames)[number]

/** The stages that a batch went through, one right after the other. */
export interface StageTimes {
  /** Start of the first stage, milliseconds since the epoch. */
  readonly startedAt: number
  /** Milliseconds of each stage, in the order of `stageNames`; -1 for stages that were not reached. Plain numbers cost least to send. */
  readonly ms: readonly number[]
}

export type PolicyOutcome = 'approved' | RefusalKind

export interface PolicyOutcomeCount extends Readonly<Record<PolicyOutcome, number>> {
  /** The policy's name. */
  readonly policy: string
}

export interface BatchReport extends StageTimes {
  /** Counted in this thread since its last report. */
  readonly outcomes?: readonly PolicyOutcomeCount[]
}

/**
 * The body is text, which is copied when it is sent. A transferred buffer counts as external memory of the main thread, of which V8 tolerates some
 * megabytes before a full collection: above a thousand replies a second that was every 1.4 seconds.
 */
export interface ThreadReply extends PlainAnswer {
  readonly ticket: number
  /** Milliseconds of thread time that the request took. */
  readonly costMs: number
}

/** One request as the dispatcher hands it to a thread. */
export interface ThreadRequest {
  readonly operation: Operation
  /** The index of a `CallerKey`; -1 is `anonymous`. */
  readonly callerIndex: number
  /** Set when `callerIndex` is BY_TOKEN. */
  readonly token?: VerifiedToken | undefined
  readonly body: Uint8Array
  /** The path parameters, if the operation needs them. */
  readonly params?: PathParams | undefined
}

/** @param firstTicket the ticket of the first request; the others count up from it */
export function packTask(
  { operation, authorityEpoch }: Pick<Task, 'operation' | 'authorityEpoch'>,
  queued: readonly ThreadRequest[],
  firstTicket: number,
): Task {
  const bodies = new Uint8Array(queued.reduce((sum, { body }) => sum + body.byteLength, 0))
  let end = 0
  const requests = queued.map(({ callerIndex, token, body, params }, i) => {
    bodies.set(body, end)
    end += body.byteLength
    const ticket = firstTicket + i
    const request = params === undefined ? { ticket, callerIndex, end } : { ticket, callerIndex, params, end }
    // The same object for all requests of a token: a message holds an object once, however often it is referenced.
    return token === undefined ? request : { ...request, token }
  })
  return { operation, authorityEpoch, bodies, requests }
}

export function unpackTask({ bodies, requests }: Task) {
  return requests.map(({ end, ...request }, i) => ({
    ...request,
    body: bodies.subarray(requests[i - 1]?.end ?? 0, end),
  }))
}
