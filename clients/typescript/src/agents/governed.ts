// The tool calls of an agent as executions: propose, wait for humans, resume, and read the record. The adapters of the frameworks only
// translate. No progress is kept here: the status of a call is read from the service each time, so a run can continue in any process.
import { canonicalize, type Json } from '../../../../src/formats/json/canonical.ts'
import {
  AnswerError,
  ClosedWithoutRecordError,
  ConnectionLostError,
  CountersignError,
  ExecutionFailedError,
  InDoubtError,
  NotApprovedError,
} from '../errors.ts'
import type { Countersign, ExecutionRequest, Schemas } from '../index.ts'
import { isUnanswered, nothingWasDone } from '../retry.ts'

type ApprovalRequest = Schemas['ApprovalRequest']
type TrustRecord = Schemas['ExecutionTrustRecord']
type Signals = Schemas['SubmittedTransaction']['signals']

/** How a tool maps to executions. `Input` is the type of the arguments that the model gives. */
export interface Governing<Input> {
  /** The capability, e.g. `erp:refund`. */
  readonly action: string
  readonly target: string | ((input: Input) => string)
  readonly policy: { readonly name: string; readonly version: string }
  /** The parameters of the intent. Default: the input itself. */
  readonly parameters?: (input: Input) => object
  /** Signals that your own program declares: the input of a model is no evidence. */
  readonly signals?: Signals | ((input: Input) => Signals)
  /** The principal on whose authority the call is made. Default: the callerId. */
  readonly principalId?: string
  /** A note for the approvers, at most 900 characters. */
  readonly note?: string | ((input: Input) => string)
  /** How long an approval request stays open, from 60 to 86,400 seconds. Default: 3,600. */
  readonly expiresInSeconds?: number
}

/** One call of a tool. */
export interface ToolCall<Input> {
  /** Your id of the run, thread or conversation, because call ids repeat in other runs. It must be the same when the run is resumed. */
  readonly run: string
  /** The framework's id of the call within the run. */
  readonly call: string
  readonly input: Input
}

/** The status of a call at the service. */
export type CallStanding =
  | { readonly state: 'executed'; readonly record: TrustRecord; readonly result: unknown }
  /** Executed, according to the statement that closed the call in doubt: there is no record, and no result. `reason` says who made the statement. */
  | { readonly state: 'closed'; readonly intent: Schemas['ExecutionIntent']; readonly reason: string }
  /** Policy and approvers would let the call through now; executing it checks again. */
  | { readonly state: 'approved' }
  | { readonly state: 'waits'; readonly approvalRequest: ApprovalRequest; readonly reason: string }
  /** Final: refused by the policy, not approved, or failed for certain. Nothing happened. */
  | { readonly state: 'refused'; readonly reason: string; readonly error?: CountersignError }

/** The outcome of a call that was to be executed. */
export type CallOutcome = Exclude<CallStanding, { readonly state: 'approved' }>

export interface Governed<Input> {
  /** Finds the status of a call, and asks humans where they must approve and were not asked yet. Executes nothing. */
  readonly propose: (call: ToolCall<Input>) => Promise<CallStanding>
  /** Executes an approved call once, however often this is called. */
  readonly execute: (call: ToolCall<Input>) => Promise<CallOutcome>
}

/** The error that a framework gets for a call that must not run (yet). The model may read its message. */
export class CallNotExecutedError extends CountersignError {
  override readonly name = 'CallNotExecutedError'
  readonly standing: CallOutcome

  constructor(standing: Exclude<CallOutcome, { state: 'executed' | 'closed' }>) {
    super('CALL_NOT_EXECUTED', standing.reason)
    this.standing = standing
  }
}

/**
 * The outcome of a call is not known, so its run makes no other call of this tool: a model would repeat the work as a new call, which would
 * be executed too. Make `call` again until its outcome is known. `cause` says why it is not.
 */
export class RunInDoubtError extends CountersignError {
  override readonly name = 'RunInDoubtError'
  readonly call: ToolCall<unknown>

