// One call of a tool, from the wish to its outcome: submitted, approved by a human where the policy asks for one, carried out at most once.
import {
  AnswerError,
  createCountersign,
  deterministicId,
  InDoubtError,
  NotApprovedError,
  type Countersign,
  type Options,
  type Schemas,
} from '../../clients/typescript/src/index.ts'
import { canonicalize, type Json } from '../formats/json/canonical.ts'
import type { Results } from './effect.ts'
import type { OpenCall, OpenCalls } from './open-calls.ts'
import type { Lock } from './lock.ts'
import { sha256Hex } from './tools.ts'
import type { CallToolResult } from './upstream.ts'

type TrustRecord = Schemas['ExecutionTrustRecord']
type ApprovalRequest = Schemas['ApprovalRequest']

/** How a call stands. `id` is its businessTransactionId, which the agent asks by. */
export type Standing =
  | {
      readonly status: 'completed'
      readonly id: string
      readonly record: TrustRecord
      readonly result: CallToolResult | undefined
    }
  | {
      readonly status: 'failed'
      readonly id: string
      readonly record: TrustRecord
      readonly reason: string
      readonly result: CallToolResult | undefined
    }
  | { readonly status: 'refused'; readonly id: string; readonly reason: string }
  | {
      readonly status: 'waiting'
      readonly id: string
      readonly request: ApprovalRequest
      /** Where a human looks at it. */ readonly page: string
    }
  | { readonly status: 'running'; readonly id: string }
  | { readonly status: 'in-doubt'; readonly id: string; readonly result: CallToolResult | undefined }
  | { readonly status: 'unknown-id'; readonly id: string }

export interface Wish {
  /** Whose calls may be one: that of a client. */
  readonly session: string
  readonly tool: string
  readonly toolHash: string
  readonly arguments: { readonly [name: string]: Json }
  /** Of the host, which repeats a call under the same id. */
  readonly transactionId?: string | undefined
}

/** A call that is followed here. */
export interface Followed {
  readonly id: string
  /**
   * Follows it until it has ended.
   * @returns rejects where the service cannot be reached: then the call stays open
   */
  readonly join: () => Promise<Standing>
  /** How it stands now. */
  readonly standing: () => Standing
  /** Takes back a `join`. A call that nobody follows any more is dropped if it still waits for a human. */
  readonly leave: () => void
}

export interface Calls {
  /** Submits a call, or goes on with an equal one that has not ended. */
  readonly make: (wish: Wish) => Promise<Followed>
  /** Finds a call by its id: one that is open, or how it has ended. */
  readonly find: (id: string, session: string) => Promise<Followed | Standing>
  /** The signed record of a call that was carried out; undefined where there is none. */
  readonly record: (id: string) => Promise<TrustRecord | undefined>
}

