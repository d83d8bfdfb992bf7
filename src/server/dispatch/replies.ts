// Hands the replies of a lane's threads to the waiting requests, and reports to the metrics how long each stage took.
import type { Failure } from '../../core/errors/errors.ts'
import type { ThreadReplies, ThreadReply } from '../../core/threads/thread-messages.ts'
import type { Operation } from '../../core/operations/index.ts'
import type { Answer } from '../answer.ts'
import type { BatchWatch } from '../metrics/batches.ts'
import { endOf } from '../metrics/times.ts'
import type { Pending, SentBatch } from './pending.ts'

export interface Meter {
  /** Called before a request is sent; returns the failure of a client that has used up its budget since it came. */
  readonly refused: (operation: Operation, client: string) => Failure | undefined
  /** Called with the reply, which states the request's thread time. The bytes of the body are charged too. */
  readonly charge: (
    operation: Operation,
    request: { readonly client: string; readonly bytes: number },
    reply: ThreadReply,
  ) => void
}

interface Replies {
  /** Takes the replies that a batch came back with: all but those of deferred executions. */
  readonly ofBatch: (replies: ThreadReplies, batch: SentBatch<Answer>) => void
  /** Takes the replies of executions that had to wait longer than their batches. */
  readonly ofDeferred: (replies: ThreadReplies) => void
}

export function openReplies({
  pending,
  meter,
  watch,
}: {
  readonly pending: Pending<Answer>
  readonly meter: Meter
  readonly watch: BatchWatch | undefined
}): Replies {
  return {
    ofBatch({ threadId, replies, report }, batch) {
      if (report !== undefined) watch?.reported(report)
      const times = { sentMs: batch.sentMs, reports: report === undefined ? [] : [report] }
      batch.times = times
      batch.threadId = threadId
      // Piscina keeps the array of a finished task until V8's next full collection: without splice(0) all reply texts with it.
      for (const reply of replies.splice(0)) {
        const at = reply.ticket - batch.firstTicket
        const request = batch.requests[at]
        if (request !== undefined) meter.charge(batch.operation, request, reply)
        pending.answer(batch, at, { ...reply, times })
      }
    },
    ofDeferred({ replies, report }) {
      if (report !== undefined) watch?.reported(report)
      for (const reply of replies) {
        const batch = pending.find(reply.ticket)
        if (batch === undefined) continue
        const { times, firstTicket } = batch
        const [first] = times?.reports ?? []
        let answer: Answer = reply
        if (times !== undefined && first !== undefined && report !== undefined) {
          watch?.deferred(report.startedAt - endOf(first))
          answer = { ...reply, times: { ...times, reports: [first, report] } }
        }
        pending.answer(batch, reply.ticket - firstTicket, answer)
      }
    },
  }
}
