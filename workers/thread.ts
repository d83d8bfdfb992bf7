// The entry point of every worker thread, which Piscina loads: `boot` runs once, the function that it returns once for each batch.
// Holds the private keys and its own database connections.
import { setPriority } from 'node:os'
import { MessageChannel, parentPort } from 'node:worker_threads'
import { workerData } from 'piscina'
import { callerKeys } from '../src/core/caller-keys.ts'
import { readableOwner, type Caller } from '../src/core/callers.ts'
import { failures, type Failure } from '../src/core/errors.ts'
import { failureOf } from '../src/core/failure-of.ts'
import { openJoinedQueue } from '../src/core/job-queue.ts'
import { watchLateness } from '../src/core/lateness.ts'
import { readLogKeys } from '../src/core/signing/log-keys.ts'
import { readSigningKeys } from '../src/core/signing/keys.ts'
import { readWitnessKeys } from '../src/core/signing/witness-keys.ts'
import { publishedKeys, type PublishedKeys } from '../src/core/signing/published.ts'
import { openCrypto } from '../src/core/signing/crypto.ts'
import { openStoreFault } from '../src/core/store-fault.ts'
import { notLogged, startLogBatch } from '../src/core/tables/log-queue.ts'
import { openPool } from '../src/core/tables/sql.ts'
import { readWitnessedLogs, readWitnesses } from '../src/core/witnesses.ts'
import { closeApprovalRequests } from './approval-requests/close.ts'
import { openApprovalRequests } from './approval-requests/open.ts'
import { deliverApprovals } from './authority/deliver-approval.ts'
import { openChangeKinds } from './authority/kinds.ts'
import { proposeChanges } from './authority/propose.ts'
import { resolveChanges } from './authority/resolve.ts'
import { openApprovers } from './approvers.ts'
import { blameLateThread } from './blame.ts'
import { connectionsOf } from './connections.ts'
import { openConnectors } from './connectors/index.ts'
import { openSemaphores } from './execute/prove-and-admit.ts'
import { recordAuditEvents } from './evidence/audit.ts'
import { verifyAuditEvents, verifyRefusals } from './evidence/check.ts'
import { issueReceipts } from './evidence/issue-receipts.ts'
import { replay } from './evidence/replay.ts'
import { verifyRecords } from './evidence/verify-records.ts'
import { execute, finish, type ExecutionContext } from './execute/index.ts'
import { openExistingStreams } from './existing.ts'
import { openDeferred } from './execute/deferred.ts'
import { openPendingEvidence } from './execute/pending-evidence.ts'
import { Finished, packReplies, type ScopedCaller, type InFlight, type WorkerRequest } from './in-flight.ts'
import { finalizeIntents } from './intents/finalize.ts'
import { askConnectors, concludeReadBacks } from './intents/read-back.ts'
import { resolveIntents } from './intents/resolve.ts'
import { sweepIntents } from './intents/sweep.ts'
import { openStreamHeads, proveComplete } from './log/completeness.ts'
import { openLogWork, sequenceLog } from './log/index.ts'
import { addCheckpoints, type Witness } from './log/witness.ts'
import { openPolicies } from './policies.ts'
import { evaluateInSandbox } from './sandbox/evaluate.ts'
import { simulate } from './sandbox/simulate.ts'
import { openWebhookJobs } from '../src/core/webhooks/queue.ts'
import { processWebhooks } from './webhooks/process.ts'
import { processAgain } from './webhooks/process-again.ts'
import { receiveWebhooks } from './webhooks/receive.ts'
import { openWebhookRules, type WebhookRules } from './webhooks/rules.ts'
import { openPolicyOutcomes } from './outcomes.ts'
import { manageEndpoints } from './events/manage.ts'
import { signEvents } from './events/sign.ts'
import { signSessions } from './console/sign-session.ts'
import { followAuthority } from './authority/follow.ts'
import {
  newestOrigin,
  unpackTask,
  type BatchReport,
  type Boot,
  type ThreadReady,
  type Operation,
  type Task,
  type ThreadReplies,
  NOBODY,
} from '../src/core/thread-messages.ts'
import { answerReports } from './report.ts'
import { openStopwatch, type Stopwatch } from './stopwatch.ts'

/** Linux's niceness of a background thread: where processors are short, executions, the front end and PostgreSQL come first. */
const BACKGROUND_NICENESS = 5

