// The listener over node:http, for machines where the binary of uWebSockets.js does not load.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer, STATUS_CODES } from '../../../core/outbound/node-http.ts'
import { bounds } from '../gates/index.ts'
import { backlogTaken } from './backlog.ts'
import { serveRequest } from './serve-request.ts'
import { plainAddress } from '../client-address.ts'
import { guard, headBytesMax } from './guard.ts'
import type { Head, ListenOptions, Listener, Reply, Timeouts } from './listener.ts'
import { refusalOf, type DropReason, type Refusal } from './refused.ts'
import { sendTexts } from './streamed.ts'
import { countUnderway } from './underway.ts'

const nodeTimeouts: Timeouts = {
  headMs: 10_000,
  requestMs: 30_000,
  // Above the 60 s after which common proxies drop an idle connection: the side that sends requests should close first,
  // or it sends a request into a connection that is just being closed.
  idleMs: 75_000,
  stalledMs: 120_000,
}
/** How often node looks for connections over headMs or requestMs. */
const timeoutCheckMs = 1_000

/** @throws Error that names host and port when they cannot be listened on */
export async function listenNode(options: ListenOptions): Promise<Listener> {
  const { onRequest, onDropped, timeouts = nodeTimeouts } = options
  let stopping = false
  let refusing: Promise<void> | undefined
  let accepted = 0
  const underway = countUnderway()
  /** The reply to each connection's newest request, until it has been written, or the connection's next request comes. */
  const newest = new WeakMap<Socket, ServerResponse>()
  /** Requests of each connection that are unanswered. */
  const unanswered = new WeakMap<Socket, number>()
  /** Connections that end with the reply under way. Node goes on parsing the requests pipelined behind it. */
  const ending = new WeakSet<Socket>()
  const server = openServer(timeouts)
  const closed = new Promise<void>((resolve) => server.once('close', resolve))

  server.on('connection', () => accepted++)
  server.on('request', onIncoming)
  // Without this listener node closes the connection without a trace. There is no reply to write into, only the socket.
  server.on('connect', (_request, socket) => drop(socket, 'target'))
  // Takes the place of 'request' for `Expect: 100-continue`: node would answer 100 before the head is checked.
  server.on('checkContinue', onIncoming)
  // Any other expectation: node itself would answer 417, past the guard. It is ignored, as RFC 9110 §10.1.1 allows.
  server.on('checkExpectation', onIncoming)
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket: Socket) => {
    // The bytes are behind the last request of a connection, whose reply is still to be sent.
    if (code === 'HPE_CLOSED_CONNECTION' && ending.has(socket)) return
    const reason = reasonOfError[code] ?? (code.startsWith('HPE_') ? 'syntax' : undefined)
    const refusal = reason && refusalOf(reason)
    // Written now, a refusal would pass for the reply to a request that is still running.
    const isUnanswered = newest.get(socket)?.writableFinished === false
    if (reason === undefined || refusal === undefined || isUnanswered || !socket.writable) {
      socket.destroy()
    } else {
      tellDropped(socket, reason)
      refuse(socket, refusal)
    }
  })
  const port = await bind(server, options)
  return {
    server: 'node:http',
    port,
    stopAccepting,
    drained: underway.drained,
    async close() {
      await stopAccepting()
      server.closeAllConnections()
      await closed
    },
  }

  function onIncoming(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    if (socket.destroyed || ending.has(socket)) return
    newest.set(socket, response)
    const head = headOf(request)
    if (typeof head === 'string') return refuseHead(response, socket, head)
    if ((unanswered.get(socket) ?? 0) >= bounds.pipelined) return drop(socket, 'pipelined')
    const ended = begin(socket)
    serveRequest(head, onRequest, () => stopping, {
      endsHere: () => void ending.add(socket),
      readBody(done, aborted, turn) {
        const start = () => {
          const isAwaited =
            head.httpVersion !== '1.0' && head.header('expect')?.toLowerCase() === '100-continue'
          if (isAwaited && !response.headersSent) response.writeContinue()
          request.resume()
        }
        if (turn === undefined) start()
        else void turn.then(start)
        if (turn !== undefined) request.pause()
        readBody(request, head.bodyBytes, done, () => {
          aborted()
          ended()
        })
      },
      // 'close' comes at the end of the body, or when the connection ends before that.
      discardBody: (done) => void request.resume().once('close', done),
      write(reply, close) {
        if (close) ending.add(socket)
        if (reply.texts !== undefined && head.method !== 'HEAD' && !socket.destroyed) {
          writeHead(response, reply, close)
          void stream(response, reply.texts).finally(() => {
            reply.sent?.()
            ended()
          })
          return
        }
        if (reply.sent !== undefined) whenOut(response, socket, reply.sent)
        if (!socket.destroyed) write(response, reply, close)
        // The map would keep the reply and its request alive until the connection's next request: work for the garbage collector.
        if (response.writableLength === 0 && newest.get(socket) === response) newest.delete(socket)
        ended()
      },
    })
  }

  /** Returns a function to call when the request has its reply, or its client is gone; a second call does nothing. */
  function begin(socket: Socket): () => void {
    const end = underway.begin()
    unanswered.set(socket, (unanswered.get(socket) ?? 0) + 1)
    let isUnanswered = true
    return () => {
      end()
      if (isUnanswered) unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1)
      isUnanswered = false
    }
  }

  function refuseHead(response: ServerResponse, socket: Socket, reason: DropReason): void {
    ending.add(socket)
    tellDropped(socket, reason)
    const refusal = refusalOf(reason)
    if (refusal === undefined) socket.destroy()
    else write(response, refusal, true)
  }

  /** Refuses a request that the parser could not read: there is no response object, which would write the length and the date. */
  function refuse(socket: Socket, { status, headers, body }: Refusal): void {
    ending.add(socket)
    const all = { ...headers, 'Content-Length': Buffer.byteLength(body), Date: new Date().toUTCString() }
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
    socket.destroySoon()
  }

  function drop(socket: Duplex, reason: DropReason): void {
    tellDropped(socket, reason)
    socket.destroy()
  }

  function tellDropped(socket: Duplex, reason: DropReason): void {
    onDropped?.(reason, plainAddress((socket as Socket).remoteAddress ?? ''))
  }

  function stopAccepting(): Promise<void> {
    stopping = true
    // Not http's own close(): it also cuts idle connections whose next request is already on its way.
    refusing ??= backlogTaken(() => accepted).then(() => void NetServer.prototype.close.call(server))
    return refusing
  }
}

