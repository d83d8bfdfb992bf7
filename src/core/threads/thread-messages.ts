// The messages between the front end and the worker threads, and how the bodies of requests are packed to cross by transfer.
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
 * Batches that an execution thread has in flight: one, a second where requests have waited some milliseconds, because the first may be with a
 * slow database, and a third where as many wait as it can hold, because under full load both are often there.
 */
export const EXECUTION_BATCHES = { batchesPerThread: 2, fullBatchesPerThread: 1, formMs: 4 }

/** The data that a thread starts with. */
export interface Boot {
  readonly lane: LaneName
  readonly config: Config
  /** Connection string. */
  readonly database: string
  /** Configured, or made by the first start; `authority` has what governance says of them, and further ones. */
  readonly callers: readonly Caller[]
  /** Undefined: LOG=off. */
  readonly evidenceLog: EvidenceLog | undefined
  /** As the database holds it. Given, not read: a thread that replaces one must not need a database to boot. */
  readonly authority: AuthorityState
  /** Shared by the threads of the instance: why nothing is executed any more (src/core/threads/evidence-fault.ts). */
  readonly evidenceFaultMemory: EvidenceFaultMemory
  /** How approvers are told of approval requests. */
  readonly notificationWays: readonly NotificationWay[]
  /** Whether metrics are served: the thread is asked how it fares, and counts outcomes. */
  readonly measured: boolean
}

/** The newest log of the database: `<name>/log/<number>`. */
export interface EvidenceLog {
  /** Stands before `/batch/` in the origins of batches too. */
  readonly name: string
  /** Its number, shared by the threads of the instance: the one that ticks looks at each tick, so that a reopened log needs no restart. */
  readonly number: Int32Array<SharedArrayBuffer>
}

/** The origin that receipts promise their inclusion in. */
export function newestOrigin({ name, number }: EvidenceLog): string {
  return `${name}/log/${Atomics.load(number, 0)}`
}

/** The message of a thread that has booted. */
export interface ThreadReady {
  /** Node's number of the thread, which its replies carry. */
  readonly threadId: number
  /** It takes each `ToThread` there, and answers each question. */
  readonly port: MessagePort
  /** Its counter of executions whose evidence is not stored yet, shared with the main thread. */
  readonly pendingEvidence: PendingCount
}

/** One number, shared by two threads. */
export type PendingCount = Int32Array<SharedArrayBuffer>

/** The messages beside the work. */
export type ToThread =
  | { readonly kind: 'authority'; readonly state: AuthorityState }
  /** Which question this is: the `ThreadReport` names it. */
  | { readonly kind: 'report'; readonly asked: number }

/** The answer of a thread to a question. */
export interface ThreadReport {
  readonly asked: number
  /** Its lane and its number, `execution-1`. */
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
  /** The `epoch` of the authority that is in effect when it is sent: the thread works by no older one. */
  readonly authorityEpoch: string
  readonly bodies: Uint8Array<ArrayBuffer>
  readonly requests: readonly PackedRequest[]
}

interface PackedRequest {
  /** The number of the request, by which its reply names it. */
  readonly ticket: number
  readonly callerIndex: number
  readonly token?: VerifiedToken
  readonly params?: PathParams
  /** Where its body ends in `bodies`; it starts where the one before ends. */
  readonly end: number
}

export type PathParams = Readonly<Record<string, string>>

/** Finished requests, in any order; those still waiting for their connector follow in a later one. */
export interface ThreadReplies {
  /** As in `ThreadReady`: what a batch has deferred is lost with its thread. */
  readonly threadId: number
  readonly replies: ThreadReply[]
  /** Only executions have one. */
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

/** The stages that a batch went through, each right after the other. */
export interface StageTimes {
  /** When the first one began, milliseconds since the epoch. */
  readonly startedAt: number
  /** How many milliseconds each took, in the order of `stageNames`; -1 for those it did not come to. Bare numbers cross cheapest. */
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
 * The body is text, which is copied on its way. A buffer that is transferred belongs to the main thread's external memory, of which V8 lets some
 * megabytes pass before it collects everything: above a thousand replies a second that was every 1.4 seconds.
 */
export interface ThreadReply extends PlainAnswer {
  readonly ticket: number
  /** Milliseconds of thread time that it took. */
  readonly costMs: number
}

/** One request as the dispatcher hands it to a thread. */
export interface ThreadRequest {
  readonly operation: Operation
  /** The index of a `CallerKey`; -1 is `anonymous`. */
  readonly callerIndex: number
  /** Set where that is BY_TOKEN. */
  readonly token?: VerifiedToken | undefined
  readonly body: Uint8Array
  /** The path parameters, where the operation needs them. */
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
    // The same object for all requests of a token: a message holds an object once, however often it stands there.
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
