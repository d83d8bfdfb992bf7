// One tool call from request to outcome: submitted, approved by a human where the policy asks for an approval, carried out at most once.
import {
  AnswerError,
  createCountersign,
  ExecutionFailedError,
  IdUsedForAnotherIntentError,
  InDoubtError,
  NotApprovedError,
  type Asking,
  type Countersign,
  type Options,
  type Schemas,
} from '../../clients/typescript/src/index.ts'
import { canonicalize, type Json } from '../formats/json/canonical.ts'
import type { ClientOf } from './clients.ts'
import type { Results } from './effect.ts'
import type { OpenCall, OpenCalls } from './open-calls.ts'
import type { Lock } from './lock.ts'
import { outcomeOf, type Outcome } from './outcome.ts'
import { sha256Hex } from './tools.ts'
import type { CallToolResult } from './upstream.ts'

type TrustRecord = Schemas['ExecutionTrustRecord']
type ApprovalRequest = Schemas['ApprovalRequest']

/** The status of a call. `id` is its businessTransactionId, by which the agent asks for the outcome. */
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
  /** The call was in doubt and is now known to have been carried out. There is no record, and its result is lost. */
  | { readonly status: 'resolved'; readonly id: string; readonly by: string }
  | {
      readonly status: 'refused'
      readonly id: string
      readonly reason: string
      /** Whether the client cancelled the call before a human had approved it. */
      readonly wasCancelled?: true
    }
  | {
      readonly status: 'waiting'
      readonly id: string
      readonly request: ApprovalRequest
      /** The console page of the request. */
      readonly page: string
    }
  | { readonly status: 'running'; readonly id: string }
  | {
      readonly status: 'in-doubt'
      readonly id: string
      /** The id of the execution at the service, for an operator. It differs from `id` where a human has approved the call. */
      readonly executedAs: string
      readonly result: CallToolResult | undefined
    }
  | { readonly status: 'unknown-id'; readonly id: string }

/** Each open call may keep 60 KiB of a result in memory. Calls in doubt count and are never dropped: a forgotten call could act twice. */
const OPEN_CALLS_OF_CALLER_MAX = 200
const CANCELLED = 'The call was cancelled before a human had approved it.'
/** How many ids of cancelled calls are remembered, because the service does not know a call that was never released. */
const CANCELLED_MAX = 1_000
/** How long an outcome that was not fetched is kept. Afterwards `countersign_result` still finds the service's record by its id. */
const UNTOLD_KEPT_MS = 24 * 60 * 60_000

/** Whether this status is final. */
export const hasEnded = ({ status }: Standing) =>
  status === 'completed' || status === 'failed' || status === 'resolved' || status === 'refused'

export interface Wish {
  /** Only equal calls of the same client are treated as one call. */
  readonly client: ClientOf
  readonly tool: string
  readonly toolHash: string
  readonly arguments: { readonly [name: string]: Json }
  /** The host's id for the call. The host repeats a call under the same id, in any session. */
  readonly transactionId?: string | undefined
}

/** A call that this process follows. */
export interface Followed {
  readonly id: string
  /** ISO 8601. */
  readonly createdAt: string
  /** Resolves when a human was asked; never resolves where no human is asked. */
  readonly whenAsked: Promise<void>
  /** Resolves when humans have approved the request; never resolves where they do not. */
  readonly whenApproved: Promise<void>
  /**
   * Follows the call until it has ended.
   * @returns its status; rejects where the service cannot be reached, and the call then stays open
   */
  readonly join: () => Promise<Standing>
  /** The current status. */
  readonly standing: () => Standing
  /** Undoes a `join`. A call without followers is dropped if it waits for a human, now or later. */
  readonly leave: () => void
  /** Drops the call despite its followers if it waits for a human, now or later. A released call continues. */
  readonly cancel: () => void
  /** Notes that the client receives the outcome: from now on an equal call is a new call. */
  readonly told: () => void
}

