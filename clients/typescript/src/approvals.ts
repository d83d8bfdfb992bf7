// Asking humans to approve an execution, and waiting for them (handbook, "Approving").
import type { Client } from 'openapi-fetch'
import { actionText, codeOfHash } from '../../../src/formats/approval-requests/action-code.ts'
import { canonicalize, type Json } from '../../../src/formats/json/canonical.ts'
import type { ExecutionRequest } from './build.ts'
import { NotApprovedError, OtherRequestError } from './errors.ts'
import { wholePage } from './pages.ts'
import type { Call } from './retry.ts'
import type { components, paths } from './schema.ts'

type Schemas = components['schemas']
type SubmittedTransaction = Schemas['SubmittedTransaction']
type ApprovalRequest = Schemas['ApprovalRequest']
type Query = NonNullable<paths['/approval-requests']['get']['parameters']['query']>

/** The members of a request for approval, besides the execution. */
export interface Request {
  /** A note for the approvers, at most 1,000 characters. */
  readonly note?: string
  /** From 60 to 86,400. Default: 3,600. */
  readonly expiresInSeconds?: number
}

/** The options of `execute` where humans must approve. */
export interface Asking extends Request {
  /** Default: `fail`. */
  readonly onApprovalNeeded?: 'ask' | 'fail'
  /** Called once they are asked: tell an approver the `actionCode` over another channel. Default: `console.warn` shows the code. */
  readonly onAsked?: (request: ApprovalRequest) => void
  /** Called once they have approved, before the execution is sent. */
  readonly onApproved?: (request: ApprovalRequest) => void
}

const WAIT_SECONDS = 20

