// What moves through a pipeline: requests in flight, and the answers of those that have ended.
import { Failure, failures, type Audited, type Ruling } from '../../src/core/errors.ts'
import type { BatchReport, Replies } from '../../src/core/messages.ts'

/** Who asks, with the scope that its key carries (interface §5.5). */
export interface Caller {
  readonly callerId: string
  /** Whose records it may read; null: everyone's. */
  readonly reads: string | null
  /** PEM, Ed25519: the human's step-up key. */
  readonly stepUpPublicKey?: string | undefined
  /** Unchecked only where authentication is disabled (decisions §2). */
  readonly scope:
    | 'unchecked'
    | { readonly principalIds: ReadonlySet<string>; readonly capabilities: 'all' | ReadonlySet<string> }
}

export interface Request {
  readonly ticket: number
  /** Thread time that its steps took so far, milliseconds. */
  costMs: number
  readonly caller: Caller
  readonly body: Uint8Array
  /** Of its path, where the operation needs them. */
  readonly params: Readonly<Record<string, string>>
  /** Of an execution, known once its body has been read and where it is a UUID: the log line has it. */
  businessTransactionId?: string | undefined
}

/** The end of a request: its reply, and what its log line should say. */
export class Answered {
  readonly request: Request
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly log: Readonly<Record<string, unknown>>
  readonly audit: Audited | undefined
  /** Of the policy that refused it. */
  readonly ruling: Ruling | undefined

  constructor(request: Request, reply: Failure | { body: string; status?: number; audit?: Audited }) {
    this.request = request
    this.audit = reply.audit
    const { businessTransactionId } = request
    const about = businessTransactionId === undefined ? {} : { businessTransactionId }
    if (reply instanceof Failure) {
      this.status = reply.status
      this.headers = reply.headers
      this.body = reply.body()
      this.log = {
        ...about,
        ...reply.log(),
        ...(reply.cause === undefined ? {} : { cause: describe(reply.cause) }),
      }
      this.ruling = reply.ruling
    } else {
      this.status = reply.status ?? 200
      this.headers = {}
      this.body = reply.body
      this.log = about
      this.ruling = undefined
    }
  }
}

/** @param batchSize how many shared the commit, for the log line */
export function packReplies(
  answered: readonly Answered[],
  batchSize: number,
  report: BatchReport | undefined,
): Replies {
  const replies = answered.map(({ request, status, headers, body, log, audit }) => {
    const { ticket, costMs } = request
    const reply = { ticket, status, headers, body, log: { ...log, batch: batchSize }, costMs }
    return audit === undefined ? reply : { ...reply, audit }
  })
  return report === undefined ? { replies } : { replies, report }
}

/** Every item carries the request that it started as. */
export interface InFlight {
  readonly request: Request
}

export function stillGoing<Item extends InFlight>(items: readonly (Item | Answered)[]): Item[] {
  return items.filter((item): item is Item => !(item instanceof Answered))
}

export function answeredOf(items: readonly (InFlight | Answered)[]): Answered[] {
  return items.filter((item) => item instanceof Answered)
}

/** Ends a pipeline: the text of an item that is still in flight is the body of its 200. */
export function arriveWithText(
  items: readonly ((InFlight & { readonly text: string }) | Answered)[],
): Answered[] {
  return items.map((item) =>
    item instanceof Answered ? item : new Answered(item.request, { body: item.text }),
  )
}

/** Runs one step for each item in flight. An item whose step throws ends by itself, by default as a bare 500. */
export function forward<In extends InFlight, Out extends InFlight>(
  items: readonly (In | Answered)[],
  step: (item: In) => Out | Failure,
  thrown: (cause: unknown) => Failure = failures.internal,
): (Out | Answered)[] {
  return items.map((item) => {
    if (item instanceof Answered) return item
    const startedMs = performance.now()
    try {
      return arrived(item, step(item))
    } catch (error) {
      return new Answered(item.request, thrown(error))
    } finally {
      item.request.costMs += performance.now() - startedMs
    }
  })
}

/** The same for a step that waits: for an ML-DSA signature on the libuv pool. Items do not wait for each other. */
export function forwardAsync<In extends InFlight, Out extends InFlight>(
  items: readonly (In | Answered)[],
  step: (item: In) => Promise<Out | Failure>,
  thrown: (cause: unknown) => Failure = failures.internal,
): Promise<(Out | Answered)[]> {
  return Promise.all(
    items.map(async (item) => {
      if (item instanceof Answered) return item
      const startedMs = performance.now()
      try {
        const working = step(item)
        // Up to its first wait; what a signature takes on the libuv pool is no time of this thread.
        item.request.costMs += performance.now() - startedMs
        return arrived(item, await working)
      } catch (error) {
        return new Answered(item.request, thrown(error))
      }
    }),
  )
}

function arrived<Out extends InFlight>(item: InFlight, result: Out | Failure): Out | Answered {
  return result instanceof Failure ? new Answered(item.request, result) : result
}

function describe(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
}