function boot(given: Boot) {
  const { lane, reportChannel } = given
  // Elsewhere the priority is that of the whole process.
  if (lane === 'background' && process.platform === 'linux') setPriority(BACKGROUND_NICENESS)
  const lateness = watchLateness()
  const thread = openThread(given)
  const { port1: ours, port2: authorityPort } = new MessageChannel()
  let callers = scopedCallers(given, given.authority)
  const inEffect = followAuthority(given.authority, ours, (authority) => {
    callers = scopedCallers(given, authority)
    thread.policies.replace(authority.policies)
    thread.approvers.replace(authority.approvers)
    thread.connectors.replaceExternal(authority.externalConnectors)
    thread.webhookRules.replace(authority.webhookRules)
  })
  parentPort?.postMessage({ authorityPort } satisfies ThreadReady, [authorityPort])
  if (reportChannel !== undefined) answerReports(reportChannel, lane, thread.pool)
  const deferredExecutions = openDeferred(
    (performed, watch) => finish(performed, thread, watch),
    (answered, watch) => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port between threads, not between windows
      parentPort?.postMessage(repliesOf(answered, answered.length, watch))
    },
  )
  const callerIds = () => Array.from(callers.values(), ({ callerId }) => callerId)
  const handlers = handlersOf(given, thread, deferredExecutions, callerIds)

  return async function run(task: Task) {
    // openLane sends an empty batch to wait until the thread has booted.
    if (task.requests.length === 0) return { replies: [] }
    const takenMs = performance.now()
    await inEffect(task.authorityEpoch)
    const watch = openStopwatch()
    const batch: InFlight[] = []
    const unknown: InFlight[] = []
    for (const { ticket, callerIndex, body, params = {} } of unpackTask(task)) {
      const caller = callerIndex === NOBODY ? ANONYMOUS : callers.get(callerIndex)
      const request: WorkerRequest = {
        ticket,
        takenMs,
        caller: caller ?? ANONYMOUS,
        body,
        params,
        costMs: 0,
        // Here from the start: an object that gains a member changes its shape.
        businessTransactionId: undefined,
      }
      ;(caller === undefined ? unknown : batch).push({ request })
    }
    const answered = batch.length === 0 ? [] : await answers(task.operation, batch, watch)
    // Their key was revoked while they waited for their turn.
    for (const { request } of unknown) answered.push(new Finished(request, failures.authenticationRequired()))
    return repliesOf(answered, batch.length, watch)
  }

  async function answers(
    operation: Operation,
    batch: readonly InFlight[],
    watch: Stopwatch,
  ): Promise<Finished[]> {
    try {
      return await handlers[operation](batch, watch)
    } catch (error) {
      // Reaching this catch means a bug. How far the batch got is not known, so every execution in it is answered 502.
      return batch.map(({ request }) => new Finished(request, lost(operation, error)))
    }
  }

  /** Every reply of this thread, of a batch and of deferred executions alike. */
  function repliesOf(answered: readonly Finished[], batchSize: number, watch: Stopwatch): ThreadReplies {
    return packReplies(blameLateThread(answered, lateness), batchSize, reportOf(watch))
  }

  /** A batch without stages has no report. */
  function reportOf({ times }: Stopwatch): BatchReport | undefined {
    if (times.ms.every((ms) => ms < 0)) return undefined
    // Without metrics the counts stay here, a few numbers for each policy.
    const outcomes = reportChannel === undefined ? undefined : thread.outcomes.take()
    return outcomes === undefined ? times : { ...times, outcomes }
  }
}

type Thread = ReturnType<typeof openThread>

/** What the handlers of this thread share: its connections, its keys, and the policies, approvers, connectors and webhook rules in effect. */
function openThread(given: Boot) {
  const { lane, config, database, evidenceLog, authority, pendingEvidenceCount, storeFaultMemory } = given
  const { signingKeyDir, hubspot, production } = config
  const pool = openPool(database, connectionsOf(lane))
  const { ed25519: key, receipt: signingKeys } = readSigningKeys(signingKeyDir, config.receiptAlgorithms)
  // A file that cannot be read is reported by the front end; here its key is unknown, and nothing verifies by it.
  const published = publishedKeys(signingKeyDir, { onError: () => undefined })
  const findKey = published.get
  const approvers = openApprovers(authority.approvers)
  const connectors = openConnectors({ hubspot, key, production })
  connectors.replaceExternal(authority.externalConnectors)
  const storeFault = openStoreFault(storeFaultMemory)
  const logging = {
    originName: evidenceLog?.name ?? 'countersign',
    logOrigin: () => evidenceLog && newestOrigin(evidenceLog),
    startLogBatch: evidenceLog === undefined ? () => notLogged : startLogBatch,
  }
  const policies = openPolicies(authority.policies)
  // Compiled before the first execution comes.
  if (lane === 'execution') policies.has('')
  return {
    ...logging,
    existingStreams: openExistingStreams({ policies, connectors, approvers }),
    pool,
    pendingEvidence: openPendingEvidence({
      ...logging,
      pool,
      key,
      count: pendingEvidenceCount,
      fault: storeFault,
    }),
    storeFault,
    policies,
    approvers,
    connectors,
    webhookRules: openWebhookRules(authority.webhookRules),
    semaphores: openSemaphores(),
    outcomes: openPolicyOutcomes(),
    signingKeys,
    key,
    published,
    findKey,
    batchSignatures: config.batchSignatures,
    intentCloseQuorum: config.intentCloseQuorum,
    crypto: openCrypto({ findKey, findApproverKey: approvers.find }),
  } satisfies ExecutionContext & { published: PublishedKeys; webhookRules: WebhookRules }
}

