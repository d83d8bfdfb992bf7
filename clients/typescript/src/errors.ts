// What a call can fail with, beside the network's own errors. Branch on the status, then on the code, never on the text (interface §7).
import type { components } from './schema.ts'

type TrustRecord = components['schemas']['ExecutionTrustRecord']
type ApprovalRequest = components['schemas']['ApprovalRequest']

/** The service answered, and not with success. */
export class CountersignError extends Error {
  override readonly name = 'CountersignError'
  readonly status: number
  readonly code: string | undefined
  /** Finds the service's log line. */
  readonly requestId: string | undefined
  /** How long the service asks to wait. */
  readonly retryAfterSeconds: number | undefined
  /** An execution that humans' approvals would let through: `requestApproval` asks for them. */
  readonly needsApproval: boolean

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
    super(message)
    this.status = more.status
    this.code = more.code
    this.requestId = more.requestId
    this.retryAfterSeconds = more.retryAfterSeconds
    this.needsApproval = more.needsApproval ?? false
  }
}

/** Approvals were asked for, and the request ended without them: declined, withdrawn, expired, ended with its policy version, or used up by another execution. */
export class NotApprovedError extends Error {
  override readonly name = 'NotApprovedError'
  readonly approvalRequest: ApprovalRequest

  constructor(approvalRequest: ApprovalRequest) {
    super(`The approval request is ${approvalRequest.status}${whyEnded(approvalRequest)}`)
    this.approvalRequest = approvalRequest
  }
}

function whyEnded({ closed, endedBy }: ApprovalRequest): string {
  if (endedBy !== undefined) return `: its policy version was retired by change ${endedBy.changeId}`
  return closed === undefined || closed.reason === '' ? '' : ` by ${closed.by}: ${closed.reason}`
}

/** What the service says it asks approvers for is not what was sent to it. Nobody should approve it. */
export class OtherRequestError extends Error {
  override readonly name = 'OtherRequestError'
  readonly approvalRequest: ApprovalRequest

  constructor(approvalRequest: ApprovalRequest, what: string) {
    super(`The service asks approvers for something else than was sent to it: ${what}.`)
    this.approvalRequest = approvalRequest
  }
}

/**
 * What became of the transaction is not known here: it is stored without a record, or nothing could be read. It was not sent again.
 * It may still be running, be in doubt at the service, or have ended before its connector; ask again with `executeOrRead`, or ask the
 * operator. `cause` is what went wrong.
 */
export class InDoubtError extends Error {
  override readonly name = 'InDoubtError'
  readonly businessTransactionId: string

  constructor(businessTransactionId: string, cause: unknown) {
    super(`What became of Business Transaction '${businessTransactionId}' is not known.`, { cause })
    this.businessTransactionId = businessTransactionId
  }
}

/** The id was used before, for another action, target or parameters: `record` is not of what was asked for now. */
export class IdUsedForAnotherIntentError extends Error {
  override readonly name = 'IdUsedForAnotherIntentError'
  readonly record: TrustRecord

  constructor(record: TrustRecord) {
    super(`Business Transaction '${record.businessTransactionId}' was executed for another intent.`)
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
export class LogContradictionError extends Error {
  override readonly name = 'LogContradictionError'
  readonly contradiction: Contradiction
  /** Where both sides are kept; undefined where they could not be written. */
  readonly file: string | undefined

  constructor(contradiction: Contradiction, file: string | undefined) {
    super(
      file === undefined ? contradiction.reason : `${contradiction.reason} Both sides are kept in ${file}.`,
    )
    this.contradiction = contradiction
    this.file = file
  }
}
