// A call fails with one error of this family, told apart by `code`. Branch on the class or on status and code, never on the text (interface §7).
import type { components } from './schema.ts'

type TrustRecord = components['schemas']['ExecutionTrustRecord']
type ExecutionIntent = components['schemas']['ExecutionIntent']
type ApprovalRequest = components['schemas']['ApprovalRequest']

/** Everything that a call of this client can fail with; only the reason of an aborted `signal` and what a function `apiKey` throws are the caller's own. */
export class CountersignError extends Error {
  override readonly name: string = 'CountersignError'
  /** The service's own in an AnswerError; otherwise one for each class, and `TIMEOUT`. */
  readonly code: string
  /** An AnswerError has a status; undefined otherwise. */
  readonly status: number | undefined = undefined
  /** An execution that approvals would let through: `requestApproval` asks for them. */
  readonly needsApproval: boolean = false

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The service answered, and not with success. Where the answer names no code, it is `HTTP_` and the status. */
export class AnswerError extends CountersignError {
  override readonly name: string = 'AnswerError'
  override readonly status: number
  override readonly needsApproval: boolean
  /** Finds the service's log line. */
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
 * The execution was approved, and its connector refused or failed for certain: nothing happened, and `record` is the evidence. Thrown
 * whether the service answers it now or the record is read later. The id is used: to try again is new work.
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

/** Finds the reason in the innermost cause of what `fetch` throws; that of a host with several addresses is a list. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const [first] = cause instanceof AggregateError ? (cause.errors as unknown[]) : []
  const inner = first ?? cause.cause
  return inner instanceof Error ? reasonOf(inner) : cause.message
}

/** Approvals were asked for, and the request ended without them: declined, withdrawn, expired, ended with its policy version, or used up by another execution. */
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

/** The service says that it asks approvers for something else than was sent to it. Nobody should approve it. */
export class OtherRequestError extends CountersignError {
  override readonly name = 'OtherRequestError'
  readonly approvalRequest: ApprovalRequest

  constructor(approvalRequest: ApprovalRequest, what: string) {
    super('OTHER_REQUEST', `The service asks approvers for something else than was sent to it: ${what}.`)
    this.approvalRequest = approvalRequest
  }
}

/**
 * The end of the transaction is not known here: it is stored without a record and nobody has closed it, or nothing could be read. It was not
 * sent again. It may still be running, be in doubt at the service, or have ended before its connector; ask again with `executeOrRead`, or
 * ask the operator. `cause` is what went wrong.
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
 * The execution was in doubt, and a human, a provider or its connector has closed it: `executed` is their word, and there is no record and no
 * result. Final: the id is used. It is an InDoubtError because a program that does not know it must not repeat the work either.
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

/** The id was used before, for another action, target or parameters: `record` is not of what was asked for now. */
export class IdUsedForAnotherIntentError extends CountersignError {
  override readonly name = 'IdUsedForAnotherIntentError'
  /** Null where the other execution was closed without one. */
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
  /** The service's answer that does not join them, as text where it is no JSON; null where none was asked for, or it was too long. */
  readonly consistency: unknown
  /** A sentence. */
  readonly reason: string
}

/**
 * The evidence log is not the one that this client saw before. Nothing was executed: the log is checked before an execution is sent. The
 * two checkpoints, both signed by the log, are the proof.
 */
export class LogContradictionError extends CountersignError {
  override readonly name = 'LogContradictionError'
  readonly contradiction: Contradiction
  /** Where both sides are kept; undefined where they could not be written. */
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
