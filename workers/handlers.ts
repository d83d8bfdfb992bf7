// The handlers of a worker thread, one for each operation.
import type { Pool } from 'pg'
import { openJoinedQueue } from '../src/store/queues/job-queue.ts'
import { fillCatalogue } from '../src/core/catalogue/follow.ts'
import { openDocuments } from '../src/core/catalogue/row.ts'
import { signSession } from '../src/core/callers/console-session.ts'
import { readLogKeys } from '../src/core/signing/log-keys.ts'
import { readWitnessKeys } from '../src/core/signing/witness-keys.ts'
import { auditEvent } from '../src/formats/artifacts/audit-event.ts'
import { refusalRecord } from '../src/formats/artifacts/refusal-record.ts'
import { readWitnessedLogs, readWitnesses } from '../src/core/config/witnesses.ts'
import { answerEach, answerOwn } from './answer-each.ts'
import { declineOrWithdraw } from './approval-requests/close.ts'
import { judgeRequest } from './approval-requests/judgement.ts'
import { writeNote } from './approval-requests/note.ts'
import { openApprovalRequest } from './approval-requests/open.ts'
import { checkPolicy } from './authority/check-policy.ts'
import { keepLoginPasskey } from './console/login-passkeys.ts'
import { deliverApproval } from './authority/deliver-approval.ts'
import { openChangeKinds } from './authority/kinds.ts'
import { proposeChange } from './authority/propose.ts'
import { resolveChange } from './authority/resolve.ts'
import { showChange } from './authority/show-change.ts'
import { recordAuditEvents } from './evidence/audit.ts'
import { checkEvidence } from './evidence/check.ts'
import { issueReceipts } from './evidence/issue-receipts.ts'
import { replay } from './evidence/replay.ts'
import { verifyRecords } from './evidence/verify-records.ts'
import { execute } from './execute/index.ts'
import type { Deferred } from './execute/deferred.ts'
import type { Finished, InFlight } from './in-flight.ts'
import { finalizeIntent } from './intents/finalize.ts'
import { askConnector, concludeReadBack } from './intents/read-back.ts'
import { resolveIntent } from './intents/resolve.ts'
import { sweepIntents } from './intents/sweep.ts'
import { openStreamHeads, proveComplete } from './log/completeness.ts'
import { openLogWork, sequenceLog, type LogWork } from './log/index.ts'
import { addCheckpoints, type Witness } from './log/witness.ts'
import { evaluateInSandbox } from './sandbox/evaluate.ts'
import { simulate } from './sandbox/simulate.ts'
import { openWebhookJobs } from '../src/store/queues/webhook-queue.ts'
import { processWebhooks } from './webhooks/process.ts'
import { processAgain } from './webhooks/process-again.ts'
import { receiveWebhooks } from './webhooks/receive.ts'
import { manageEndpoint } from './events/manage.ts'
import { signEvents } from './events/sign.ts'
import type { Boot } from '../src/core/threads/thread-messages.ts'
import type { Operation } from '../src/core/operations/index.ts'
import type { Stopwatch } from './stopwatch.ts'
import type { Thread } from './open-thread.ts'

type Handler = (batch: readonly InFlight[], stopwatch: Stopwatch) => Promise<Finished[]>

interface Parts {
  readonly boot: Boot
  readonly thread: Thread
  /** Takes the executions that leave their batch. */
  readonly deferred: Deferred
  /** The ids of the callers whose keys are in effect. */
  readonly callerIds: () => readonly string[]
}

