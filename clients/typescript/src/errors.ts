// A call fails with an error of this family, told apart by `code`. Branch on the class or on status and code, never on the text (interface §7).
import type { components } from './schema.ts'

type TrustRecord = components['schemas']['ExecutionTrustRecord']
type ExecutionIntent = components['schemas']['ExecutionIntent']
type ApprovalRequest = components['schemas']['ApprovalRequest']

/** Every error of this client's calls, except the reason of an aborted `signal` and errors that a function `apiKey` throws. */
export class CountersignError extends Error {
  override readonly name: string = 'CountersignError'
  /** The service's code in an AnswerError; otherwise one code for each class, and `TIMEOUT`. */
  readonly code: string
  /** The status of an AnswerError; undefined otherwise. */
  readonly status: number | undefined = undefined
  /** Whether approvals would let the execution through: `requestApproval` asks for them. */
  readonly needsApproval: boolean = false

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The service answered, and not with success. Where the answer has no code, `code` is `HTTP_` and the status. */
export class AnswerError extends CountersignError {
  override readonly name: string = 'AnswerError'
  override readonly status: number
  override readonly needsApproval: boolean
  /** The id that finds the service's log line. */
  readonly requestId: string | undefined
  /** How long the service asks to wait. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    message: string,
    more: {
      status: number
      code?: string | undefined
      requestId?: string | undefined
      retryAfterSeconds?: number | undefined
      needsApproval?: boolean
    },
  ) {
    super(more.code ?? `HTTP_${more.status}`, message)
    this.status = more.status
    this.requestId = more.requestId
    this.retryAfterSeconds = more.retryAfterSeconds
    this.needsApproval = more.needsApproval ?? false
  }
}

/**
 * The execution was approved, and its connector refused or failed for certain: nothing happened, and `record` is the evidence. Thrown for the
 * service's answer, and also where the record is read later. The id is used: another try is new work.
 */
export class ExecutionFailedError extends AnswerError {
  override readonly name = 'ExecutionFailedError'
  readonly record: TrustRecord

  constructor(record: TrustRecord) {
    const { result } = (record.executions[0]?.evidence ?? {}) as { result?: { reason?: unknown } }
    super(
      `Execution failed: ${typeof result?.reason === 'string' ? result.reason : 'no reason was given'}.`,
      {
        status: 500,
        code: 'RUNTIME_ERROR',
      },
    )
    this.record = record
  }
}

/**
 * No whole answer arrived: the service is away, the connection broke, or the time was over (`TIMEOUT`). Whether the service saw the
 * request is not known. The message names method, address and cause.
 */
export class ConnectionLostError extends CountersignError {
  override readonly name = 'ConnectionLostError'

  /** @param request e.g. `GET https://countersign.example/callers/me` */
  constructor(request: string, cause: unknown) {
    const isTimeout = cause instanceof Error && cause.name === 'TimeoutError'
    super(isTimeout ? 'TIMEOUT' : 'CONNECTION_LOST', `${request}: ${reasonOf(cause)}`, { cause })
  }
}

/** Finds the reason in the innermost cause of an error of `fetch`. For a host with several addresses the cause is a list. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const [first] = cause instanceof AggregateError ? (cause.errors as unknown[]) : []
  const inner = first ?? cause.cause
  return inner instanceof Error ? reasonOf(inner) : cause.message
}

/** The request for approvals ended without them: declined, withdrawn, expired, ended with its policy version, or used up by another execution. */
export class NotApprovedError extends CountersignError {
  override readonly name = 'NotApprovedError'
  readonly approvalRequest: ApprovalRequest

  constructor(approvalRequest: ApprovalRequest) {
    super('NOT_APPROVED', `The approval request is ${approvalRequest.status}${whyEnded(approvalRequest)}`)
    this.approvalRequest = approvalRequest
  }
}

function whyEnded({ closed, endedBy }: ApprovalRequest): string {
  if (endedBy !== undefined) return `: its policy version was retired by change ${endedBy.changeId}`
  return closed === undefined || closed.reason === '' ? '' : ` by ${closed.by}: ${closed.reason}`
}

/** The service asks approvers for something other than the sent request. They should not approve it. */
export class OtherRequestError extends CountersignError {
  override readonly name = 'OtherRequestError'
  readonly approvalRequest: ApprovalRequest