export interface Calls {
  /**
   * Submits a call, or continues an equal call that has not ended or whose outcome was not delivered.
   * @param signal of the client: a call that is cancelled before it is sent is not sent
   * @returns the followed call; its status where it is refused at once, for example because its id belongs to another call
   * @throws the signal's reason
   */
  readonly make: (wish: Wish, signal: AbortSignal) => Promise<Followed | Standing>
  /** Finds a call by its id: the open call, or the status of a call that is not open here. */
  readonly find: (id: string, client: ClientOf) => Promise<Followed | Standing>
  /** The signed record of a call that was carried out; undefined where there is none. */
  readonly record: (id: string, client: ClientOf) => Promise<TrustRecord | undefined>
  /** Stops following all calls. Open calls stay open for the next process. */
  readonly close: () => void
}

interface Running extends Followed {
  /** Stops following the call. Its stored state stays as it is. */
  readonly stop: (reason: Error) => void
  /** Whether the call has ended and its outcome was not delivered. */
  readonly isUntold: () => boolean
}

export function makeCalls(
  client: Countersign,
  {
    options,
    consoleUrl = options.baseUrl,
    alias,
    lock,
    open,
    results,
    openCallsMax = OPEN_CALLS_OF_CALLER_MAX,
    untoldKeptMs = UNTOLD_KEPT_MS,
  }: {
    /** Options of the client. Each call has a client of its own, so that it can be cancelled. */
    readonly options: Options
    /** The console where a human opens a request. */
    readonly consoleUrl?: string
    readonly alias: string
    readonly lock: Lock
    readonly open: OpenCalls
    readonly results: Results
    /** How many open calls a caller may have. */
    readonly openCallsMax?: number
    readonly untoldKeptMs?: number
  },
): Calls {
  const action = `mcp:${alias}`
  let callerId: Promise<string> | undefined
  /** By businessTransactionId: calls that have not ended, and ended calls whose outcome was not delivered. */
  const followed = new Map<string, Running>()
  /** Callers of cancelled calls, by the id of the call, oldest first. */
  const cancelled = new Map<string, string>()
  let isClosed = false

  /** The gateway's own principal, the same for each call: read from the service once, and again after a failure. */
  const principal = () =>
    (callerId ??= client.callerIdentity().then(
      (identity) => identity.callerId,
      (error: unknown) => {
        callerId = undefined
        throw error
      },
    ))

  async function make(wish: Wish, signal: AbortSignal): Promise<Followed | Standing> {
    const { client: from, transactionId } = wish
    const parameters = { arguments: wish.arguments, toolHash: wish.toolHash }
    const named = transactionId === undefined ? {} : { businessTransactionId: transactionId }
    const wisher = transactionId === undefined ? from.session : from.caller
    const key = sha256Hex(canonicalize([wisher, wish.tool, parameters, transactionId ?? null]))
    const before = openBefore(wish, key)
    if (before !== undefined) return before
    const principalId = from.principalId ?? (await principal())
    const transaction = await client.build({
      action,
      target: wish.tool,
      parameters,
      policy: lock.policy,
      principalId,
      ...named,
    })
    // An equal call may have arrived in the meantime.
    const meanwhile = openBefore(wish, key)
    if (meanwhile !== undefined) return meanwhile
    signal.throwIfAborted()
    const tooMany = tooManyOpen(from.caller)
    if (tooMany !== undefined)
      return { status: 'refused', id: transaction.businessTransactionId, reason: tooMany }
    const call = { key, caller: from.caller, transaction }
    open.begin(call)
    return follow(call)
  }

  /** Finds an equal open call. A host's id that belongs to another open call is refused, because that call has another result. */
  function openBefore({ transactionId }: Wish, key: string): Followed | Standing | undefined {
    const equal = open.byKey(key)
    if (equal !== undefined) return follow(equal)
    if (transactionId === undefined || open.byId(transactionId) === undefined) return undefined
    const reason =
      'Another call already uses this transaction id. countersign_result with this id has its outcome.'
    return { status: 'refused', id: transactionId, reason }
  }

  /** The reason why a caller may begin no further call; undefined where it may. */
  function tooManyOpen(caller: string): string | undefined {
    const ids = open.ofCaller(caller).map(({ transaction }) => transaction.businessTransactionId)
    if (ids.length < openCallsMax) return undefined
    const ended = ids.find((id) => followed.get(id)?.isUntold())
    const say = `${ids.length} calls of this client have not ended, or their outcomes were not fetched.`
    return ended === undefined
      ? `${say} Wait until one has ended: countersign_result with {"id": "${ids[0]}"} tells how the oldest one stands.`
      : `${say} Fetch the outcome of one first: call countersign_result with {"id": "${ended}"}.`
  }

  /** Returns the same object to all that follow a call at the same time. */
  function follow(call: OpenCall): Running {
    if (isClosed) throw new Error('The gateway has closed.')
    const id = call.transaction.businessTransactionId
    const running = followed.get(id) ?? started(call)
    followed.set(id, running)
    return running
  }

  function started(call: OpenCall): Running {
    const id = call.transaction.businessTransactionId
    const stopping = new AbortController()
    const caller = createCountersign({ ...options, signal: stopping.signal })
    let request: ApprovalRequest | undefined
    let isApproved = false
    const [asked, approved] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let followers = 0
    let wasLeft = false
    let forgetting: NodeJS.Timeout | undefined
    const drop = () => stopping.abort(new Error('The call was cancelled.'))

    function forget(): void {
      // The same host's id may belong to a newer call by now.
      if (followed.get(id) !== running) return
      followed.delete(id)
      clearTimeout(forgetting)
      open.end(call)
    }

    async function carriedOutOrDropped(): Promise<Standing> {
      try {
        const standing = await carriedOut(caller, call, {
          onAsked(made) {
            request = made
            asked.resolve()
            if (wasLeft && followers === 0) drop()
          },
          onApproved() {
            isApproved = true
            approved.resolve()
          },
        })
        if (!hasEnded(standing)) followed.delete(id)
        // Repeating a read is harmless, and an old answer would be wrong. An effect's outcome is kept until delivery: an agent may repeat the call.
        else if (lock.tools[call.transaction.intent.target]?.readOnly === true) forget()
        else if (!isClosed) forgetting = setTimeout(forget, untoldKeptMs).unref()
        return standing
      } catch (error) {
        const wasCancelled = stopping.signal.aborted && !isClosed
        const standing = wasCancelled ? await dropped(id, request) : undefined
        if (standing !== undefined && hasEnded(standing)) {
          forget()
          remember(id, call.caller)
        } else followed.delete(id)
        if (standing === undefined) throw error
        return standing
      }
    }

    const ended = carriedOutOrDropped()
    // Each follower gets the rejection. Without a follower, the call stays open.
    ended.catch(() => {})
    const running: Running = {
      id,
      createdAt: call.transaction.intent.createdAt,
      whenAsked: asked.promise,
      whenApproved: approved.promise,
      join() {
        followers++
        return ended
      },
      standing: () =>
        request === undefined || isApproved
          ? { status: 'running', id }
          : {
              status: 'waiting',
              id,
              request,
              page: new URL(`/console/requests/${request.request.requestId}`, consoleUrl).href,
            },
      leave() {
        if (--followers > 0) return
        wasLeft = true
        if (request !== undefined) drop()
      },
      cancel() {
        followers = 0
        running.leave()
      },
      told: forget,
      stop(reason) {
        clearTimeout(forgetting)
        stopping.abort(reason)
      },
      isUntold: () => forgetting !== undefined,
    }
    return running
  }

  function remember(id: string, caller: string): void {
    cancelled.set(id, caller)
    const [oldest] = cancelled.keys()
    if (cancelled.size > CANCELLED_MAX && oldest !== undefined) cancelled.delete(oldest)
  }

  /** Withdraws the approval request. If that comes too late, an execution may be under way, and the call stays open. */
  async function dropped(id: string, request: ApprovalRequest | undefined): Promise<Standing> {
    if (request === undefined) return { status: 'running', id }
    try {
      await client.withdrawApprovalRequest(request.request.requestId)
      return { status: 'refused', id, reason: CANCELLED, wasCancelled: true }
    } catch {
      return { status: 'running', id }
    }
  }

  async function carriedOut(
    caller: Countersign,
    { transaction }: OpenCall,
    observers: Pick<Asking, 'onAsked' | 'onApproved'>,
  ): Promise<Standing> {
    const id = transaction.businessTransactionId
    const note = `A call of the tool ${transaction.intent.target} by an agent.`
    try {
      return standingOf(
        id,
        await caller.execute(transaction, { onApprovalNeeded: 'ask', note, ...observers }),
      )
    } catch (error) {
      if (error instanceof NotApprovedError) return { status: 'refused', id, reason: error.message }
      if (error instanceof ExecutionFailedError) return standingOf(id, error.record)
      if (error instanceof IdUsedForAnotherIntentError)
        return { status: 'refused', id, reason: error.message }
      if (error instanceof InDoubtError || error instanceof AnswerError) return afterError(id, error)
      throw error
    }
  }

  /** A repeated call may be refused, for example by a limit, although the first attempt acted. So the service is asked for the outcome. */
  async function afterError(id: string, error: InDoubtError | AnswerError): Promise<Standing> {
    const isDoubt = error instanceof InDoubtError
    const outcome = await outcomeOf(client, { id, action }).catch((unread: unknown) => {
      if (isDoubt) return undefined
      throw unread
    })
    if (outcome !== undefined && outcome.kind !== 'refused' && outcome.kind !== 'unknown')
      return standingAt(id, outcome)
    // Finding nothing does not prove that no execution is under way.
    if (isDoubt) return inDoubt(id, error.businessTransactionId)
    return { status: 'refused', id, reason: error.message }
  }

  function inDoubt(id: string, executedAs: string): Standing {
    return { status: 'in-doubt', id, executedAs, result: results.take(executedAs) }
  }

  function standingAt(id: string, outcome: Outcome): Standing {
    switch (outcome.kind) {
      case 'recorded':
        return standingOf(id, outcome.record)
      case 'open':
        return inDoubt(id, outcome.businessTransactionId)
      case 'closed': {
        const { isExecuted, by } = outcome
        if (isExecuted) return { status: 'resolved', id, by }
        return { status: 'refused', id, reason: `it was in doubt, and ${by} says that it did not happen.` }
      }
      case 'refused':
        return { status: 'refused', id, reason: outcome.reason }
      case 'unknown':
      default:
        return { status: 'unknown-id', id }
    }
  }

  function standingOf(id: string, record: TrustRecord): Standing {
    const result = results.take(record.businessTransactionId)
    const execution = record.executions.at(-1)
    if (execution?.status === 'COMPLETED') return { status: 'completed', id, record, result }
    return { status: 'failed', id, record, reason: reasonOf(execution?.evidence.result), result }
  }

  /**
   * The outcome of a call that is not open here. Its id may be derived from a host's id, which others may know or guess: a caller by token learns
   * only the outcome of calls on its own authority.
   */
  async function outcomeFor(id: string, { principalId }: ClientOf): Promise<Outcome> {
    const outcome = await outcomeOf(client, { id, action })
    if (principalId === undefined || outcome.kind === 'unknown') return outcome
    const { authority } =
      outcome.kind === 'recorded' ? outcome.record.transaction : await client.transaction(id)
    return authority.principalId === principalId ? outcome : { kind: 'unknown' }
  }

  async function recordOf(id: string, from: ClientOf): Promise<TrustRecord | undefined> {
    const outcome = await outcomeFor(id, from)
    return outcome.kind === 'recorded' ? outcome.record : undefined
  }

  async function find(id: string, from: ClientOf): Promise<Followed | Standing> {
    const call = open.byId(id)
    if (call !== undefined) return call.caller === from.caller ? follow(call) : { status: 'unknown-id', id }
    if (cancelled.get(id) === from.caller)
      return { status: 'refused', id, reason: CANCELLED, wasCancelled: true }
    return standingAt(id, await outcomeFor(id, from))
  }

  function close(): void {
    isClosed = true
    for (const { stop } of followed.values()) stop(new Error('The gateway has closed.'))
  }

  return { make, find, record: recordOf, close }
}

function reasonOf(result: unknown): string {
  const reason =
    typeof result === 'object' && result !== null && 'reason' in result ? result.reason : undefined
  return typeof reason === 'string' ? reason : 'The connector reported a failure.'
}