/** One handler for each operation: the list to add a handler to. */
export function openHandlers({
  boot,
  thread,
  deferred,
  callerIds,
}: Parts): Readonly<Record<Operation, Handler>> {
  const { config, callers, evidenceLog, notificationWays } = boot
  const changeKinds = openChangeKinds({
    ownKeys: () => thread.published.jwks().keys.map(({ pem }) => pem),
    approverPasskeys: config.approverPasskeys,
    consoleOrigin: config.consoleOrigin,
    production: config.production,
    providers: Object.keys(config.webhookProviders),
    configuredCallers: callers,
    tokenIssuers: config.tokenIssuers,
    callerIds,
    logged: evidenceLog !== undefined,
  })
  const joinQueue = openJoinedQueue(thread.pool)
  const webhooks = {
    ...thread,
    webhookJobs: openWebhookJobs(joinQueue),
    webhookProviders: config.webhookProviders,
  }
  const catalogue = { pool: thread.pool, documents: openDocuments(), nowMs: Date.now }
  const logWork = logWorkOf(boot, thread.pool)
  const witness = witnessOf(boot, thread.pool)
  const completeness = {
    pool: thread.pool,
    heads: openStreamHeads(),
    required: readWitnesses(config)?.required,
  }
  return {
    async execute(batch, stopwatch) {
      const done = await execute(batch, thread, stopwatch)
      deferred.add(done.deferred)
      return done.answered
    },
    'verify-record': (batch) => verifyRecords(batch, thread),
    'issue-receipt': (batch) => issueReceipts(batch, thread),
    replay: (batch) => replay(batch, thread),
    'verify-refusal': async (batch) => checkEvidence(batch, thread, refusalRecord.evidence),
    'verify-audit-event': async (batch) => checkEvidence(batch, thread, auditEvent.evidence),
    'check-policy': answerEach((request) => checkPolicy(request, { pool: thread.pool, changeKinds })),
    'show-change': answerEach((request) => showChange(request, { pool: thread.pool, changeKinds })),
    'propose-change': answerEach((request) => proposeChange(request, { ...thread, changeKinds })),
    'resolve-change': answerEach((request) => resolveChange(request, { ...thread, changeKinds })),
    'deliver-approval': answerEach((request) => deliverApproval(request, thread)),
    'open-approval-request': answerEach((request) =>
      openApprovalRequest(request, {
        ...thread,
        notificationWays,
        joinQueue,
        perHour: config.rateLimits.approvalRequestsPerHour,
      }),
    ),
    'judge-approval-request': answerEach((request) => judgeRequest(request, thread)),
    'note-approval-request': answerEach((request) => writeNote(request, thread)),
    'close-approval-request': answerEach((request) => declineOrWithdraw(request, thread)),
    'record-audit-event': (batch) => recordAuditEvents(batch, thread),
    evaluate: (batch) => evaluateInSandbox(batch, thread),
    simulate: (batch) => simulate(batch, thread),
    'sweep-intents': (batch) => sweepIntents(batch, thread),
    'ask-connector': answerOwn<'ask-connector'>((given) => askConnector(given, thread)),
    'conclude-read-back': answerOwn<'conclude-read-back'>((given) => concludeReadBack(given, thread)),
    'sequence-log': (batch) => sequenceLog(batch, logWork),
    'prove-complete': answerEach((request) => proveComplete(request, completeness)),
    'add-checkpoint': (batch) => addCheckpoints(batch, witness),
    'resolve-intent': answerEach((request) => resolveIntent(request, thread)),
    'finalize-intent': answerEach((request) => finalizeIntent(request, thread)),
    'receive-webhook': (batch) => receiveWebhooks(batch, webhooks),
    'process-webhook-again': answerEach((request) => processAgain(request, webhooks)),
    'process-webhooks': answerOwn<'process-webhooks'>((given) => processWebhooks(given, webhooks)),
    'manage-event-endpoint': answerEach((request) => manageEndpoint(request, thread)),
    'sign-events': answerOwn<'sign-events'>((given) => signEvents(given, thread)),
    'fill-catalogue': answerOwn<'fill-catalogue'>(({ days }) => fillCatalogue({ ...catalogue, days })),
    'sign-session': answerOwn<'sign-session'>((given) => ({ token: signSession(given, thread.key) })),
    'keep-login-passkey': answerOwn<'keep-login-passkey'>((given) => keepLoginPasskey(given, thread)),
  }
}

/** In the lane that sequences: no other thread needs the log's private keys. */
function logWorkOf({ lane, config, evidenceLog }: Boot, pool: Pool): LogWork | undefined {
  if (lane !== 'background' || evidenceLog === undefined) return undefined
  return openLogWork({
    pool,
    keys: readLogKeys(config.signingKeyDir),
    dataDir: config.dataDir,
    onLog: (newest) => Atomics.store(evidenceLog.number, 0, newest),
  })
}

/** In the lane that cosigns: no other thread needs the witness's private keys. */
function witnessOf({ lane, config }: Boot, pool: Pool): Witness | undefined {
  if (lane !== 'background' || config.witness === undefined) return undefined
  return {
    name: config.witness.name,
    keys: readWitnessKeys(config.signingKeyDir),
    logs: readWitnessedLogs(config.witness.logsFile),
    pool,
    nowMs: Date.now,
  }
}
