// One call of a tool, from the wish to its outcome: submitted, approved by a human where the policy asks for one, carried out at most once.
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
  /** It was in doubt, and is known by now to have been carried out. There is no record, and its result is lost. */
  | { readonly status: 'resolved'; readonly id: string; readonly by: string }
  | {
      readonly status: 'refused'
      readonly id: string
      readonly reason: string
      /** By its client, before a human had approved it. */
      readonly wasCancelled?: true
    }
  | {
      readonly status: 'waiting'
      readonly id: string
      readonly request: ApprovalRequest
      /** Where a human looks at it. */
      readonly page: string
    }
  | { readonly status: 'running'; readonly id: string }
  | {
      readonly status: 'in-doubt'
      readonly id: string
      /** Under this id the service has it, and an operator: another one than `id` where a human has approved it. */
      readonly executedAs: string
      readonly result: CallToolResult | undefined
    }
  | { readonly status: 'unknown-id'; readonly id: string }

/** Each may keep 60 KiB of a result in memory. Calls in doubt count and are never dropped: one that was forgotten could act twice. */
const OPEN_CALLS_OF_CALLER_MAX = 200
const CANCELLED = 'The call was cancelled before a human had approved it.'
/** Ids of cancelled calls that are remembered: the service knows nothing of a call that was never released. */
const CANCELLED_MAX = 1_000
/** An outcome that nobody has fetched is kept so long. The service keeps the record, which `countersign_result` still finds by its id. */
const UNTOLD_KEPT_MS = 24 * 60 * 60_000

/** Whether nothing follows this standing. */
export const hasEnded = ({ status }: Standing) =>
  status === 'completed' || status === 'failed' || status === 'resolved' || status === 'refused'

export interface Wish {
  /** Whose calls may be one. */
  readonly client: ClientOf
  readonly tool: string
  readonly toolHash: string
  readonly arguments: { readonly [name: string]: Json }
  /** Of the host, which repeats a call under the same id, in any session. */
  readonly transactionId?: string | undefined
}

/** A call that is followed here. */
export interface Followed {
  readonly id: string
  /** ISO 8601. */
  readonly createdAt: string
  /** Resolves when a human was asked, and never where none is. */
  readonly whenAsked: Promise<void>
  /** Resolves when humans have approved what they were asked, and never where they do not. */
  readonly whenApproved: Promise<void>
  /**
   * Follows it until it has ended.
   * @returns rejects where the service cannot be reached: then the call stays open
   */
  readonly join: () => Promise<Standing>
  /** How it stands now. */
  readonly standing: () => Standing
  /** Takes back a `join`. A call that nobody follows any more is dropped if it waits for a human, now or later. */
  readonly leave: () => void
  /** Drops it, whoever follows it, where it waits for a human, now or later. What was released goes on. */
  readonly cancel: () => void
  /** Says that its client gets the outcome: from now on an equal call is another one. */
  readonly told: () => void
}

export interface Calls {
  /**
   * Submits a call, or goes on with an equal one that has not ended or whose outcome nobody was told.
   * @param signal of the client: a call that it cancels before it is sent is not sent
   * @returns how it stands where it is refused at once, because its id is that of another call
   * @throws the signal's reason
   */
  readonly make: (wish: Wish, signal: AbortSignal) => Promise<Followed | Standing>
  /** Finds a call by its id: one that is open, or how it has ended. */
  readonly find: (id: string, client: ClientOf) => Promise<Followed | Standing>
  /** The signed record of a call that was carried out; undefined where there is none. */
  readonly record: (id: string, client: ClientOf) => Promise<TrustRecord | undefined>
  /** Follows nothing any more. What is open stays open, for the next process. */
  readonly close: () => void
}

interface Running extends Followed {
  /** Follows it no more. What is kept of it stays as it is. */
  readonly stop: (reason: Error) => void
  /** Whether it has ended and nobody was told how. */
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
    /** Of the client: a call that can be cancelled has one of its own. */
    readonly options: Options
    /** Where a human opens a request. */
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
  /** By businessTransactionId: what has not ended, and what has ended and nobody was told. */
  const followed = new Map<string, Running>()
  /** Callers of calls that were cancelled, by their ids, the oldest first. */
  const cancelled = new Map<string, string>()
  let isClosed = false

  /** The gateway's own, the same for each call: it is asked once, and again where there was no answer. */
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
    // An equal call may have come meanwhile.
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

  /** An equal call that is open. A host's id that is the id of another open call is refused: that call's result is not this one's. */
  function openBefore({ transactionId }: Wish, key: string): Followed | Standing | undefined {
    const equal = open.byKey(key)
    if (equal !== undefined) return follow(equal)
    if (transactionId === undefined || open.byId(transactionId) === undefined) return undefined
    const reason = 'Its transaction id is that of another call, whose outcome countersign_result tells.'
    return { status: 'refused', id: transactionId, reason }
  }

  /** Why a caller may begin no further call; undefined where it may. */
  function tooManyOpen(caller: string): string | undefined {
    const ids = open.ofCaller(caller).map(({ transaction }) => transaction.businessTransactionId)
    if (ids.length < openCallsMax) return undefined
    const ended = ids.find((id) => followed.get(id)?.isUntold())
    const say = `${ids.length} calls of this client have not ended, or their outcomes were not fetched.`
    return ended === undefined
      ? `${say} Wait until one has ended: countersign_result with {"id": "${ids[0]}"} tells how the oldest one stands.`
      : `${say} Fetch the outcome of one first: call countersign_result with {"id": "${ended}"}.`
  }

  /** The same for all who follow a call at a time. */
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
      // A host's id may be followed anew by now.
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
        // A repeated look harms nobody, and an old answer would be wrong. An effect is remembered until somebody is told: its agent repeats the call.
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
    // Each follower is told; where there is none, the call stays open.
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

  /** Withdraws what waited. Where that comes too late, an execution may be on its way, and the call stays open. */
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

  /** A call that is sent again may be refused, as by a limit, although it acted the first time: the service knows. */
  async function afterError(id: string, error: InDoubtError | AnswerError): Promise<Standing> {
    const isDoubt = error instanceof InDoubtError
    const outcome = await outcomeOf(client, { id, action }).catch((unread: unknown) => {
      if (isDoubt) return undefined
      throw unread
    })
    if (outcome !== undefined && outcome.kind !== 'refused' && outcome.kind !== 'unknown')
      return standingAt(id, outcome)
    // Nothing that was found is no proof that nothing is on its way.
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
   * How a call stands that is not open here. Its id may follow from one that a host gave, which others may know or guess: a caller by token is told
   * of what was asked for on its own authority alone.
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