export function approvalMethods(
  http: Client<paths>,
  {
    read,
    change,
    whole,
    callerId,
    timeoutMs,
    sleep,
  }: {
    readonly read: <T>(call: Call<T>) => Promise<T>
    readonly change: <T>(call: Call<T>) => Promise<T>
    readonly whole: (submitted: ExecutionRequest | SubmittedTransaction) => Promise<SubmittedTransaction>
    readonly callerId: () => Promise<string>
    /** The time limit of one attempt. */
    readonly timeoutMs: number
    readonly sleep: (ms: number) => Promise<void>
  },
) {
  const longest = Math.min(WAIT_SECONDS, Math.floor(timeoutMs / 2_000))

  /**
   * POST /approval-requests: asks humans to approve exactly this execution. Its id is not used. While a request is open, the same content
   * gets that request, so this is safe to repeat.
   * @param submitted the intent to execute, a whole transaction, or `{ fromRefusal: businessTransactionId }` of a refused transaction
   * @throws AnswerError 409 NOT_APPROVABLE where no approval would help; OtherRequestError where the reply differs from the sent request
   */
  async function requestApproval(
    submitted: ExecutionRequest | SubmittedTransaction | { readonly fromRefusal: string },
    { note, expiresInSeconds }: Request = {},
  ): Promise<ApprovalRequest> {
    const asked = 'fromRefusal' in submitted ? submitted : { transaction: await whole(submitted) }
    const body = {
      ...asked,
      ...(note === undefined ? {} : { note }),
      ...(expiresInSeconds === undefined ? {} : { expiresInSeconds }),
    }
    // An open request is returned again, so the call is repeated after a lost reply.
    const reply = await read(() => http.POST('/approval-requests', { body }))
    await requireSame(reply, 'transaction' in asked ? asked.transaction : undefined, await callerId())
    return reply
  }

  const approvalRequest = (id: string) => read(() => http.GET('/approval-requests/{id}', of(id)))

  /**
   * Waits until a request is no longer PENDING. The service holds each reply for up to 20 seconds.
   * @param limit.timeoutMs from now. Default: until the request ends
   * @returns the request in its state by then: PENDING where the time was over first
   * @throws the reason of the client's `signal`, which ends the wait
   */
  async function waitForApproval(id: string, limit: { timeoutMs?: number } = {}): Promise<ApprovalRequest> {
    const until = Date.now() + (limit.timeoutMs ?? Infinity)
    for (;;) {
      const began = Date.now()
      const waitSeconds = Math.min(longest, Math.max(0, Math.floor((until - began) / 1_000)))
      const headers = { Prefer: `wait=${waitSeconds}` }
      const request = await read(() => http.GET('/approval-requests/{id}', { ...of(id), headers }))
      const now = Date.now()
      if (request.status !== 'PENDING' || now >= until) return request
      // A service that does not hold its replies is not asked without a pause.
      const pauseMs = Math.min(began + request.intervalSeconds * 1_000, until) - now
      if (pauseMs > 0) await sleep(pauseMs)
    }
  }

  /** Asks and waits. Throws NotApprovedError where the request ended without approvals. */
  async function approve(
    transaction: SubmittedTransaction,
    { onAsked = showCode, onApproved, ...request }: Asking,
  ): Promise<void> {
    const asked = await requestApproval(transaction, request)
    onAsked(asked)
    const ended = await waitForApproval(asked.request.requestId)
    if (ended.status !== 'APPROVED') throw new NotApprovedError(ended)
    onApproved?.(ended)
  }

  const methods = {
    requestApproval,
    /** GET /approval-requests/{id}: its current state. APPROVED is advice: the execution checks the approvals again. */
    approvalRequest,
    waitForApproval,
    /** GET /approval-requests/{id}/judgement: the decision that the requester would get now, if the approvals were given. */
    approvalRequestJudgement: (id: string) =>
      read(() => http.GET('/approval-requests/{id}/judgement', of(id))),
    /** GET /approval-requests: a page, newest first. For a human, `{ waitingFor: 'me' }` selects the requests that this human could sign. */
    approvalRequests: (query: Query = {}) =>
      wholePage(query, {
        get: (asked) => http.GET('/approval-requests', { params: { query: asked } }),
        itemsOf: ({ requests }) => requests,
        read,
      }).then((requests) => ({ requests })),
    /** POST /approval-requests/{id}/decline: by a human who could sign it; final. */
    declineApprovalRequest: (id: string, reason: string) =>
      change(() => http.POST('/approval-requests/{id}/decline', { ...of(id), body: { reason } })),
    /**
     * POST /approval-requests/{id}/notes: for the caller that asked, and for a human who could sign the request, while it is open; at
     * most 20 notes per request. A repetition after a lost reply writes the note again.
     */
    noteApprovalRequest: (id: string, text: string) =>
      change(() => http.POST('/approval-requests/{id}/notes', { ...of(id), body: { text } })),
    /** POST /approval-requests/{id}/withdraw: by the caller that asked; final. */
    withdrawApprovalRequest: (id: string) =>
      change(() => http.POST('/approval-requests/{id}/withdraw', { ...of(id), body: {} })),
  }
  return { methods, approve }
}

/** Shows the action code, which an approver compares with the code that the service shows. */
function showCode({ actionCode }: ApprovalRequest): void {
  console.warn(`countersign: asked for an approval, and waits for it. Action code: ${actionCode}`)
}

const of = (id: string) => ({ params: { path: { id } } })

/** Computes hash and code here, and does not trust those of the reply. */
async function requireSame(
  reply: ApprovalRequest,
  sent: SubmittedTransaction | undefined,
  callerId: string,
): Promise<void> {
  const { request } = reply
  if ((await sha256Hex(canonicalize(request as unknown as Json))) !== reply.requestHash)
    throw new OtherRequestError(reply, 'the requestHash is not the hash of its request')
  if (request.requestedBy !== callerId) throw new OtherRequestError(reply, 'another caller asks')
  const coded =
    sent === undefined
      ? request
      : {
          capability: sent.intent.action,
          target: sent.intent.target,
          // As it was sent: without members that are undefined.
          parameters: JSON.parse(JSON.stringify(sent.intent.parameters ?? {})) as object,
          policy: sent.policy,
          principalId: sent.authority.principalId,
          requestedBy: callerId,
        }
  const codes = await Promise.all(
    [coded, request].map(async (one) => codeOfHash(await sha256Hex(actionText(one)))),
  )
  if (codes.some((code) => code !== reply.actionCode))
    throw new OtherRequestError(reply, 'its action code is not that of the action')
}

async function sha256Hex(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