  constructor(approvalRequest: ApprovalRequest, what: string) {
    super('OTHER_REQUEST', `The service asks approvers for something else than was sent to it: ${what}.`)
    this.approvalRequest = approvalRequest
  }
}

/**
 * The outcome of the transaction is not known here: it is stored without a record and was not closed, or nothing could be read. It was not sent
 * again. It may still be running, be in doubt at the service, or have ended before its connector was called. Ask again with `executeOrRead`, or ask
 * the operator. `cause` is the error that led to this.
 */
export class InDoubtError extends CountersignError {
  override readonly name: string = 'InDoubtError'
  readonly businessTransactionId: string

  constructor(
    businessTransactionId: string,
    cause: unknown,
    known?: { readonly code: string; readonly message: string },
  ) {
    const why = cause instanceof ConnectionLostError ? ` ${cause.message}` : ''
    const message = `What became of Business Transaction '${businessTransactionId}' is not known.${why}`
    super(known?.code ?? 'IN_DOUBT', known?.message ?? message, { cause })
    this.businessTransactionId = businessTransactionId
  }
}

/**
 * The execution was in doubt, and a human, a provider or its connector has closed it: `executed` is their statement, and there is no record and no
 * result. Final: the id is used. It is an InDoubtError because a program that does not know this class must not repeat the work either.
 */
export class ClosedWithoutRecordError extends InDoubtError {
  override readonly name = 'ClosedWithoutRecordError'
  readonly executed: boolean
  /** Its last transition is signed, and says who closed it and how they know. */
  readonly intent: ExecutionIntent

  constructor(intent: ExecutionIntent, cause: unknown) {
    const { businessTransactionId, resolution, transitions } = intent
    const executed = resolution === 'EXECUTED'
    const { by = 'the service', note = '' } = transitions.at(-1)?.transition ?? {}
    super(businessTransactionId, cause, {
      code: 'CLOSED_WITHOUT_RECORD',
      message:
        `Business Transaction '${businessTransactionId}' was ${executed ? '' : 'not '}executed, as ${by} says. ${note}`.trim(),
    })
    this.executed = executed
    this.intent = intent
  }
}

/** The id was used before, for another action, target or parameters: `record` does not belong to this request. */
export class IdUsedForAnotherIntentError extends CountersignError {
  override readonly name = 'IdUsedForAnotherIntentError'
  /** Null where the other execution was closed without a record. */
  readonly record: TrustRecord | null

  constructor(businessTransactionId: string, record: TrustRecord | null) {
    super(
      'ID_USED_FOR_ANOTHER_INTENT',
      `Business Transaction '${businessTransactionId}' was ${record === null ? 'used' : 'executed'} for another intent.`,
    )
    this.record = record
  }
}

/** Both sides of a contradiction, as the file beside the remembered checkpoint holds them. */
export interface Contradiction {
  /** The signed note that was remembered. */
  readonly seen: string
  /** The signed note that the service shows now. */
  readonly received: string
  /** The service's answer that does not connect the notes, as text where it is no JSON; null where none was requested, or it was too long. */
  readonly consistency: unknown
  /** The contradiction as a sentence. */
  readonly reason: string
}

/**
 * The evidence log contradicts the log that this client saw before. Nothing was executed: the log is checked before an execution is sent. The two
 * checkpoints, both signed by the log, are the proof.
 */
export class LogContradictionError extends CountersignError {
  override readonly name = 'LogContradictionError'
  readonly contradiction: Contradiction
  /** The file in which both sides are kept; undefined where it could not be written. */
  readonly file: string | undefined

  constructor(contradiction: Contradiction, file: string | undefined) {
    super(
      'LOG_CONTRADICTION',
      file === undefined ? contradiction.reason : `${contradiction.reason} Both sides are kept in ${file}.`,
    )
    this.contradiction = contradiction
    this.file = file
  }
}
