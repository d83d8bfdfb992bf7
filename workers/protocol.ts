// The only types that cross between the door and the worker threads, and how bodies are packed to cross by transfer.
import type { Caller, Config } from '../src/config.ts'
import type { PolicyVersionRow } from '../src/tables/policy-versions.ts'

/** What a thread is started with. */
export interface Boot {
  readonly config: Config
  /** Connection string. */
  readonly database: string
  /** Configured, or made by the first start. */
  readonly callers: readonly Caller[]
  /** As the database holds them. Given, not read: a thread that replaces one must not need a database to boot. */
  readonly policies: readonly PolicyVersionRow[]
}

/** One batch of requests: every body in one buffer that is transferred, not copied. */
export interface Task {
  readonly bodies: Uint8Array<ArrayBuffer>
  readonly requests: readonly TaskRequest[]
}

export interface TaskRequest {
  /** The door's own number for the request; its reply names it. */
  readonly ticket: number
  /** Index into `Boot.callers`; -1 is `anonymous`. */
  readonly caller: number
  /** Where its body ends in `bodies`; it starts where the one before ends. */
  readonly end: number
}

/** Finished requests, in any order; those still waiting for their connector follow in a later one. */
export interface Replies {
  readonly bodies: Uint8Array<ArrayBuffer>
  readonly replies: readonly TaskReply[]
}

export interface TaskReply {
  readonly ticket: number
  /** 200 is a trust record: POST /transactions answers it as 201. */
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Where its body ends in `bodies`. */
  readonly end: number
  /** For the request's log line. */
  readonly log: Readonly<Record<string, unknown>>
}

export interface QueuedRequest {
  readonly ticket: number
  readonly caller: number
  readonly body: Uint8Array
}

export function packTask(queued: readonly QueuedRequest[]): Task {
  const bodies = new Uint8Array(queued.reduce((sum, { body }) => sum + body.byteLength, 0))
  let end = 0
  const requests = queued.map(({ ticket, caller, body }) => {
    bodies.set(body, end)
    end += body.byteLength
    return { ticket, caller, end }
  })
  return { bodies, requests }
}

export function unpackTask({ bodies, requests }: Task): QueuedRequest[] {
  return requests.map(({ ticket, caller, end }, i) => ({
    ticket,
    caller,
    body: slice(bodies, requests, i, end),
  }))
}

export interface AnsweredRequest {
  readonly request: { readonly ticket: number }
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly log: Readonly<Record<string, unknown>>
}

/** in  batchSize  how many shared the commit, for the log line */
export function packReplies(answered: readonly AnsweredRequest[], batchSize: number): Replies {
  const sizes = answered.map(({ body }) => Buffer.byteLength(body))
  const bodies = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0))
  const target = Buffer.from(bodies.buffer)
  let end = 0
  const replies = answered.map(({ request, status, headers, body, log }) => {
    end += target.write(body, end)
    return { ticket: request.ticket, status, headers, end, log: { ...log, batch: batchSize } }
  })
  return { bodies, replies }
}

export interface UnpackedReply extends TaskReply {
  readonly body: Uint8Array
}

export function unpackReplies({ bodies, replies }: Replies): UnpackedReply[] {
  return replies.map((reply, i) => ({ ...reply, body: slice(bodies, replies, i, reply.end) }))
}

function slice(bodies: Uint8Array, ends: readonly { end: number }[], i: number, end: number): Uint8Array {
  return bodies.subarray(ends[i - 1]?.end ?? 0, end)
}
