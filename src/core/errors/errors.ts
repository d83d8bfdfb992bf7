// Every way a request can fail: interface §7 in its order, then those of decisions.md. Nothing else spells a status or a message.
import type { Gate, OverloadGate } from './gates.ts'
import { printable } from '../../formats/text/printable.ts'
import type { AuditType } from '../../formats/schemas/audit-types.ts'

/** The part of an audit event that the refusing code knows (decisions §9). */
export interface Audited {
  readonly type: AuditType
  /** The sentence that the caller gets. */
  readonly reason: string
  readonly capability?: string
  readonly principalId?: string
  /** The ids of the event's subject. */
  readonly detail?: Readonly<Record<string, string>>
}

/** The ruling of a policy that did not approve: by its rules, or because a declared value is wrong. */
export type RefusalKind = 'rejected' | 'denied'

/** Facts about an answer for audit and metrics, in addition to its status; most answers have none. */
export interface Marks {
  /** Written to the audit before the caller is answered. */
  readonly audit?: Audited | undefined
  /** Set when a policy refused. */
  readonly refusalKind?: RefusalKind | undefined
  /** The gate that caused a 503, for the log line and the metrics, never for the caller. */
  readonly gate?: Gate | undefined
  /** The limit or budget whose exhaustion caused a 429. */
  readonly limit?: string | undefined
}

/** An answer as a thread returns it. */
export interface PlainAnswer extends Marks {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** JSON text, unless `headers` says otherwise. */
  readonly body: string
  /** For the request's log line. */
  readonly log: Readonly<Record<string, unknown>>
}

/** Characters of a message in a log line: it may quote names that a caller made up. */
const LOGGED_MAX = 300

interface More {
  readonly code?: string
  readonly headers?: Record<string, string>
  readonly cause?: unknown
  readonly audit?: Omit<Audited, 'reason'>
  readonly refusalKind?: RefusalKind
}

/** Every status of a failure except 429, which names its limit, and 503, which names its gate. */
type PlainStatus = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 422 | 500 | 502
type FailureParts =
  | [status: PlainStatus, message: string, more?: More]
  | [status: 429, message: string, more: More & { readonly limit: string }]
  | [status: 503, message: string, more: More & { readonly gate: Gate }]

/** An expected failure as a value: the caller's reply, and details for the log line only. */
export class Failure implements Marks {
  readonly status: number
  readonly message: string
  readonly code: string | undefined
  readonly headers: Readonly<Record<string, string>>
  /** For the log line, never for the caller. */
  readonly cause: unknown
  readonly audit: Marks['audit']
  readonly refusalKind: Marks['refusalKind']
  readonly gate: Marks['gate']
  readonly limit: Marks['limit']

  constructor(...[status, message, more = {}]: FailureParts) {
    this.status = status
    this.message = message
    this.code = more.code
    this.headers = more.headers ?? {}
    this.cause = more.cause
    this.audit = more.audit && { ...more.audit, reason: message }
    this.refusalKind = more.refusalKind
    this.gate = 'gate' in more ? more.gate : undefined
    this.limit = 'limit' in more ? more.limit : undefined
  }

  /** The envelope of interface §7: `error` is always a plain string, `code` is present only if the row has one. */
  body(): string {
    return JSON.stringify(
      this.code === undefined ? { error: this.message } : { error: this.message, code: this.code },
    )
  }

  /** For the log line: code, message and cause. A caller's text in them can neither break the line nor fill the log. */
  log(): Record<string, string> {
    const { code, cause } = this
    return {
      ...(code === undefined ? {} : { code }),
      reason: printable(this.message.slice(0, LOGGED_MAX)),
      ...(cause === undefined ? {} : { cause: causeText(cause) }),
    }
  }
}

function causeText(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
}