/** One handler for each operation: the list to add one to. */
function handlersOf(
  { lane, config, callers, evidenceLog, notificationWays }: Boot,
  thread: Thread,
  deferredExecutions: ReturnType<typeof openDeferred>,
  callerIds: () => readonly string[],
): Readonly<Record<Operation, Handler>> {
  const changeKinds = openChangeKinds({
    ownKeys: () => thread.published.jwks().keys.map(({ pem }) => pem),
    approverPasskeys: config.approverPasskeys,
    production: config.production,
    providers: Object.keys(config.webhookProviders),
    configuredCallers: callers,
    callerIds,
    logged: evidenceLog !== undefined,
  })
  const joinQueue = openJoinedQueue(thread.pool)
  const webhooks = {
    ...thread,
    webhookJobs: openWebhookJobs(joinQueue),
    webhookProviders: config.webhookProviders,
  }
  // The lane that sequences: no other thread needs the log's private keys.
  const log =
    lane === 'background' && evidenceLog !== undefined
      ? openLogWork({
          pool: thread.pool,
          keys: readLogKeys(config.signingKeyDir),
          dataDir: config.dataDir,
          onLog: (newest) => Atomics.store(evidenceLog.number, 0, newest),
        })
      : undefined
  const heads = openStreamHeads()
  const required = readWitnesses(config)?.required
  const witness: Witness | undefined =
    lane === 'background' && config.witness !== undefined
      ? {
          name: config.witness.name,
          keys: readWitnessKeys(config.signingKeyDir),
          logs: readWitnessedLogs(config.witness.logsFile),
          pool: thread.pool,
          nowMs: Date.now,
        }
      : undefined
  return {
    async execute(batch, watch) {
      const { answered, deferred } = await execute(batch, thread, watch)
      deferredExecutions.add(deferred)
      return answered
    },
    verify: (batch) => verifyRecords(batch, thread),
    receipt: (batch) => issueReceipts(batch, thread),
    replay: (batch) => replay(batch, thread),
    'verify-refusal': async (batch) => verifyRefusals(batch, thread),
    'verify-audit-event': async (batch) => verifyAuditEvents(batch, thread),
    'propose-change': (batch) => proposeChanges(batch, { ...thread, changeKinds }),
    'resolve-change': (batch) => resolveChanges(batch, { ...thread, changeKinds }),
    'deliver-approval': (batch) => deliverApprovals(batch, thread),
    'open-approval-request': (batch) =>
      openApprovalRequests(batch, { ...thread, notificationWays, joinQueue }),
    'close-approval-request': (batch) => closeApprovalRequests(batch, thread),
    'record-audit-event': (batch) => recordAuditEvents(batch, thread),
    evaluate: (batch) => evaluateInSandbox(batch, thread),
    simulate: (batch) => simulate(batch, thread),
    'sweep-intents': (batch) => sweepIntents(batch, thread),
    'ask-connector': (batch) => askConnectors(batch, thread),
    'conclude-read-back': (batch) => concludeReadBacks(batch, thread),
    'sequence-log': (batch) => sequenceLog(batch, log),
    'prove-complete': (batch) => proveComplete(batch, { pool: thread.pool, heads, required }),
    'add-checkpoint': (batch) => addCheckpoints(batch, witness),
    'resolve-intent': (batch) => resolveIntents(batch, thread),
    'finalize-intent': (batch) => finalizeIntents(batch, thread),
    'receive-webhook': (batch) => receiveWebhooks(batch, webhooks),
    'process-webhook-again': (batch) => processAgain(batch, webhooks),
    'process-webhooks': (batch) => processWebhooks(batch, webhooks),
    'manage-event-endpoint': (batch) => manageEndpoints(batch, thread),
    'sign-events': (batch) => signEvents(batch, thread),
    'sign-session': async (batch) => signSessions(batch, thread),
  }
}

type Handler = (batch: readonly InFlight[], watch: Stopwatch) => Promise<Finished[]>

/** Only an execution can have done something outside. */
function lost(operation: Operation, error: unknown): Failure {
  return operation === 'execute' ? failures.outcomeUnknown(error) : failureOf(error)
}

const ANONYMOUS: ScopedCaller = { callerId: 'anonymous', reads: null, scope: 'unchecked' }

/** By `CallerKey.index`. */
function scopedCallers(
  { callers }: Pick<Boot, 'callers'>,
  authority: Boot['authority'],
): ReadonlyMap<number, ScopedCaller> {
  const { inEffect } = callerKeys(callers, authority.callerKeys)
  return new Map(inEffect.map(({ caller, index }) => [index, scopedCaller(caller)]))
}

function scopedCaller(caller: Caller): ScopedCaller {
  return {
    callerId: caller.callerId,
    reads: readableOwner(caller),
    stepUpPublicKey: caller.stepUpPublicKey,
    stepUpPasskey: caller.stepUpPasskey,
    approverId: caller.approverId,
    scope: {
      principalIds: new Set(caller.allowedPrincipalIds),
      capabilities: caller.unrestrictedCapabilities ? 'all' : new Set(caller.allowedCapabilities),
    },
  }
}

export default boot(workerData as Boot)
