// The listener over uWebSockets.js: half the CPU of node:http for a 1 KB POST. The library behaves like this, without a setting:
// - It waits 10 s (counted in steps of 4) for a head, for each 160 KB of body and between requests. A proxy in front must give up
//   its idle connections sooner.
// - A request pipelined behind one that is still unanswered ends the connection. A refusal from the head alone is answered.
// - `Expect: 100-continue` is answered before the head is checked.
// - HTTP/1.0, a target in absolute form and `OPTIONS *` are answered 505, with a page that says HTTP/1.0 for each of them.
// - It lists headers up to a header without a name, so a Content-Length behind that is not seen, and the body is read as a request.
//   No proxy passes on such a head (RFC 9110 §5.1); without a proxy in between a client deceives only itself.
import type UWebSockets from 'uWebSockets.js'
import { STATUS_CODES } from '../../../core/outbound/node-http.ts'
import { backlogTaken } from './backlog.ts'
import { serveRequest, type Wire } from './serve-request.ts'
import { plainAddress } from '../client-address.ts'
import { guard } from './guard.ts'
import { sendTexts } from './streamed.ts'
import type { Head, ListenOptions, Listener, Reply } from './listener.ts'
import { refusalOf, type DropReason } from './refused.ts'
import { countUnderway } from './underway.ts'
import { watchUnread } from './unread.ts'

/** @throws Error that names host and port when they cannot be listened on */
export async function listenUws(uws: typeof UWebSockets, options: ListenOptions): Promise<Listener> {
  const { onRequest, onDropped, timeouts } = options
  let stopping = false
  let refusing: Promise<void> | undefined
  const underway = countUnderway()
  const unread = watchUnread((address) => onDropped?.('unread', plainAddress(address)), timeouts?.headMs)
  const app = uws.App()
  app.filter((response, change) => {
    unread.swept()
    if (change === 1) unread.opened(remoteAddress(response), response.getRemotePort())
  })
  app.any('/*', (response, request) => {
    unread.request(() => [remoteAddress(response), response.getRemotePort()])
    const head = headOf(response, request)
    if (typeof head === 'string') {
      onDropped?.(head, plainAddress(remoteAddress(response)))
      refuse(response, refusalOf(head))
      return
    }
    serveRequest(head, onRequest, () => stopping, wireOf(response, head, underway.begin()))
  })
  const socket = await bind(app, options)

  function stopAccepting(): Promise<void> {
    stopping = true
    refusing ??= backlogTaken(() => 0).then(() => uws.us_listen_socket_close(socket))
    return refusing
  }
  return {
    server: 'uWebSockets.js',
    port: uws.us_socket_local_port(socket),
    stopAccepting,
    drained: underway.drained,
    async close() {
      await stopAccepting()
      app.close()
    },
  }
}

function bind(
  app: UWebSockets.TemplatedApp,
  { host, port }: ListenOptions,
): Promise<UWebSockets.us_listen_socket> {
  return new Promise((resolve, reject) => {
    app.listen(host, port, (socket: UWebSockets.us_listen_socket | false) => {
      if (socket !== false) resolve(socket)
      else reject(new Error(`cannot listen on ${host}:${port}: the port is taken or the host is not ours`))
    })
  })
}

function headOf(response: UWebSockets.HttpResponse, request: UWebSockets.HttpRequest): Head | DropReason {
  const headers: [string, string][] = []
  request.forEach((name, value) => void headers.push([name, value]))
  return guard({
    httpVersion: '1.1',
    method: request.getCaseSensitiveMethod(),
    path: request.getUrl(),
    query: request.getQuery() ?? '',
    headers,
    remoteAddress: () => remoteAddress(response),
  })
}

function refuse(response: UWebSockets.HttpResponse, refusal: Reply | undefined): void {
  if (refusal === undefined) return void response.close()
  let gone = false
  response.onAborted(() => void (gone = true))
  // Not within the library's parser, which would still run the bytes that follow as a request.
  setImmediate(() => {
    if (!gone) response.cork(() => write(response, refusal, false, true))
  })
}

