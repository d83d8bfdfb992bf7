// The HTTP front end (Streamable HTTP): an OAuth resource server (RFC 9728) that accepts access tokens of the issuers that the operator trusts.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { hostHeaderValidation, originValidation, toNodeHandler } from '@modelcontextprotocol/node'
import {
  bearerAuthChallengeResponse,
  createMcpHandler,
  getOAuthProtectedResourceMetadataUrl,
  isLegacyRequest,
  localhostAllowedHostnames,
  OAuthError,
  OAuthErrorCode,
  type McpHandlerRequestOptions,
  type Server,
} from '@modelcontextprotocol/server'
import type { TokenIssuer } from '../core/callers/token-issuers.ts'
import { limitHeaders, openMemoryLimits } from '../core/concurrency/rate-limit.ts'
import { isTrustDomain } from '../formats/people/caller-authentication.ts'
import { openTokens, type Tokens } from '../core/callers/tokens.ts'
import { addressOf, LOOPBACK, PATH } from './address.ts'
import { authInfoOf, clientIn, type ClientOf } from './clients.ts'
import type { GatewayHttp } from './config.ts'
import { LISTEN, LISTEN_TO_TASKS, readMessage, withListeners } from './messages.ts'
import { openSessions } from './sessions.ts'

const METADATA = '/.well-known/oauth-protected-resource'
/** Arguments are at most 64 KiB, and a client may write them with escapes. */
const BODY_BYTES_MAX = 1024 * 1024
const LAST_REPLIES_MS = 1_000
/** All clients of a gateway call the service with the gateway's one key, and share the rate limit of that key. */
const REQUESTS_PER_MINUTE = 600
/** Every client without a token, where the operator allows unauthenticated calls. */
const ANYBODY: ClientOf = { caller: 'anybody', session: 'anybody' }

export interface HttpFront {
  /** The address that clients call. */
  readonly url: string
  /** Accepts no new request, gives running calls a moment to reply, then ends every stream. */
  readonly close: () => Promise<void>
}

/**
 * @param given.serverFor makes the server for one request, or for one session of a 2025 revision
 * @throws Error as `assertServable`, or where the port is taken
 */
export async function serveHttp({
  alias,
  port,
  http,
  serverFor,
  say,
}: {
  readonly alias: string
  readonly port: number
  readonly http: GatewayHttp
  readonly serverFor: (client: ClientOf) => Server
  readonly say: (sentence: string) => void
}): Promise<HttpFront> {
  const url = new URL(addressOf(http, port))
  const known = http.tokenIssuers && callersByToken(http.tokenIssuers, { alias, url, say })
  const onError = (error: Error) => say(error.message)
  const sessions = openSessions({ serverFor, onError })
  const stateless = createMcpHandler(({ authInfo }) => serverFor(clientIn(authInfo)), {
    legacy: 'reject',
    onerror: onError,
  })
  const limitOf = openRequestLimit(http.requestsPerMinute ?? REQUESTS_PER_MINUTE)
  const isHost = hostHeaderValidation([...localhostAllowedHostnames(), url.hostname])
  const isOrigin = originValidation([...localhostAllowedHostnames(), url.hostname])

  const handler = toNodeHandler(
    {
      fetch: async (request: Request, options: McpHandlerRequestOptions = {}) =>
        (await isLegacyRequest(request, options.parsedBody))
          ? sessions.fetch(request, options)
          : stateless.fetch(request, options),
    },
    { onerror: onError },
  )

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Protects against DNS rebinding: a web page whose name was made to point at this machine.
    if (!isHost(request, response) || !isOrigin(request, response)) return
    const pathname = URL.parse(request.url ?? '/', url)?.pathname
    if (known !== undefined && (pathname === METADATA || pathname === `${METADATA}${url.pathname}`))
      return answer(response, known.metadata())
    if (pathname !== PATH && pathname !== url.pathname)
      return answer(response, new Response(null, { status: 404 }))
    const client = known === undefined ? ANYBODY : await known.client(request)
    if (client instanceof Response) return answer(response, client)
    const over = limitOf(client)
    if (over !== undefined) return answer(response, over)
    const auth = authInfoOf({ client, onSent: (callback) => onSent(response, callback) })
    const asKnown = Object.assign(request as IncomingMessage & { method: string; url: string }, { auth })
    if (request.method !== 'POST') return handler(asKnown, response)
    const bytes = await bodyOf(request)
    if (bytes === undefined)
      return answer(response, new Response(null, { status: 413, headers: { connection: 'close' } }))
    const read = readMessage(bytes)
    if ('refused' in read)
      return answer(response, Response.json({ id: null, ...read.refused }, { status: 400 }))
    const message = withListeners(read.message)
    // The SDK compares the header with the message.
    if (message !== read.message && request.headers['mcp-method'] === LISTEN)
      request.headers['mcp-method'] = LISTEN_TO_TASKS
    return handler(asKnown, response, message)
  }

  const atWork = new Set<Promise<void>>()
  const listening = createServer((request, response) => {
    const served = serve(request, response)
      .catch((error: unknown) => {
        say(error instanceof Error ? error.message : String(error))
        response.destroy()
      })
      .finally(() => atWork.delete(served))
    atWork.add(served)
  }).listen(port, http.host ?? LOOPBACK)
  await once(listening, 'listening')
  return {
    url: url.href,
    async close() {
      const closed = once(listening, 'close')
      listening.close()
      // Streams on which a client only listens end with their servers.
      const timeUp = Promise.withResolvers<void>()
      const timer = setTimeout(timeUp.resolve, LAST_REPLIES_MS)
      await Promise.race([Promise.all(atWork), timeUp.promise])
      clearTimeout(timer)
      await Promise.all([sessions.close(), stateless.close()])
      listening.closeAllConnections()
      await closed
    },
  }
}