/** Makes the answer and the log line of a failure of any thread. */
export function answerOf(failure: Failure): PlainAnswer {
  const { status, headers, audit, refusalKind, gate, limit } = failure
  return {
    status,
    headers,
    body: failure.body(),
    log: failure.log(),
    // Members that most replies do not have are not copied between threads.
    ...(audit && { audit }),
    ...(refusalKind && { refusalKind }),
    ...(gate && { gate }),
    ...(limit && { limit }),
  }
}

/** The contract says little about a wrong body; the linked route reports everything that is wrong with it. */
const EVALUATE_LINK = { Link: '</sandbox/evaluate>; rel="help"' }

/** One row per failure; `test/errors.test.ts` compares them with the tests both ways. */
export const failures = {
  /** @param of.transaction whether the id belongs to a submitted transaction, not to a record to look up */
  invalidBusinessTransactionId: ({ transaction = false }: { transaction?: boolean } = {}) =>
    new Failure(
      400,
      'businessTransactionId must be a valid UUID.',
      transaction ? { headers: EVALUATE_LINK } : {},
    ),
  /** Every other rule of the body; the messages are in decisions §3. */
  invalidTransaction: (message: string) => new Failure(400, message, { headers: EVALUATE_LINK }),
  /** `businessTransactionId is required.` and two messages of POST /policies/validate (interface §4.4). */
  fieldRequired: (field: string) => new Failure(400, `${field} is required.`),
  /**
   * @param cause the reason why a token was refused, for the log line
   * @param headers another challenge (RFC 9110 §11.6.1) and its header fields, if there is one
   */
  authenticationRequired: (cause?: string, headers: Readonly<Record<string, string>> = {}) =>
    new Failure(401, 'authentication required', {
      cause,
      headers: { 'WWW-Authenticate': 'Bearer realm="countersign"', ...headers },
      audit: { type: 'caller.rejected' },
    }),
  /**
   * @param reason the decision's reason, see `denied` in src/core/policy/evaluate.ts
   * @param refusalOf the transaction whose Refusal Record is stored with this answer
   * @param refusal.approvable whether that record allows the caller to ask for approvals
   */
  policyDenied: (reason: string, refusalOf: string, { approvable = false }: { approvable?: boolean } = {}) =>
    new Failure(403, `Execution rejected: ${reason}`, {
      code: 'POLICY_DENIED',
      headers: approvable ? askingLink(refusalOf) : refusalLink(refusalOf),
      refusalKind: 'denied',
    }),
  nonHumanCaller: () =>
    new Failure(
      403,
      'This action requires a caller credential provisioned as a verified human (credentialHolderType: USER).',
      { code: 'NON_HUMAN_CALLER_DENIED', audit: { type: 'caller.non_human_denied' } },
    ),
  readOnlyCaller: () =>
    new Failure(403, 'This key only reads: it has readAll and no capability.', { code: 'READ_ONLY_CALLER' }),
  sameActor: () =>
    new Failure(403, 'A change must be approved or rejected by another human than the one who proposed it.', {
      code: 'SAME_ACTOR_CANNOT_APPROVE_OWN_CHANGE',
      audit: { type: 'governance.same_actor_denied' },
    }),
  /** @param why a clause that names the mistake */
  stepUpInvalid: (why: string) =>
    new Failure(403, `Step-up authorization is invalid: ${why}.`, {
      code: 'STEP_UP_AUTHORIZATION_INVALID',
      audit: { type: 'governance.step_up_denied' },
    }),
  /** @param why a clause: the act that a console session may not do, or the mark of a console request that is missing */
  consoleRefused: (why: string) =>
    new Failure(403, `Refused for a console session: ${why}.`, {
      code: 'CONSOLE_REFUSED',
      audit: { type: 'caller.rejected' },
    }),
  principalOutsideScope: (refused: { principalId: string; capability: string }) =>
    new Failure(403, 'Caller is not permitted to assert this authority.principalId.', {
      audit: { type: 'caller.principal_denied', ...refused },
    }),
  capabilityOutsideScope: (refused: { principalId: string; capability: string }) =>
    new Failure(403, 'Caller is not permitted to invoke this capability.', {
      audit: { type: 'caller.capability_denied', ...refused },
    }),
  policyNotFound: (policy: { name: string; version: string }) =>
    new Failure(404, `Policy '${policy.name}' version '${policy.version}' was not found.`),
  transactionNotFound: () => new Failure(404, 'Business Transaction not found.'),
  /** The same sentence with a code on the routes that work on a record. */
  noRecordToVerify: () =>
    new Failure(404, 'Execution Trust Record not found.', { code: 'VERIFICATION_FAILED' }),
  trustRecordNotFound: () => new Failure(404, 'Execution Trust Record not found.'),
  verificationNotFound: () => new Failure(404, 'Verification not found.'),
  receiptNotFound: () => new Failure(404, 'Receipt not found.'),
  callerIdentityMissing: () => new Failure(404, 'No authenticated caller identity available.'),
  duplicateTransaction: (id: string) =>
    new Failure(409, `Business Transaction '${id}' already exists.`, {
      headers: { Location: `/trust-records/${id}` },
    }),
  receiptNotVerified: () =>
    new Failure(409, 'The Execution Trust Record must be verified before a receipt is generated.', {
      code: 'RECEIPT_GENERATION_FAILED',
    }),
  /** @param fields the RateLimit fields of a limit that is checked after the limit of the route */
  rateLimited: (limit: string, retryAfterSeconds: number, fields: Record<string, string> = {}) =>
    new Failure(429, 'Rate limit exceeded. Try again later.', {
      code: 'RATE_LIMITED',
      limit,
      headers: { 'Retry-After': String(retryAfterSeconds), ...fields },
      audit: { type: 'rate_limited' },
    }),
  /** This is not a rate of the caller: the last request of any caller counts. */
  redeliveryGoesOn: (retryAfterSeconds: number) =>
    new Failure(
      429,
      'An endpoint allows one redelivery at a time, for all callers together. The last one was requested less than a minute ago, or is still running.',
      {
        code: 'RATE_LIMITED',
        limit: 'redeliveries',
        headers: { 'Retry-After': String(retryAfterSeconds) },
        audit: { type: 'rate_limited' },
      },
    ),
  /** A rejection is a 500 by contract: "policy outcome REJECTED (no dedicated status)". */
  executionRejected: (
    reason: string,
    refusalOf: string,
    { approvable = false }: { approvable?: boolean } = {},
  ) =>
    new Failure(500, `Execution rejected: ${reason}`, {
      code: 'RUNTIME_ERROR',
      headers: approvable ? askingLink(refusalOf) : refusalLink(refusalOf),
      refusalKind: 'rejected',
    }),
  /** The contract's answer to a body without `metadata`, `authority`, `authorization`, `intent` or `policy`. */
  missingObject: (name: string) =>
    new Failure(500, 'Internal Server Error', {
      cause: `missing nested object: ${name}`,
      headers: EVALUATE_LINK,
    }),
  internal: (cause: unknown) => new Failure(500, 'Internal Server Error', { cause }),
  noConnector: (action: string) =>
    new Failure(500, `No connector registered for action: ${action}.`, { code: 'RUNTIME_ERROR' }),
  executionFailed: (reason: string) =>
    new Failure(500, `Execution failed: ${reason}.`, { code: 'RUNTIME_ERROR' }),

  malformedJson: (cause: string) => new Failure(400, 'Malformed JSON body.', { cause }),
  invalidPage: () => new Failure(400, 'page must be a whole number, 1 or more.'),
  invalidPageSize: () => new Failure(400, 'pageSize must be a whole number from 1 to 100.'),
  invalidQuery: (message: string) => new Failure(400, message),
  /** Posted evidence that is no JSON object: POST /refusal/verify and /audit/verify (decisions §12). */
  invalidEvidence: () => new Failure(400, 'the body must be an object.'),
  /** A body of a governance, approval or intent route; the message names the field. */
  invalidField: (message: string) => new Failure(400, message),
  /** The signature of a webhook delivery is its authentication (interface §6). */
  missingSignature: (provider: string, cause: string) =>
    new Failure(401, 'Missing signature.', {
      cause,
      audit: { type: 'webhook.rejected', detail: { provider } },
    }),
  invalidSignature: (provider: string, cause: string) =>
    new Failure(401, 'Invalid signature.', {
      cause,
      audit: { type: 'webhook.rejected', detail: { provider } },
    }),
  /** @param cause place where the scheme expects the id, for the log */
  missingEventId: (cause: string) => new Failure(400, 'Missing event id.', { cause }),
  webhookEventNotFound: () => new Failure(404, 'Delivery not found.'),
  changeNotFound: () =>
    new Failure(404, 'Pending change not found.', { code: 'PENDING_POLICY_CHANGE_NOT_FOUND' }),
  approvalNotFound: () => new Failure(404, 'Approval not found.'),
  intentNotFound: () => new Failure(404, 'Execution intent not found.'),
  approvalRequestNotFound: () =>
    new Failure(404, 'Approval request not found.', { code: 'APPROVAL_REQUEST_NOT_FOUND' }),
  /** @param message a sentence that names the caller's missing right to decide approval requests */
  notAnEligibleApprover: (message: string) => new Failure(403, message, { code: 'NOT_AN_ELIGIBLE_APPROVER' }),
  /** @param reason a sentence: why no approval would permit the execution */
  notApprovable: (reason: string) =>
    new Failure(409, `No approval would help: ${reason}`, { code: 'NOT_APPROVABLE' }),
  /** @param message a sentence that names the reached bound */
  tooManyApprovalRequests: (message: string) =>
    new Failure(429, message, {
      code: 'TOO_MANY_APPROVAL_REQUESTS',
      limit: 'approval requests',
      headers: { 'Retry-After': '60' },
      audit: { type: 'rate_limited' },
    }),
  /** The request contradicts the current state: an open change, an approved version, a used approval, a closed intent. */
  conflict: (message: string) => new Failure(409, message, { code: 'CONFLICT' }),
  eventEndpointNotFound: () =>
    new Failure(404, 'No such event endpoint is in effect.', { code: 'EVENT_ENDPOINT_NOT_FOUND' }),
  refusalNotFound: () => new Failure(404, 'Refusal Record not found.'),
  /** @param kind a proof kind of GET /log/proofs/{kind}/{id}; another caller's artifact gets the same answer */
  artifactNotFound: (kind: string) => new Failure(404, `There is no such ${kind}.`),
  notLogged: () =>
    new Failure(404, 'This is not in the evidence log: it was stored while the log was off.', {
      code: 'NOT_LOGGED',
    }),
  noEvents: () =>
    new Failure(409, 'This service runs with LOG=off: events are read from the evidence log.', {
      code: 'NOT_LOGGED',
    }),
  /** Another caller's stream gets the same answer. */
  streamNotFound: () => new Failure(404, 'There is no such stream in the evidence log.'),
  /** @param why the bundle of a record cannot be made, without its full stop */
  noBundle: (why: string) =>
    new Failure(404, `There is no bundle of this record: ${why}.`, { code: 'NOT_LOGGED' }),
  /** GET /log/absence reveals to no other caller whether the log has a caller's id. */
  idNotYours: () => new Failure(404, 'This id is not one of yours.'),
  noCheckpoint: () =>
    new Failure(
      404,
      'There is no such log, or it has no checkpoint yet, or its witnesses have not cosigned one.',
    ),
  tileNotFound: () => new Failure(404, 'There is no such tile under the newest checkpoint.'),
  /** The four failures of C2SP tlog-witness, for logs that this service witnesses. */
  logNotWitnessed: () => new Failure(404, 'This witness does not know the log of the checkpoint.'),
  notWitnessed: () => new Failure(404, 'This witness has cosigned no checkpoint of such a log.'),
  /** @param why a clause */
  checkpointNotSigned: (why: string) => new Failure(403, `The checkpoint is not signed by its log: ${why}.`),
  /** @param why a clause */
  checkpointInconsistent: (why: string) =>
    new Failure(422, `The checkpoint does not continue the one that was cosigned before: ${why}.`),
  keyNotFound: (keyId: string) => new Failure(404, `Key not found: ${keyId}`),
  pathNotFound: () => new Failure(404, 'Not Found'),
  pageNotBuilt: () =>
    new Failure(
      404,
      'This page has not been built. Run "npm run pages" in the folder of the service, after "npm ci".',
    ),
  methodNotAllowed: (allow: string) => new Failure(405, 'Method Not Allowed', { headers: { Allow: allow } }),
  payloadTooLarge: () => new Failure(413, 'Payload too large.', { headers: { Connection: 'close' } }),
  /** The authorization is consumed and the effect may or may not have happened: in doubt, never retried (decisions §8). */
  outcomeUnknown: (cause: unknown) =>
    new Failure(502, 'Execution outcome unknown; do not retry, read the execution intent.', {
      code: 'EXECUTION_OUTCOME_UNKNOWN',
      cause,
    }),
  /** Evidence of an earlier execution could not be stored although the database answers. `cause` is the SQLSTATE. */
  evidenceRefused: (cause: string) =>
    new Failure(503, 'The database refuses to store evidence. Nothing was executed.', {
      code: 'EVIDENCE_REFUSED',
      headers: { 'Retry-After': '5' },
      cause,
      gate: 'evidence',
    }),
  /** Answered until a restart. @param whose evidence it is, for the log */
  evidenceNotVerified: (whose: string) =>
    new Failure(503, 'Evidence that this service signed does not verify. Nothing was executed.', {
      code: 'EVIDENCE_NOT_VERIFIED',
      headers: { 'Retry-After': '5' },
      cause: whose,
      gate: 'evidence',
    }),
  /** Answered until a restart with a newer key. @param which key it is, and since when it is revoked */
  signingKeyRevoked: (which: string) =>
    new Failure(503, 'A key by which this service signs is revoked. Nothing was executed.', {
      code: 'SIGNING_KEY_REVOKED',
      headers: { 'Retry-After': '5' },
      cause: which,
      gate: 'signing-key',
    }),
  overloaded: (gate: OverloadGate, cause?: string) =>
    new Failure(503, 'Service overloaded. Try again later.', {
      code: 'OVERLOADED',
      headers: { 'Retry-After': '1' },
      cause,
      gate,
    }),
  /** A source of verified state does not answer: nothing is stored or signed, and the id is free (decisions §12). */
  stateUnavailable: (cause: unknown) =>
    new Failure(503, 'The state that the policy verifies cannot be read at this moment.', {
      code: 'STATE_UNAVAILABLE',
      headers: { 'Retry-After': '5' },
      cause,
      gate: 'state',
    }),
  databaseUnavailable: (cause: unknown) =>
    new Failure(503, 'Database unavailable. Nothing was executed.', {
      code: 'DATABASE_UNAVAILABLE',
      headers: { 'Retry-After': '1' },
      cause,
      gate: 'database',
    }),
} as const

/** The link to request approvals, for a refusal that approvals could lift (decisions §13) and for the reply with that refusal. */
export const APPROVAL_REQUEST_LINK = '</approval-requests>; rel="approval-request"'

function askingLink(businessTransactionId: string): Record<string, string> {
  const { Link } = refusalLink(businessTransactionId)
  return { Link: `${Link}, ${APPROVAL_REQUEST_LINK}` }
}

function refusalLink(businessTransactionId: string): Record<string, string> {
  return { Link: `</refusal/${businessTransactionId}>; rel="refusal"` }
}
