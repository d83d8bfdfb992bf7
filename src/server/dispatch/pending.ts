// The requests that the threads have. Replies name them by ticket, because a deferred execution is answered after its batch.
import type { Operation } from '../../core/operations/index.ts'
import type { RequestTimes } from '../metrics/times.ts'

/** A request that awaits its reply. */
export interface Waiter<Reply> {
  readonly client: string
  /** Size of the body. */
  readonly bytes: number
  readonly resolve: (reply: Reply) => void
}

interface SentRequest<Reply> {
  /** Kept after the answer: a client that was answered because its thread took too long is still charged when the thread comes back. */
  readonly client: string
  readonly bytes: number
  /** Undefined: answered. */
  resolve: Waiter<Reply>['resolve'] | undefined
}

/** A batch that a thread has, with consecutive tickets. */
export interface SentBatch<Reply> {
  readonly operation: Operation
  /** When the batch was sent, milliseconds of `performance.now()`. */
  readonly sentMs: number
  readonly firstTicket: number
  readonly requests: readonly SentRequest<Reply>[]
  /** How many requests are not answered yet. */
  left: number
  /** Set when the batch has come back; the remaining requests were deferred, by that thread. */
  times: RequestTimes | undefined
  threadId: number | undefined
}

export interface Pending<Reply> {
  /** Notes a batch that goes to a thread. Bodies are not kept: the thread has them. */
  readonly note: (
    operation: Operation,
    requests: readonly Waiter<Reply>[],
    sentMs: number,
  ) => SentBatch<Reply>
  /** @returns the batch that holds this ticket; undefined where all its requests are answered */
  readonly find: (ticket: number) => SentBatch<Reply> | undefined
  /** A second answer to the same request does nothing. */
  readonly answer: (batch: SentBatch<Reply>, at: number, reply: Reply) => void
  /** Answers the open requests of the batches that `isLost` names. */
  readonly giveUp: (
    isLost: (batch: SentBatch<Reply>) => boolean,
    reply: (operation: Operation) => Reply,
  ) => void
}

export function openPending<Reply>(): Pending<Reply> {
  const batches: SentBatch<Reply>[] = []
  let nextTicket = 0

  function answer(batch: SentBatch<Reply>, at: number, reply: Reply): void {
    const request = batch.requests[at]
    if (request?.resolve === undefined) return
    const { resolve } = request
    request.resolve = undefined
    if (--batch.left === 0) batches.splice(batches.indexOf(batch), 1)
    resolve(reply)
  }

  return {
    note(operation, requests, sentMs) {
      const batch: SentBatch<Reply> = {
        operation,
        sentMs,
        firstTicket: nextTicket,
        requests: requests.map(({ client, bytes, resolve }) => ({ client, bytes, resolve })),
        left: requests.length,
        times: undefined,
        threadId: undefined,
      }
      nextTicket += requests.length
      batches.push(batch)
      return batch
    },
    find: (ticket) =>
      batches.find(
        ({ firstTicket, requests }) => ticket >= firstTicket && ticket < firstTicket + requests.length,
      ),
    answer,
    giveUp(isLost, reply) {
      for (const batch of batches.filter(isLost))
        for (const at of batch.requests.keys()) answer(batch, at, reply(batch.operation))
    },
  }
}