/** One request; `ended` is called when its reply is with the socket, or its client has gone. */
function wireOf(response: UWebSockets.HttpResponse, { method, bodyBytes }: Head, ended: () => void): Wire {
  let gone = false
  let bodyAborted: (() => void) | undefined
  let replyAborted: (() => void) | undefined
  let isPaused = false
  /** Wakes a reply that waits for its client. */
  let moved: (() => void) | undefined
  response.onAborted(() => {
    gone = true
    ended()
    bodyAborted?.()
    replyAborted?.()
    moved?.()
  })
  return {
    // Nothing to do: a request pipelined behind an unanswered one ends the connection, and `write` sees to the rest.
    endsHere: () => undefined,
    readBody(done, aborted, turn) {
      bodyAborted = aborted
      if (turn !== undefined) {
        response.pause()
        isPaused = true
        void turn.then(resume)
      }
      readBody(response, bodyBytes, (body) => {
        bodyAborted = undefined
        done(body)
      })
    },
    discardBody(done) {
      bodyAborted = done
      response.onData((_chunk, isLast) => {
        if (!isLast) return
        bodyAborted = undefined
        done()
      })
    },
    write(reply, close) {
      // Must come first: once the reply has left, the response may not be used.
      resume()
      const send = (): void => {
        if (!gone && reply.texts !== undefined && method !== 'HEAD') {
          void sendStreamed(reply, reply.texts, close)
          return
        }
        if (gone) {
          reply.sent?.()
        } else {
          replyAborted = reply.sent
          response.cork(() => write(response, reply, method === 'HEAD', close))
        }
        ended()
      }
      // Written inside the library's parser, `close` is forgotten once another request is pipelined behind, and that request is run.
      if (close) setImmediate(send)
      else send()
    },
  }

  function resume(): void {
    if (isPaused && !gone) response.resume()
    isPaused = false
  }

  async function sendStreamed(reply: Reply, texts: AsyncIterable<string>, close: boolean): Promise<void> {
    response.cork(() => writeHead(response, reply))
    response.onWritable(() => {
      moved?.()
      return true
    })
    await sendTexts(texts, {
      async write(chunk) {
        let taken = false
        if (!gone) response.cork(() => (taken = response.write(chunk)))
        if (!gone && !taken) await new Promise<void>((resolve) => (moved = resolve))
        return !gone
      },
      end: () => gone || response.cork(() => response.end(undefined, close)),
      cut: () => gone || response.close(),
    })
    reply.sent?.()
    ended()
  }
}

function readBody(
  response: UWebSockets.HttpResponse,
  bodyBytes: number,
  done: (body: Uint8Array) => void,
): void {
  let body: Uint8Array | undefined
  let received = 0
  response.onData((chunk, isLast) => {
    // A chunk is memory of the server, which takes it back when this returns.
    if (chunk.byteLength === bodyBytes) {
      body = new Uint8Array(chunk.slice(0))
    } else {
      body ??= new Uint8Array(bodyBytes)
      body.set(new Uint8Array(chunk), received)
    }
    received += chunk.byteLength
    if (isLast) done(body ?? new Uint8Array(0))
  })
}

function writeHead(
  response: UWebSockets.HttpResponse,
  { status, headers }: Pick<Reply, 'status' | 'headers'>,
): void {
  response.writeStatus(`${status} ${STATUS_CODES[status] ?? ''}`)
  for (const [name, value] of Object.entries(headers)) {
    if (name !== 'Connection') response.writeHeader(name, value)
  }
}

function write(response: UWebSockets.HttpResponse, reply: Reply, isHead: boolean, close: boolean): void {
  writeHead(response, reply)
  // The length of a streaming reply is unknown.
  if (reply.status === 204 || reply.status === 304 || (isHead && reply.texts !== undefined)) {
    // Without a Content-Length there is no argument to close by: the client closes, or the idle timeout does.
    if (close) response.writeHeader('Connection', 'close')
    response.endWithoutBody()
  } else if (isHead) {
    response.endWithoutBody(Buffer.byteLength(reply.body), close)
  } else {
    // Encoded here: the library would send a string that fits into Latin-1 in Latin-1.
    const body = typeof reply.body === 'string' ? Buffer.from(reply.body) : reply.body
    // end() keeps the bytes that it cannot send at once, and does not report when they are gone.
    if (reply.sent !== undefined && !close) return stream(response, body, reply.sent)
    response.end(body, close)
  }
  reply.sent?.()
}

function stream(response: UWebSockets.HttpResponse, body: Uint8Array, sent: () => void): void {
  const [, ended] = response.tryEnd(body, body.byteLength)
  if (ended) return sent()
  response.onWritable((offset) => {
    const [ok, endedNow] = response.tryEnd(body.subarray(offset), body.byteLength)
    if (endedNow) sent()
    return ok
  })
}

function remoteAddress(response: UWebSockets.HttpResponse): string {
  return Buffer.from(response.getRemoteAddressAsText()).toString('latin1')
}
