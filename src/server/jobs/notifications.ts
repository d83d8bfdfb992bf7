// Sends the notifications of approval requests, on every instance (docs/handbook/approving.md "Be told").
import type { Job, JobResult } from 'pg-boss'
import { errorText } from '../../formats/text/error-text.ts'
import {
  addNotifications,
  notificationQueueName,
  type NotificationJob,
} from '../../store/queues/notification-queue.ts'
import type { Persons } from '../../formats/people/persons.ts'
import { readAskingRequests, readRequestsOfNotice } from '../../store/tables/approval-requests.ts'
import type { ConfiguredWay } from '../notifications/configuration.ts'
import { askAgain } from '../notifications/ask-again.ts'
import { askedOf, noticesOf } from '../notifications/notice.ts'
import { send, type NotSent } from '../notifications/send.ts'
import type { JobQueue } from './job-queue.ts'
import { openProblems, repeat } from './repeat.ts'

/** Jobs that are fetched at a time, and sent concurrently. */
const JOBS_MAX = 10
const POLL_SECONDS = 1
/** How often reminders and escalations are looked for. */
const ASK_AGAIN_EVERY_MS = 5_000
/** Attempts that fail one after the other before /ready says so. */
const FAILURES_SHOWN = 3

/** The shortest postponement, even if a chat asks for less: a postponed job does not count as an attempt, and ends with its requests. */
const POSTPONED_SECONDS_MIN = 60

const cannotBeMade = (error: unknown): NotSent => ({
  problem: `cannot be made: ${errorText(error)}`,
  waitSeconds: 0,
})

interface Notifying {
  /** Sentences for GET /ready. */
  readonly warnings: () => readonly string[]
  /** Ends the attempts under way; any instance makes them again later. */
  readonly close: () => void
}

/**
 * @param queue with the `notificationQueue` of each way
 * @param persons the current persons
 * @param consoleOrigin the origin of the links; undefined: messages name the command in place of a link
 * @param onAttempt called for each attempt
 */
export async function startNotifying({
  queue: { boss, pool },
  ways,
  persons,
  consoleOrigin,
  onAttempt = () => undefined,
  log,
}: {
  queue: Pick<JobQueue, 'boss' | 'pool'>
  ways: readonly ConfiguredWay[]
  persons: () => Persons
  consoleOrigin: () => string | undefined
  onAttempt?: ((outcome: 'sent' | 'failed') => void) | undefined
  log: { warn: (line: object, message: string) => void }
}): Promise<Notifying> {
  const closing = new AbortController()
  const failing = new Map<string, { count: number; problem: string }>()

  /** Never throws: that would fail the jobs that were fetched with it, and send messages again that are already sent. */
  async function notify(way: ConfiguredWay, { id, data }: Job<NotificationJob>): Promise<JobResult> {
    const failed = await attempt(way, data).catch((error: unknown) => cannotBeMade(error))
    if (failed === undefined) return { id, status: 'completed' }
    const { problem, waitSeconds } = failed
    if (!closing.signal.aborted) noteFailure(way, data, problem)
    const isLater = waitSeconds > 0 && (await postponed(way, data, waitSeconds))
    return isLater ? { id, status: 'completed' } : { id, status: 'failed', output: { problem } }
  }

  /** Adds another job, because pg-boss's retries know only their own pauses. After a crash behind it the message may come twice. */
  async function postponed(way: ConfiguredWay, job: NotificationJob, waitSeconds: number): Promise<boolean> {
    const ms = Math.max(waitSeconds, POSTPONED_SECONDS_MIN) * 1000
    const startAfter = new Date(Date.now() + ms).toISOString()
    return addNotifications(boss, pool, { ...job, startAfter }, [way]).then(
      () => true,
      () => false,
    )
  }

  /** @returns undefined once the message is sent, or if no approver is needed: every request was decided or has expired */
  async function attempt(
    way: ConfiguredWay,
    { requestId, again }: NotificationJob,
  ): Promise<NotSent | undefined> {
    const requests =
      again === undefined
        ? await readRequestsOfNotice(pool, requestId, persons())
        : askedOf(await readAskingRequests(pool, again.requestIds, persons()), again.why)
    const notices = noticesOf(requests, { ...way, consoleOrigin: consoleOrigin() }, again?.why)
    if (notices.length === 0) return undefined
    const id = again === undefined ? requestId : `${requestId}.${again.why}`
    const failed = await send(way, { id, notices }, closing.signal)
    if (failed !== undefined) return failed
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

  const problems = openProblems()
  void repeat(closing.signal, async () => {
    try {
      await askAgain({ pool, boss, ways })
      problems.become([])
    } catch (error) {
      if (!closing.signal.aborted)
        problems.become([errorText(error)], (reason) =>
          log.warn({ reason }, 'approvers are not told again of what is still open'),
        )
    }
    return ASK_AGAIN_EVERY_MS
  })

  return {
    warnings: () =>
      Array.from(failing, ([name, { count, problem }]) =>
        count < FAILURES_SHOWN ? [] : [`'${name}' did not notify approvers: the notification ${problem}.`],
      ).flat(),
    close: () => closing.abort(),
  }
}
