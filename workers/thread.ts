// The entry point of every worker thread, which Piscina loads: `boot` runs once, the function that it returns once for each batch.
// Holds the private keys and its own database connections.
import { setPriority } from 'node:os'
import { MessageChannel, parentPort, threadId } from 'node:worker_threads'
import { workerData } from 'piscina'
import { failures, type Failure } from '../src/core/errors/errors.ts'
import { failureOf } from '../src/core/errors/failure-of.ts'
import { watchLateness } from '../src/core/threads/lateness.ts'
import { blameLateThread } from './late-thread.ts'
import { finish } from './execute/index.ts'
import { openDeferred } from './execute/deferred.ts'
import { Finished, packReplies, type InFlight, type WorkerRequest } from './in-flight.ts'
import { followAuthority } from './authority/follow.ts'
import {
  unpackTask,
  type BatchReport,
  type Boot,
  type ThreadReady,
  type Task,
  type ThreadReplies,
  type ToThread,
  NOBODY,
} from '../src/core/threads/thread-messages.ts'
import type { Operation } from '../src/core/operations/index.ts'
import { openReports } from './report.ts'
import { openStopwatch, type Stopwatch } from './stopwatch.ts'
import { openHandlers } from './handlers.ts'
import { openThread } from './open-thread.ts'
import { ANONYMOUS, callersOfTokens, REVOKED, scopedCallers } from './scoped-callers.ts'

/** Linux's niceness of a background thread: where processors are short, executions, the front end and PostgreSQL come first. */
const BACKGROUND_NICENESS = 5

function boot(given: Boot) {
  const { lane, measured } = given
  // Elsewhere the priority is that of the whole process.
  if (lane === 'background' && process.platform === 'linux') setPriority(BACKGROUND_NICENESS)
  const lateness = watchLateness()
  const thread = openThread(given)
  const { port1: ours, port2: port } = new MessageChannel()
  let callers = scopedCallers(given, given.authority)
  const authority = followAuthority(given.authority, (state) => {
    callers = scopedCallers(given, state)
    thread.policies.replace(state.policies)
    thread.approvers.replace(state.approvers)
    thread.persons.replace(state.persons)
    thread.connectors.replaceExternal(state.externalConnectors)
    thread.webhookRules.replace(state.webhookRules)
  })
  const report = measured ? openReports(lane, thread.pool) : undefined
  ours.on('message', (message: ToThread) => {
    if (message.kind === 'authority') authority.put(message.state)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port between threads, not between windows
    else if (report !== undefined) ours.postMessage(report(message.asked))
  })
  ours.unref()
  const ready: ThreadReady = { threadId, port, pendingEvidence: thread.pendingCount }
  parentPort?.postMessage(ready, [port])
  const deferred = openDeferred(
    (performed, stopwatch) => finish(performed, thread, stopwatch),
    (answered, stopwatch) => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port between threads, not between windows
      parentPort?.postMessage(repliesOf(answered, answered.length, stopwatch))
    },
  )
  const callerIds = () => Array.from(callers.values(), ({ callerId }) => callerId)
  const handlers = openHandlers({ boot: given, thread, deferred, callerIds })

  return async function run(task: Task) {
    // openLane sends an empty batch to wait until the thread has booted.
    if (task.requests.length === 0) return { threadId, replies: [] }
    const takenMs = performance.now()
    await authority.untilInEffect(task.authorityEpoch)
    const stopwatch = openStopwatch()
    const batch: InFlight[] = []
    const revoked: InFlight[] = []
    const byToken = callersOfTokens()
    for (const { ticket, callerIndex, token, body, params = {} } of unpackTask(task)) {
      const caller =
        callerIndex === NOBODY ? ANONYMOUS : ((token && byToken(token)) ?? callers.get(callerIndex))
      const request: WorkerRequest = {
        ticket,
        takenMs,
        caller: caller ?? REVOKED,
        body,
        params,
        costMs: 0,
        // Here from the start: an object that gains a member changes its shape.
        businessTransactionId: undefined,
      }
      ;(caller === undefined ? revoked : batch).push({ request })
    }
    const answered = batch.length === 0 ? [] : await answers(task.operation, batch, stopwatch)
    // The key of their caller was revoked, or its token expired, while they waited for their turn.
    for (const { request } of revoked) answered.push(new Finished(request, failures.authenticationRequired()))
    return repliesOf(answered, batch.length, stopwatch)
  }

  async function answers(
    operation: Operation,
    batch: readonly InFlight[],
    stopwatch: Stopwatch,
  ): Promise<Finished[]> {
    try {
      return await handlers[operation](batch, stopwatch)
    } catch (error) {
      // For executions, reaching this catch means a bug. How far the batch got is not known, so every execution in it is answered 502.
      return batch.map(({ request }) => new Finished(request, lost(operation, error)))
    }
  }

  /** Every reply of this thread, of a batch and of deferred executions alike. */
  function repliesOf(answered: readonly Finished[], batchSize: number, stopwatch: Stopwatch): ThreadReplies {
    return packReplies(blameLateThread(answered, lateness), batchSize, reportOf(stopwatch))
  }

  /** A batch without stages has no report. */
  function reportOf({ times }: Stopwatch): BatchReport | undefined {
    if (times.ms.every((ms) => ms < 0)) return undefined
    // Without metrics the counts stay here, a few numbers for each policy.
    const outcomes = measured ? thread.outcomes.take() : undefined
    return outcomes === undefined ? times : { ...times, outcomes }
  }
}

/** Only an execution can have done something outside. */
function lost(operation: Operation, error: unknown): Failure {
  return operation === 'execute' ? failures.outcomeUnknown(error) : failureOf(error)
}

export default boot(workerData as Boot)