  constructor(call: ToolCall<unknown>, cause: unknown) {
    super(
      'RUN_IN_DOUBT',
      `The outcome of the call '${call.call}' is not known. Do not repeat it in another call: that could do it twice. ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    )
    this.call = call
  }
}

/** Whether a call that failed with this error may have been executed. */
export function isDoubt(error: unknown): boolean {
  if (error instanceof ClosedWithoutRecordError) return false
  if (error instanceof AnswerError) return isUnanswered(error) && !nothingWasDone(error)
  return [InDoubtError, ConnectionLostError, RunInDoubtError].some((kind) => error instanceof kind)
}

/**
 * Puts a tool under the authority of the service. The id of a call is derived from run, call and arguments, so the same call is executed
 * once. A call with other arguments is other work, which is judged and approved anew.
 * @throws both methods, as the client: where the service is away or an outcome is in doubt they reject, and the tool must not run.
 *   RunInDoubtError for any other call of the run, until the call in doubt is made again here and has an outcome
 */
export function governed<Input>(client: Countersign, governing: Governing<Input>): Governed<Input> {
  /** By run, and by the key of the call. Kept in this process only: another process has the same run only where it resumes the run. */
  const doubts = new Map<string, Map<string, RunInDoubtError>>()

  async function requestFor({ run, call, input }: ToolCall<Input>) {
    if (run === '' || call === '') throw new TypeError(`${run === '' ? 'run' : 'call'} is empty.`)
    const { action, policy, principalId } = governing
    const target = typeof governing.target === 'string' ? governing.target : governing.target(input)
    // Parameters are compared and hashed as they are sent: without members that are undefined.
    const parameters = JSON.parse(JSON.stringify(governing.parameters?.(input) ?? input ?? {})) as Record<
      string,
      Json
    >
    const signals =
      typeof governing.signals === 'function' ? governing.signals(input) : (governing.signals ?? {})
    const request = {
      action,
      target,
      parameters,
      policy,
      signals,
      ...(principalId === undefined ? {} : { principalId }),
      key: `tool-call-${await sha256Hex(canonicalize([run, call, action, target, parameters]))}`,
    } satisfies ExecutionRequest
    const [inDoubt] = doubts.get(run)?.values() ?? []
    if (inDoubt !== undefined && !doubts.get(run)!.has(request.key)) throw inDoubt
    return request
  }

  /** Proposes or executes a call, and remembers that its outcome is in doubt until the outcome is known. */
  async function remembered<T extends CallStanding>(
    call: ToolCall<Input>,
    { mayExecute, work }: { mayExecute: boolean; work: (request: ExecutionRequest) => Promise<T> },
  ): Promise<T> {
    const request = await requestFor(call)
    const { run } = call
    try {
      const standing = await work(request)
      if (standing.state === 'approved' || standing.state === 'waits') return standing
      const rest = doubts.get(run)
      rest?.delete(request.key)
      if (rest?.size === 0) doubts.delete(run)
      return standing
    } catch (error) {
      if (mayExecute && isDoubt(error)) {
        const before = doubts.get(run) ?? new Map<string, RunInDoubtError>()
        doubts.set(run, before.set(request.key, new RunInDoubtError(call, error)))
      }
      throw error
    }
  }

  const find = async (request: ExecutionRequest) => client.standing(await client.build(request))

  async function judged(call: ToolCall<Input>, request: ExecutionRequest) {
    let { record, next, why } = await find(request)
    let asked = record === null && mayBeAsked(why) ? await requestOf(next) : undefined
    if (asked?.status === 'USED') {
      // Used by this call, in another process since the look above; or by a call with the same content: then humans are asked for this call.
      ;({ record, next, why } = await find(request))
      asked = undefined
    }
    if (record !== null) return { standing: ended(record), next }
    if (!mayBeAsked(why)) return { standing: refusedBy(why), next }
    asked ??= await ask(next, call.input)
    return { standing: asked === undefined ? await evaluated(next) : standingOf(asked), next }
  }

  /** The note names the transaction, so that an ended request is found and not made again. */
  async function requestOf({ businessTransactionId, intent, policy }: Schemas['SubmittedTransaction']) {
    const { requests } = await client.approvalRequests({
      capability: intent.action,
      target: intent.target,
      policy: policy.name,
      pageSize: 100,
    })
    return requests.find(({ request }) => request.note.endsWith(noteOf(businessTransactionId)))
  }

  /** Returns undefined where no approval would help. */
  async function ask(next: Schemas['SubmittedTransaction'], input: Input) {
    const note = typeof governing.note === 'function' ? governing.note(input) : (governing.note ?? '')
    const { expiresInSeconds } = governing
    const members = expiresInSeconds === undefined ? {} : { expiresInSeconds }
    try {
      return await client.requestApproval(next, {
        ...members,
        note: `${note} ${noteOf(next.businessTransactionId)}`.trim(),
      })
    } catch (error) {
      if (error instanceof AnswerError && error.code === 'NOT_APPROVABLE') return undefined
      throw error
    }
  }

  async function evaluated(next: Schemas['SubmittedTransaction']): Promise<CallStanding> {
    const { wouldAnswer } = await client.evaluate(next)
    if (wouldAnswer.status < 300) return { state: 'approved' }
    return { state: 'refused', reason: wouldAnswer.error ?? `It would be answered ${wouldAnswer.status}.` }
  }

  async function carriedOut(call: ToolCall<Input>, request: ExecutionRequest): Promise<CallOutcome> {
    const { standing, next } = await judged(call, request)
    if (standing.state !== 'approved') return standing
    try {
      return ended(await client.executeOrRead(next))
    } catch (error) {
      if (error instanceof ExecutionFailedError) return ended(error.record)
      if (!(error instanceof AnswerError) || (error.status !== 403 && error.status !== 500)) throw error
      // Refused after all, for example because another execution used the approvals up: humans are asked again where that may help.
      const again = (await judged(call, request)).standing
      return again.state === 'approved' ? { state: 'refused', reason: error.message, error } : again
    }
  }

  return {
    propose: (call) =>
      remembered(call, {
        mayExecute: false,
        work: (request) => judged(call, request).then(({ standing }) => standing, closedBy),
      }),
    execute: (call) =>
      remembered(call, {
        mayExecute: true,
        work: (request) => carriedOut(call, request).catch(closedBy),
      }),
  }
}

/** @throws any error that is no ClosedWithoutRecordError */
function closedBy(error: unknown): CallOutcome {
  if (!(error instanceof ClosedWithoutRecordError)) throw error
  const reason = error.message
  return error.executed
    ? { state: 'closed', intent: error.intent, reason }
    : { state: 'refused', reason, error }
}

/** Whether nothing was sent, or approvals would lift the refusal. */
function mayBeAsked(why: unknown): boolean {
  return !(why instanceof AnswerError) || why.needsApproval
}

function refusedBy(why: unknown): CallStanding {
  const error = why as AnswerError
  return { state: 'refused', reason: error.message, error }
}

function ended(record: TrustRecord): CallOutcome {
  const [execution] = record.executions
  if (execution?.status === 'COMPLETED')
    return { state: 'executed', record, result: execution.evidence['result'] }
  const error = new ExecutionFailedError(record)
  return { state: 'refused', reason: error.message, error }
}

function standingOf(approvalRequest: ApprovalRequest): CallStanding {
  const { status, actionCode, request, missing } = approvalRequest
  if (status === 'APPROVED') return { state: 'approved' }
  if (status === 'PENDING') {
    const waiting = `Waits for ${missing} ${missing === 1 ? 'approval' : 'approvals'}: request ${request.requestId}, action code ${actionCode}.`
    return { state: 'waits', approvalRequest, reason: waiting }
  }
  const error = new NotApprovedError(approvalRequest)
  return { state: 'refused', reason: error.message, error }
}

const noteOf = (businessTransactionId: string) => `[${businessTransactionId}]`

async function sha256Hex(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
