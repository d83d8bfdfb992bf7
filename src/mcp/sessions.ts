// Sessions of clients that speak a revision of 2025: each has a server of its own, and belongs to the caller that began it.
import { randomUUID } from 'node:crypto'
import {
  isInitializeRequest,
  WebStandardStreamableHTTPServerTransport,
  type McpHandlerRequestOptions,
  type Server,
} from '@modelcontextprotocol/server'
import { setLastUsed } from '../core/concurrency/rate-limit.ts'
import { isObject } from '../formats/json/fields.ts'
import { clientIn, whenReplied, withObserver, type ClientOf } from './clients.ts'
import { openEvents, type Events } from './events.ts'

/** A caller that opens more sessions ends its own oldest sessions. */
const SESSIONS_OF_CALLER_MAX = 32
const SESSIONS_MAX = 1_024
/** A client that comes later begins a new session, as the protocol says. */
const IDLE_MS = 60 * 60_000
/** The same number as that of the events that are kept for a session. */
const UNSENT_MAX = 256

interface Session {
  readonly caller: string
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly events: Events
  /** By the id of a request: the callback for when the reply has been sent, on any stream. */
  readonly unsent: Map<string, () => void>
  usedMs: number
}

export interface Sessions {
  /** Serves a request of a revision of 2025. */
  readonly fetch: (request: Request, options: McpHandlerRequestOptions) => Promise<Response>
  readonly close: () => Promise<void>
}

export function openSessions({
  serverFor,
  onError,
  nowMs = Date.now,
}: {
  readonly serverFor: (client: ClientOf) => Server
  readonly onError: (error: Error) => void
  readonly nowMs?: () => number
}): Sessions {
  /** Least recently used first. */
  const sessions = new Map<string, Session>()

  async function fetch(request: Request, options: McpHandlerRequestOptions): Promise<Response> {
    const client = clientIn(options.authInfo)
    const id = request.headers.get('mcp-session-id')
    if (id === null && isInitializeRequest(options.parsedBody)) return begun(client, request, options)
    const session = id === null ? undefined : sessions.get(id)
    // The session of another caller counts as unknown.
    if (id === null || session?.caller !== client.caller)
      return id === null
        ? problem(400, 'Begin with initialize, and send the header Mcp-Session-Id that it is answered with.')
        : problem(404, 'There is no such session.')
    session.usedMs = nowMs()
    sessions.delete(id)
    sessions.set(id, session)
    return request.method === 'POST' ? posted(session, request, options) : resumed(session, request, options)
  }

  function posted({ transport, unsent }: Session, request: Request, options: McpHandlerRequestOptions) {
    const { authInfo, parsedBody } = options
    const id = keyOf(isObject(parsedBody) ? parsedBody['id'] : undefined)
    const observed = withObserver(authInfo, (callback) =>
      setLastUsed(unsent, { key: id, value: callback, keysMax: UNSENT_MAX }),
    )
    return transport.handleRequest(request, {
      ...options,
      ...(observed !== undefined && { authInfo: observed }),
    })
  }

  /** Resumes a stream that was cut. Once it is sent, the reply that it was opened for counts as sent. */
  function resumed(
    { transport, events, unsent }: Session,
    request: Request,
    options: McpHandlerRequestOptions,
  ) {
    const lastEventId = request.headers.get('last-event-id')
    if (lastEventId !== null)
      whenReplied(options.authInfo, () => {
        for (const id of events.answeredOn(lastEventId)) unsent.get(keyOf(id))?.()
      })
    return transport.handleRequest(request, options)
  }

  async function begun(client: ClientOf, request: Request, options: McpHandlerRequestOptions) {
    await leaveOld(client.caller)
    if (sessions.size >= SESSIONS_MAX) return problem(503, 'There are too many sessions.')
    const id = randomUUID()
    const events = openEvents()
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      eventStore: events,
      onsessioninitialized: () => {
        const caller = client.caller
        sessions.set(id, { caller, transport, events, unsent: new Map(), usedMs: nowMs() })
      },
    })
    const server = serverFor({ ...client, session: `${client.caller}\n${id}` })
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
    server.onclose = () => sessions.delete(id)
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
    server.onerror = onError
    await server.connect(transport)
    return transport.handleRequest(request, options)
  }

  async function leaveOld(caller: string): Promise<void> {
    const own = [...sessions.values()].filter((one) => one.caller === caller)
    const tooMany = own.slice(0, Math.max(0, own.length - SESSIONS_OF_CALLER_MAX + 1))
    const idle = [...sessions.values()].filter(({ usedMs }) => usedMs < nowMs() - IDLE_MS)
    await Promise.all(new Set([...tooMany, ...idle].map(({ transport }) => transport.close())))
  }

  return {
    fetch,
    async close() {
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()))
    },
  }
}

/** 1 and "1" are two ids. */
const keyOf = (id: unknown) => JSON.stringify(id ?? null)

const problem = (status: number, message: string) =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code: -32_001, message } }, { status })