function openServer(timeouts: Timeouts): Server {
  const server = createServer({
    maxHeaderSize: headBytesMax,
    headersTimeout: timeouts.headMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.idleMs,
    connectionsCheckingInterval: timeoutCheckMs,
    // Node would answer 400 and still run the requests pipelined behind; the guard drops the connection.
    requireHostHeader: false,
    keepAlive: true,
    noDelay: true,
  })
  server.timeout = timeouts.stalledMs
  return server
}

/** Resolves to the port. */
function bind(server: Server, { host, port }: ListenOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    // Stays attached: a failed accept (out of file descriptors) must not end the process.
    server.on('error', (cause) =>
      reject(new Error(`cannot listen on ${host}:${port}: ${cause.message}`, { cause })),
    )
    server.listen({ host, port, backlog: 1024 }, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

function headOf({
  socket,
  rawHeaders,
  httpVersion,
  method = '',
  url = '',
}: IncomingMessage): Head | DropReason {
  const headers: [string, string][] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    headers.push([(rawHeaders[i] ?? '').toLowerCase(), rawHeaders[i + 1] ?? ''])
  }
  const queryAt = url.includes('?') ? url.indexOf('?') : url.length
  return guard({
    httpVersion,
    method,
    path: url.slice(0, queryAt),
    query: url.slice(queryAt + 1),
    headers,
    remoteAddress: () => socket.remoteAddress ?? '',
  })
}

function readBody(
  request: IncomingMessage,
  bodyBytes: number,
  done: (body: Uint8Array) => void,
  onAborted: () => void,
): void {
  let body: Uint8Array | undefined
  let received = 0
  request.on('data', (chunk: Buffer) => {
    if (chunk.length === bodyBytes) {
      body = chunk
    } else {
      body ??= new Uint8Array(bodyBytes)
      body.set(chunk, received)
    }
    received += chunk.length
    if (received === bodyBytes) done(body ?? new Uint8Array(0))
  })
  request.once('close', () => {
    if (received < bodyBytes) onAborted()
  })
}

/**
 * Calls `sent` once the reply has been written, or its connection has closed. Node emits no 'close' on a reply that is made after its client
 * has gone, or that still waits behind another reply then: the socket's 'close' stands in for it.
 */
function whenOut(response: ServerResponse, socket: Socket, sent: () => void): void {
  if (socket.destroyed) return sent()
  let isOut = false
  const out = (): void => {
    // For the reply that is being written when a connection ends, both events come.
    if (isOut) return
    isOut = true
    socket.off('close', out)
    sent()
  }
  response.once('close', out)
  // No limit: each pipelined request adds a listener.
  socket.setMaxListeners(0).once('close', out)
}

function write(response: ServerResponse, reply: Reply, close: boolean): void {
  const hasLength = reply.status !== 204 && reply.status !== 304 && reply.texts === undefined
  writeHead(
    response,
    reply,
    close,
    hasLength ? ['Content-Length', String(Buffer.byteLength(reply.body))] : [],
  )
  response.end(reply.body)
}

function writeHead(
  response: ServerResponse,
  { status, headers }: Reply,
  close: boolean,
  length: readonly string[] = [],
): void {
  const lines: string[] = []
  for (const [name, value] of Object.entries(headers)) if (name !== 'Connection') lines.push(name, value)
  if (close) lines.push('Connection', 'close')
  response.writeHead(status, lines.concat(length))
}

/** Resolves when the reply is out, or its client is gone. */
async function stream(response: ServerResponse, texts: AsyncIterable<string>): Promise<void> {
  const closed = new Promise<void>((resolve) => response.once('close', resolve))
  let moved: (() => void) | undefined
  response.on('drain', () => moved?.())
  void closed.then(() => moved?.())
  await sendTexts(texts, {
    async write(chunk) {
      if (response.destroyed) return false
      if (!response.write(chunk)) await new Promise<void>((resolve) => (moved = resolve))
      return !response.destroyed
    },
    end: () => void response.end(),
    cut: () => void response.destroy(),
  })
  await closed
}

/** The reasons of the parser's errors; every other error is a mistake of syntax. */
const reasonOfError: Readonly<Record<string, DropReason>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'slow',
  HPE_HEADER_OVERFLOW: 'size',
  HPE_INVALID_CONTENT_LENGTH: 'content-length',
  HPE_INVALID_TRANSFER_ENCODING: 'transfer-encoding',
  // A second Content-Length, or one behind a Transfer-Encoding.
  HPE_UNEXPECTED_CONTENT_LENGTH: 'content-length',
  HPE_INVALID_VERSION: 'http-version',
  HPE_PAUSED_H2_UPGRADE: 'http-version',
}
