// Requests in flight, and the answers of those that have ended, move through the stages of an operation.
import { threadId } from 'node:worker_threads'
import { answerOf, Failure, failures, type Audited, type PlainAnswer } from '../src/core/errors/errors.ts'
import type { StepUpPasskey } from '../src/formats/people/caller.ts'
import type { CallerAuthentication } from '../src/formats/schemas/caller-authentication.ts'
import type { BatchReport, PathParams, ThreadReplies } from '../src/core/threads/thread-messages.ts'

/** The caller of a request, with the scope that its key carries (interface §5.5). */
export interface ScopedCaller {
  readonly callerId: string
  /** The owner whose records it may read; null: everyone's. */
  readonly reads: string | null
  /** PEM, Ed25519: the human's step-up key. */
  readonly stepUpPublicKey?: string | undefined
  readonly stepUpPasskey?: StepUpPasskey | undefined
  /** The approver that the human is. */
  readonly approverId?: string | undefined
  /** Present for a caller by token. */
  readonly authentication?: CallerAuthentication | undefined
  /** Unchecked where authentication is disabled (decisions §2), and for requests without a caller: open routes and the service's own work. */
  readonly scope:
    | 'unchecked'
    | { readonly principalIds: ReadonlySet<string>; readonly capabilities: 'all' | ReadonlySet<string> }
}

export interface WorkerRequest {
  readonly ticket: number
  /** When this thread took it, milliseconds of `performance.now()`. */
  readonly takenMs: number
  /** Thread time that its stages took so far, milliseconds. */
  costMs: number
  readonly caller: ScopedCaller
  readonly body: Uint8Array
  /** The path parameters, where the operation needs them. */
  readonly params: PathParams
  /** Set for an execution once its body has been read and the id is a UUID: the log line has it. */
  businessTransactionId?: string | undefined
}

/** The answer to a request that did not fail; its status is 200 by default. */
export interface Success {
  readonly body: string
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly audit?: Audited | undefined
  /** Further members of the log line. */
  readonly log?: Record<string, string>
}

/** The end of a request: its answer. */
export class Finished {
  readonly request: WorkerRequest
  readonly answer: PlainAnswer

  constructor(request: WorkerRequest, reply: Failure | Success) {
    const { businessTransactionId } = request
    const about = businessTransactionId === undefined ? {} : { businessTransactionId }
    const answer = reply instanceof Failure ? answerOf(reply) : { status: 200, headers: {}, ...reply }
    this.request = request
    this.answer = { ...answer, log: { ...about, ...answer.log } }
  }
}

/** @param batchSize how many requests the batch has, for the log line */
export function packReplies(
  answered: readonly Finished[],
  batchSize: number,
  report: BatchReport | undefined,
): ThreadReplies {
  const replies = answered.map(({ request: { ticket, costMs }, answer }) => {
    return { ...answer, log: { ...answer.log, batch: batchSize }, ticket, costMs }
  })
  return report === undefined ? { threadId, replies } : { threadId, replies, report }
}

/** Every item carries the request that it started as. */
export interface InFlight {
  readonly request: WorkerRequest
}

export function stillGoing<Item extends InFlight>(items: readonly (Item | Finished)[]): Item[] {
  return items.filter((item): item is Item => !(item instanceof Finished))
}

export function finishedOf(items: readonly (InFlight | Finished)[]): Finished[] {
  return items.filter((item) => item instanceof Finished)
}

/** Ends an operation: the text of an item that is still in flight is the body of its 200. */
export function finishWithText(
  items: readonly ((InFlight & { readonly text: string }) | Finished)[],
): Finished[] {
  return items.map((item) =>
    item instanceof Finished ? item : new Finished(item.request, { body: item.text }),
  )
}

/** Runs one stage for each item in flight. If a stage throws, only its item ends, by default with a bare 500. */
export function runStage<In extends InFlight, Out extends InFlight>(
  items: readonly (In | Finished)[],
  stage: (item: In) => Out | Failure,
  thrown: (cause: unknown) => Failure = failures.internal,
): (Out | Finished)[] {
  return items.map((item) => {
    if (item instanceof Finished) return item
    const startedMs = performance.now()
    try {
      return settle(item, stage(item))
    } catch (error) {
      return new Finished(item.request, thrown(error))
    } finally {
      item.request.costMs += performance.now() - startedMs
    }
  })
}

/**
 * Runs one stage for all items in flight at once, such as a signature that they share. If it throws, all of them end.
 * @param stage answers in the order of its items; a stage that has not one product for each item is a mistake of ours, and ends them all
 */
export async function runTogether<In extends InFlight, Out extends InFlight>(
  items: readonly (In | Finished)[],
  stage: (items: readonly In[]) => Promise<readonly Out[]>,
  thrown: (cause: unknown) => Failure = failures.internal,
): Promise<(Out | Finished)[]> {
  const inFlight = stillGoing(items)
  if (inFlight.length === 0) return finishedOf(items)
  try {
    // Only the work before the first await is counted as this thread's time; most of the rest is waiting.
    const startedMs = performance.now()
    const working = stage(inFlight)
    const shareMs = (performance.now() - startedMs) / inFlight.length
    for (const { request } of inFlight) request.costMs += shareMs
    return inTheirPlaces(items, await working)
  } catch (error) {
    return items.map((item) => (item instanceof Finished ? item : new Finished(item.request, thrown(error))))
  }
}

/**
 * Puts the product of each item in flight in the item's place.
 * @param products in the order of those items
 * @throws Error where their number differs: a mistake of ours
 */
export function inTheirPlaces<Out>(
  items: readonly (InFlight | Finished)[],
  products: readonly Out[],
): (Out | Finished)[] {
  const inFlight = items.filter((item) => !(item instanceof Finished)).length
  if (products.length !== inFlight)
    throw new Error(`a stage has ${products.length} products of ${inFlight} items`)
  const next = products.values()
  return items.map((item) => (item instanceof Finished ? item : (next.next().value as Out)))
}

function settle<Out extends InFlight>(item: InFlight, result: Out | Failure): Out | Finished {
  return result instanceof Failure ? new Finished(item.request, result) : result
}
