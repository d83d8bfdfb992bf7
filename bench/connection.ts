// One keep-alive connection of the load generator: HTTP/1.1 over a plain or a TLS socket, one request at a time, and of a reply its
// status alone. Own code, because the generator shares the cores of what it measures, and a client library costs several times
// as much per request (docs/design-notes.md "The bench").
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

export interface Connection {
  /** Opens the socket before there is anything to send. out  when it is open, or could not be opened: `send` then tries again */
  readonly open: () => Promise<void>
  /** The whole request as text; opens the socket when there is none. out  by callback, status; 0 where no reply came */
  readonly send: (message: string, onReply: (status: number) => void) => void
  readonly close: () => void
}

const ANSWER_MS_MAX = 10_000
/** Servers give up connections that rest, some after five seconds: a request on its way to one would be lost. */
const REST_MS_MAX = 3_000
const CRLF2 = Buffer.from('\r\n\r\n')

export function openConnection(origin: URL): Connection {
  let socket: Socket | undefined
  let waiting: ((status: number) => void) | undefined
  let reader = openReader()
  let restsSinceMs = 0

  function end(status: number): void {
    const onReply = waiting
    waiting = undefined
    restsSinceMs = performance.now()
    onReply?.(status)
  }

  function connect(): Socket {
    const host = origin.hostname.replace(/^\[(.*)\]$/, '$1')
    const tls = origin.protocol === 'https:'
    const port = Number(origin.port || (tls ? 443 : 80))
    // A server name is for names: RFC 6066 has none for addresses.
    const serverName = /^[\d.]+$|:/.test(host) ? {} : { servername: host }
    const opened: Socket = tls
      ? connectTls({ host, port, ALPNProtocols: ['http/1.1'], ...serverName })
      : connectTcp({ host, port })
    opened.setNoDelay(true)
    opened.setTimeout(ANSWER_MS_MAX, () => opened.destroy())
    opened.on('error', () => opened.destroy())
    opened.on('close', () => {
      if (socket !== opened) return
      socket = undefined
      // A reply without a length ends with its connection.
      end(reader.endedByClose())
    })
    opened.on('data', (chunk: Buffer) => {
      const reply = reader.read(chunk)
      if (reply === undefined || socket !== opened) return
      reader = openReader()
      if (reply.closes) {
        socket = undefined
        opened.destroy()
      }
      end(reply.status)
    })
    return opened
  }

  return {
    open() {
      const opened = (socket ??= connect())
      restsSinceMs = performance.now()
      return new Promise((resolve) => {
        opened
          .once(origin.protocol === 'https:' ? 'secureConnect' : 'connect', resolve)
          .once('close', resolve)
      })
    },
    send(message, onReply) {
      if (socket !== undefined && performance.now() - restsSinceMs > REST_MS_MAX) {
        const rested = socket
        socket = undefined
        rested.destroy()
      }
      if (socket === undefined) reader = openReader()
      socket ??= connect()
      waiting = onReply
      socket.write(message)
    },
    close() {
      const last = socket
      socket = undefined
      last?.destroy()
    },
  }
}

interface ReplyRead {
  readonly status: number
  /** The server does not go on with this connection. */
  readonly closes: boolean
}

/** Takes the bytes of one reply. */
function openReader(): { read: (chunk: Buffer) => ReplyRead | undefined; endedByClose: () => number } {
  let bytes: Buffer | undefined
  let head: (ReplyRead & { readonly length: number | 'chunked' | 'until close' }) | undefined
  let seen = 0
  return {
    read(chunk) {
      seen += chunk.length
      // What follows a head is only counted, unless it is chunked.
      if (head === undefined || head.length === 'chunked')
        bytes = bytes === undefined ? chunk : Buffer.concat([bytes, chunk])
      if (head === undefined && bytes !== undefined) {
        const headBytes = bytes.indexOf(CRLF2) + CRLF2.length
        if (headBytes < CRLF2.length) return undefined
        const text = bytes.toString('latin1', 0, headBytes)
        const status = Number(text.slice(9, 12))
        const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
        head = {
          status,
          closes: /\r\nconnection: *close/i.test(text),
          length: /\r\ntransfer-encoding: *chunked/i.test(text)
            ? 'chunked'
            : length !== undefined
              ? Number(length)
              : status === 204 || status === 304
                ? 0
                : 'until close',
        }
        seen -= headBytes
        bytes = head.length === 'chunked' ? bytes.subarray(headBytes) : undefined
      }
      if (head === undefined) return undefined
      const { length } = head
      const ended =
        typeof length === 'number'
          ? seen >= length
          : length === 'chunked' && lastChunkIn(bytes ?? Buffer.alloc(0))
      return ended ? head : undefined
    },
    endedByClose: () => (head?.length === 'until close' ? head.status : 0),
  }
}

/** Whether a chunked body is there to its end (RFC 9112 §7.1). */
function lastChunkIn(body: Buffer): boolean {
  let at = 0
  for (;;) {
    const lineEnd = body.indexOf('\r\n', at)
    if (lineEnd < 0) return false
    const size = Number.parseInt(body.toString('latin1', at, lineEnd), 16)
    if (size === 0) return body.includes('\r\n\r\n', lineEnd)
    at = lineEnd + 2 + size + 2
    if (!(at <= body.length)) return false
  }
}