export function makeCalls(
  client: Countersign,
  {
    options,
    alias,
    lock,
    open,
    results,
  }: {
    /** Of the client: a call that can be cancelled has one of its own. */
    readonly options: Options
    readonly alias: string
    readonly lock: Lock
    readonly open: OpenCalls
    readonly results: Results
  },
): Calls {
  const action = `mcp:${alias}`
  let callerId: Promise<string> | undefined
  /** By businessTransactionId. */
  const followed = new Map<string, Followed>()

  /** The same for each call: it is asked once, and again where there was no answer. */
  const principal = () =>
    (callerId ??= client.callerIdentity().then(
      (identity) => identity.callerId,
      (error: unknown) => {
        callerId = undefined
        throw error
      },
    ))

  async function make(wish: Wish): Promise<Followed> {
    const parameters = { arguments: wish.arguments, toolHash: wish.toolHash }
    const named = wish.transactionId === undefined ? {} : { businessTransactionId: wish.transactionId }
    const key = sha256Hex(canonicalize([wish.session, wish.tool, parameters, wish.transactionId ?? null]))
    const before = open.byKey(key)
    if (before !== undefined) return follow(before)
    const principalId = await principal()
    const transaction = await client.build({
      action,
      target: wish.tool,
      parameters,
      policy: lock.policy,
      principalId,
      ...named,
    })
    // An equal call may have come meanwhile.
    const call = open.byKey(key) ?? { key, session: wish.session, transaction }
    open.begin(call)
    return follow(call)
  }

  /** The same for all who follow a call at a time. */
  function follow(call: OpenCall): Followed {
    const id = call.transaction.businessTransactionId
    const running = followed.get(id) ?? started(call)
    followed.set(id, running)
    return running
  }

  function started(call: OpenCall): Followed {
    const id = call.transaction.businessTransactionId
    const stopping = new AbortController()
    const caller = createCountersign({ ...options, signal: stopping.signal })
    let request: ApprovalRequest | undefined
    let followers = 0
    const ended = carriedOut(caller, call, (asked) => (request = asked))
      .catch(async (error: unknown): Promise<Standing> => {
        if (!stopping.signal.aborted) throw error
        return dropped(id, request)
      })
      .then((standing) => {
        if (standing.status !== 'in-doubt' && standing.status !== 'running') open.end(call)
        return standing
      })
      .finally(() => followed.delete(id))
    // Whoever follows it is told; where nobody does, the call stays open.
    ended.catch(() => {})
    return {
      id,
      join() {
        followers++
        return ended
      },
      standing: () =>
        request === undefined
          ? { status: 'running', id }
          : {
              status: 'waiting',
              id,
              request,
              page: new URL(`/console/requests/${request.request.requestId}`, options.baseUrl).href,
            },
      leave() {
        if (--followers === 0 && request !== undefined) stopping.abort(new Error('The call was cancelled.'))
      },
    }
  }

  /** Withdraws what waited. Where that comes too late, an execution may be on its way, and the call stays open. */
  async function dropped(id: string, request: ApprovalRequest | undefined): Promise<Standing> {
    if (request === undefined) return { status: 'running', id }
    try {
      await client.withdrawApprovalRequest(request.request.requestId)
      return { status: 'refused', id, reason: 'The call was cancelled before a human had approved it.' }
    } catch {
      return { status: 'running', id }
    }
  }

  async function carriedOut(
    caller: Countersign,
    { transaction }: OpenCall,
    onAsked: (request: ApprovalRequest) => void,
  ): Promise<Standing> {
    const id = transaction.businessTransactionId
    const note = `A call of the tool ${transaction.intent.target} by an agent.`
    try {
      return standingOf(id, await caller.execute(transaction, { onApprovalNeeded: 'ask', note, onAsked }))
    } catch (error) {
      if (error instanceof NotApprovedError) return { status: 'refused', id, reason: error.message }
      if (error instanceof InDoubtError)
        return { status: 'in-doubt', id, result: results.take(error.businessTransactionId) }
      // It failed for certain, and there is a record of that, or it was refused.
      const record = error instanceof AnswerError ? await recordOf(id) : undefined
      if (record !== undefined) return standingOf(id, record)
      if (error instanceof AnswerError) return { status: 'refused', id, reason: error.message }
      throw error
    }
  }

  function standingOf(id: string, record: TrustRecord): Standing {
    const result = results.take(record.businessTransactionId)
    const execution = record.executions.at(-1)
    if (execution?.status === 'COMPLETED') return { status: 'completed', id, record, result }
    return { status: 'failed', id, record, reason: reasonOf(execution?.evidence.result), result }
  }

  /** The record of a call, whose execution has another id where a human was asked first. */
  async function recordOf(id: string): Promise<TrustRecord | undefined> {
    return (
      (await unlessMissing(client.trustRecord(deterministicId(id, 'approved')))) ??
      (await unlessMissing(client.trustRecord(id)))
    )
  }

  async function find(id: string, session: string): Promise<Followed | Standing> {
    const call = open.byId(id)
    if (call !== undefined) return call.session === session ? follow(call) : { status: 'unknown-id', id }
    const record = await recordOf(id)
    // The id is random: only a session that was told it can ask for it.
    if (record?.transaction.intent.action === action) return standingOf(id, record)
    const refusal = await unlessMissing(client.refusal(id))
    return refusal === undefined
      ? { status: 'unknown-id', id }
      : { status: 'refused', id, reason: refusal.decision.reason }
  }

  return { make, find, record: recordOf }
}

function reasonOf(result: unknown): string {
  const reason =
    typeof result === 'object' && result !== null && 'reason' in result ? result.reason : undefined
  return typeof reason === 'string' ? reason : 'The connector reported a failure.'
}

async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    if (error instanceof AnswerError && error.status === 404) return undefined
    throw error
  }
}