/** @returns a function that counts a client's request, and returns the 429 where the client is over the limit */
function openRequestLimit(perMinute: number): (client: ClientOf) => Response | undefined {
  const limit = { name: 'requests', perMinute }
  const limits = openMemoryLimits()
  return ({ caller }) => {
    const verdict = limits.take(limit, caller, performance.now())
    if (verdict.allowed) return undefined
    const { retryAfterSeconds } = verdict
    const message = `Refused, and nothing was done: a client may send ${perMinute} requests a minute. Try again in ${retryAfterSeconds} s.`
    return Response.json(
      { jsonrpc: '2.0', id: null, error: { code: -32_000, message } },
      {
        status: 429,
        headers: {
          'Retry-After': String(retryAfterSeconds),
          Connection: 'close',
          ...limitHeaders(limit, verdict),
        },
      },
    )
  }
}

interface CallersByToken {
  /** @returns the client, or the challenge for it */
  readonly client: (request: IncomingMessage) => Promise<ClientOf | Response>
  readonly metadata: () => Response
}

function callersByToken(
  issuers: readonly TokenIssuer[],
  {
    alias,
    url,
    say,
  }: { readonly alias: string; readonly url: URL; readonly say: (sentence: string) => void },
): CallersByToken {
  const capability = `mcp:${alias}`
  const scopes = [...new Set(issuers.flatMap(({ scopePrefix }) => scopePrefix ?? []))].map(
    (prefix) => `${prefix}${capability}`,
  )
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(url)
  const tokens: Tokens = openTokens(issuers, {
    // No caller of a gateway has a key.
    isTaken: () => false,
    log: ({ issuer, reason }, message) => say(`${message} (${[issuer, reason].filter(Boolean).join(': ')}).`),
  })
  const challenge = (code: OAuthErrorCode, message: string, requiredScopes: string[] = []) =>
    bearerAuthChallengeResponse(new OAuthError(code, message), { resourceMetadataUrl, requiredScopes })

  async function client({ headers, socket }: IncomingMessage): Promise<ClientOf | Response> {
    const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
    if (token === undefined || !tokens.isToken(token))
      return challenge(OAuthErrorCode.InvalidToken, 'An access token is needed.', scopes)
    const key = tokens.known(token) ?? (await tokens.verify(token, socket.remoteAddress ?? ''))
    if (typeof key === 'string') {
      say(`a token was refused: ${key}.`)
      return challenge(OAuthErrorCode.InvalidToken, 'The access token is not valid here.', scopes)
    }
    const { callerId, allowedCapabilities, unrestrictedCapabilities, allowedPrincipalIds } = key.caller
    if (!unrestrictedCapabilities && !allowedCapabilities.includes(capability))
      return challenge(
        OAuthErrorCode.InsufficientScope,
        `The access token does not grant ${capability}.`,
        scopes,
      )
    const [principalId, another] = allowedPrincipalIds
    if (principalId === undefined || another !== undefined)
      return challenge(OAuthErrorCode.InvalidToken, 'The access token must name one principal.', scopes)
    // A program that acts for two people counts as two clients.
    const caller = principalId === callerId ? callerId : `${callerId}\n${principalId}`
    return { caller, session: caller, principalId }
  }

  const document = {
    resource: url.href,
    authorization_servers: issuers.map(({ issuer }) => issuer).filter((issuer) => !isTrustDomain(issuer)),
    bearer_methods_supported: ['header'],
    resource_name: `countersign-${alias}`,
    ...(scopes.length > 0 && { scopes_supported: scopes }),
  }
  // A browser client reads this document from its own page (RFC 9728 §3).
  const metadata = () => Response.json(document, { headers: { 'access-control-allow-origin': '*' } })
  return { client, metadata }
}

async function answer(response: ServerResponse, reply: Response): Promise<void> {
  response.writeHead(reply.status, Object.fromEntries(reply.headers))
  response.end(Buffer.from(await reply.arrayBuffer()))
}

function onSent(response: ServerResponse, callback: () => void): void {
  let isGone = false
  // `close` comes before `finish` where the connection was lost.
  response.once('close', () => (isGone = true))
  response.once('finish', () => {
    if (!isGone) callback()
  })
}

/** @returns undefined where the body is too long */
async function bodyOf(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  // The connection is needed for the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
