// Sends the notifications of approval requests, on every instance (docs/handbook/approving.md "Be told").
import type { Job, JobResult } from 'pg-boss'
import { errorText } from '../../core/error-text.ts'
import { notificationQueueName, type NotificationJob } from '../../core/notification-queue.ts'
import { readRequestsOfNotice } from '../../core/tables/approval-requests.ts'
import type { ConfiguredWay } from '../notifications/configuration.ts'
import { noticesOf } from '../notifications/notice.ts'
import { send } from '../notifications/send.ts'
import type { JobQueue } from './job-queue.ts'

/** Fetched at a time, and sent beside each other. */
const JOBS_MAX = 10
const POLL_SECONDS = 1
/** Attempts that fail one after the other before /ready says so. */
const FAILURES_SHOWN = 3

interface Notifying {
  /** Sentences for GET /ready. */
  readonly warnings: () => readonly string[]
  /** Ends the attempts under way; they are made again later, by whichever instance. */
  readonly close: () => void
}

/**
 * @param queue with the `notificationQueue` of each way
 * @param consoleOrigin where the links go; undefined: messages name the command in place of a link
 * @param onAttempt called for each attempt
 */
export async function startNotifying({
  queue: { boss, pool },
  ways,
  consoleOrigin,
  onAttempt = () => undefined,
  log,
}: {
  queue: Pick<JobQueue, 'boss' | 'pool'>
  ways: readonly ConfiguredWay[]
  consoleOrigin: () => string | undefined
  onAttempt?: ((outcome: 'sent' | 'failed') => void) | undefined
  log: { warn: (line: object, message: string) => void }
}): Promise<Notifying> {
  const closing = new AbortController()
  const failing = new Map<string, { count: number; problem: string }>()

  /** Never throws, which would fail the jobs that were fetched with it and send what is sent already again. */
  async function notify(way: ConfiguredWay, { id, data }: Job<NotificationJob>): Promise<JobResult> {
    const problem = await attempt(way, data).catch((error: unknown) => `cannot be made: ${errorText(error)}`)
    if (problem === undefined) return { id, status: 'completed' }
    if (!closing.signal.aborted) noteFailure(way, data, problem)
    return { id, status: 'failed', output: { problem } }
  }

  /** @returns undefined once it is sent, or nobody is needed any more: all was decided, or is over */
  async function attempt(way: ConfiguredWay, { requestId }: NotificationJob): Promise<string | undefined> {
    const requests = await readRequestsOfNotice(pool, requestId)
    const notices = noticesOf(requests, { ...way, consoleOrigin: consoleOrigin() })
    if (notices.length === 0) return undefined
    const problem = await send(way, { id: requestId, notices }, closing.signal)
    if (problem !== undefined) return problem
    failing.delete(way.name)
    onAttempt('sent')
    return undefined
  }

  function noteFailure({ name }: ConfiguredWay, { requestId }: NotificationJob, problem: string): void {
    onAttempt('failed')
    failing.set(name, { count: (failing.get(name)?.count ?? 0) + 1, problem })
    log.warn({ notification: name, requestId, reason: problem }, 'notification')
  }

  for (const way of ways)
    await boss.work(
      notificationQueueName(way),
      { batchSize: JOBS_MAX, pollingIntervalSeconds: POLL_SECONDS, perJobResults: true },
      (jobs: Job<NotificationJob>[]) => Promise.all(jobs.map((job) => notify(way, job))),
    )

  return {
    warnings: () =>
      Array.from(failing, ([name, { count, problem }]) =>
        count < FAILURES_SHOWN ? [] : [`Approvers are not told by '${name}': the notification ${problem}.`],
      ).flat(),
    close: () => closing.abort(),
  }
}
