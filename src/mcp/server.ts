// The gateway's MCP server: lists the pinned tools, submits calls to the service, and holds a call while it waits for a human.
import {
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  inputRequired,
  ProtocolError,
  Server,
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { CountersignError, deterministicId } from '../../clients/typescript/src/index.ts'
import { setLastUsed } from '../core/concurrency/rate-limit.ts'
import { canonicalize } from '../formats/json/canonical.ts'
import { isUuid } from '../formats/schemas/primitives.ts'
import { hasEnded, type Followed, type Standing } from './calls.ts'
import { whenSent, type ClientOf } from './clients.ts'
import type { Gateway } from './gateway.ts'
import { isOwnTool, ownTools, type OwnToolName } from './own-tools.ts'
import { META, replyOf, unreachable } from './replies.ts'
import { serveTasks, takesTasks, taskFor, TASKS } from './tasks.ts'
import { BadArguments, canonicalArguments, sha256Hex, type Tool } from './tools.ts'
import { verifiedReply } from './verifying.ts'

const INVALID_PARAMS = -32_602
/** Rules that a model cannot learn from the tools, which are those of the upstream server. */
const INSTRUCTIONS = `Every call of these tools is decided by a policy and leaves a signed record. Some calls wait until a human has approved them: the reply then says where, and nothing has been done yet; do not try another way. Ask for the outcome with countersign_result. Where a reply says that the outcome is not known, do not repeat the call: tell a human.`
/** A client gives up after 60 seconds without a message. */
const PROGRESS_EVERY_MS = 5_000

/** How many callers can verify their last call with `countersign_verify` without its id. */
const RECORDED_MAX = 10_000

export interface ServedBy {
  /** Opens the gateway with the first call. */
  readonly open: () => Promise<Gateway>
  readonly alias: string
  readonly version: string
  /** How long a call that waits for a human is held. */
  readonly holdMs: number
  /** The client that makes the calls. */
  readonly client: ClientOf
  /** 32 random bytes of this process. They bind a `requestState` to the client that received it. */
  readonly stateKey: Uint8Array
}

type Reply = CallToolResult | InputRequiredResult

/** The content of `requestState`, which a client sends back to continue a call. */
interface State {
  readonly id: string
  /** The hash of the requested call: tool, arguments, and the host's id. */
  readonly asked: string
}

/** A server for one connection of a client, or for one request of a client without a connection. */
export function gatewayServer(served: ServedBy): Server {
  const { open, alias, version, holdMs, client, stateKey } = served
  // A state of another process or of another session is refused. The client then repeats the call, which continues anyway.
  const codec = createRequestStateCodec<State>({ key: stateKey, bind: () => client.session })
  const server = new Server(
    { name: `countersign-${alias}`, version },
    {
      capabilities: { tools: {}, extensions: { [TASKS]: {} } },
      instructions: INSTRUCTIONS,
      requestState: { verify: (state, context) => codec.verify(state, context) },
    },
  )

  server.setRequestHandler('tools/list', async () => {
    const { catalogue } = await open()
    return { tools: [...(await catalogue.shown()), ...ownTools] }
  })

  serveTasks(server, { open, client })

  server.setRequestHandler('tools/call', async ({ params }, context): Promise<Reply> => {
    try {
      return isOwnTool(params.name)
        ? await callOwn(params.name, params.arguments, context)
        : await callTool(params.name, params.arguments, context)
    } catch (error) {
      if (error instanceof BadArguments) return problem(`Refused, and nothing was done: ${error.message}`)
      if (error instanceof CountersignError) return problem(unreachable(error))
      throw error
    }
  })

  async function callTool(name: string, given: unknown, context: ServerContext): Promise<Reply> {
    const { catalogue, calls, checkArguments } = await open()
    const found = await catalogue.find(name)
    if (found === undefined) throw new ProtocolError(INVALID_PARAMS, `Unknown tool: ${name}`)
    const state = context.mcpReq.requestState<State>()
    const args = canonicalArguments(given)
    checkArguments(found, args)
    const transactionId = transactionIdIn(context, client)
    const asked = sha256Hex(canonicalize([name, args, transactionId ?? null]))
    if (state !== undefined && state.asked !== asked)
      throw new ProtocolError(INVALID_PARAMS, 'requestState is of a call of another tool or other arguments.')
    const { signal } = context.mcpReq
    signal.throwIfAborted()
    const wish = { client, tool: name, toolHash: found.toolHash, arguments: args, transactionId }
    const followed = state === undefined ? await calls.make(wish, signal) : await calls.find(state.id, client)
    return held(followed, context, { tool: found.shown, ...(state === undefined && { asked }) })
  }

  async function callOwn(
    name: OwnToolName,
    given: { id?: unknown } | undefined,
    context: ServerContext,
  ): Promise<Reply> {
    const { calls, keySets, recorded } = await open()
    const isLast = name === 'countersign_verify' && given?.id === undefined
    const id = isLast ? recorded.get(client.caller) : given?.id
    if (isLast && id === undefined) return problem('No call of this client has been completed yet.')
    if (!isUuid(id))
      throw new ProtocolError(INVALID_PARAMS, 'id must be the UUID that a call was answered with.')
    if (name === 'countersign_verify') {
      const record = await calls.record(id, client)
      return record === undefined
        ? problem(`There is no record of a call with the id ${id}.`)
        : verifiedReply(record, await keySets())
    }
    return held(await calls.find(id, client), context)
  }

  /**
   * Waits for the outcome as long as a client does, then replies with the status of the call.
   * @param call.asked given in the first round of a call
   */
  async function held(
    followed: Followed | Standing,
    context: ServerContext,
    { tool, asked }: { readonly tool?: Tool; readonly asked?: string } = {},
  ): Promise<Reply> {
    const { url, recorded } = await open()
    const shown = { url, isStrict: tool?.outputSchema !== undefined }
    if ('status' in followed) return replyOf(followed, shown)
    const { signal } = context.mcpReq
    const timeUp = Promise.withResolvers<Standing>()
    const timer = setTimeout(() => timeUp.resolve(followed.standing()), holdMs)
    let seconds = 0
    const progress = setInterval(() => {
      seconds += PROGRESS_EVERY_MS / 1000
      void tellProgress(followed.standing(), seconds, context)
    }, PROGRESS_EVERY_MS)
    const cancel = () => followed.leave()
    const ended = followed.join()
    const mayBeTask = tool !== undefined && takesTasks(context)
    // A task need not be held. A client that can open addresses is first asked to open the request.
    if (mayBeTask && (asked === undefined || !canOpen(context)))
      void followed.whenAsked.then(() => timeUp.resolve(followed.standing()))
    if (signal.aborted) cancel()
    else signal.addEventListener('abort', cancel, { once: true })
    try {
      const standing = await Promise.race([ended, timeUp.promise])
      if (standing.status === 'waiting' && asked !== undefined && canOpen(context))
        return await askToOpen(standing, asked, context)
      if (mayBeTask && (standing.status === 'waiting' || standing.status === 'running'))
        return taskFor(standing, followed)
      // A client that has cancelled, or is gone, gets no reply.
      if ('record' in standing)
        setLastUsed(recorded, { key: client.caller, value: standing.id, keysMax: RECORDED_MAX })
      if (hasEnded(standing) && !signal.aborted) whenSent(context, () => followed.told())
      return replyOf(standing, shown)
    } finally {
      clearTimeout(timer)
      clearInterval(progress)
      signal.removeEventListener('abort', cancel)
    }
  }

  /** Asks the client's user to open the request's page. The user's answer is no approval: only a signature on that page is. */
  async function askToOpen(
    { id, request, page }: Standing & { status: 'waiting' },
    asked: string,
    context: ServerContext,
  ): Promise<InputRequiredResult> {
    const message = `This call waits for a human's approval (action code ${request.actionCode}). Open the request to look at it.`
    return inputRequired({
      inputRequests: { approval: inputRequired.elicitUrl({ message, url: page }) },
      requestState: await codec.mint({ id, asked }, context),
    })
  }

  /** Clients of the 2025 revisions declare their capabilities at the start, those of 2026 with each request. */
  function canOpen({ mcpReq }: ServerContext): boolean {
    const declared =
      ((mcpReq.envelope as Record<string, unknown> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] as
        ClientCapabilities | undefined) ?? server.getClientCapabilities()
    return declared?.elicitation?.url !== undefined
  }

  return server
}

/**
 * The host's own id of a call: a repeated call with this id is the same call. Two callers by token may send the same id, by mistake or to get the
 * result of the other caller, so the id of each is derived from the sent id and the caller.
 * @throws ProtocolError where it is no UUID
 */
function transactionIdIn({ mcpReq }: ServerContext, { caller, principalId }: ClientOf): string | undefined {
  const name = `${META}/transactionId`
  const id = mcpReq._meta?.[name]
  if (id === undefined) return undefined
  if (!isUuid(id)) throw new ProtocolError(INVALID_PARAMS, `_meta["${name}"] must be a UUID, version 1 to 5.`)
  const own = id.toLowerCase()
  return principalId === undefined ? own : deterministicId(own, caller)
}

async function tellProgress(standing: Standing, seconds: number, { mcpReq }: ServerContext): Promise<void> {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return
  const message =
    standing.status === 'waiting'
      ? `Waits for a human, for ${seconds} s: ${standing.page}`
      : `Runs for ${seconds} s`
  const params = { progressToken, progress: seconds, message }
  // A disconnected client gets no progress.
  await mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
}

const problem = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true })
