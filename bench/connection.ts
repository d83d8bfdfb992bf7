// Keep-alive connections of the bench's own load generator, one request at a time. Of a right reply only the status is kept.
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Message } from './request.ts'

export interface Connection {
  readonly send: (message: Message, onReply: (reply: Reply) => void) => void
}

export interface Reply {
  /** 0 where no whole reply came. */
  readonly status: number
  /** The value of the header Retry-After. */
  readonly retryAfterSeconds: number | undefined
  /** The first part of an error's text. */
  readonly text: string
  /** The value of the header RateLimit-Policy of an error. */
  readonly limit?: string | undefined
}

export const NO_REPLY: Reply = { status: 0, retryAfterSeconds: undefined, text: '' }

/**
 * @param url of the service; its path is not used
 * @returns open connections, because callers keep theirs open; `send` tries again to open a connection that failed
 */
export type OpenConnections = (
  url: string,
  count: number,
) => Promise<{
  readonly connections: readonly Connection[]
  /** @throws Error where the generator has counted other replies */
  readonly close: () => Promise<void>
}>

export const ANSWER_MS_MAX = 10_000
/** Servers close idle connections, some after five seconds: a request on its way to one would be lost. */
export const IDLE_MS_MAX = 3_000
const TEXT_CHARS_MAX = 500

export const openConnections: OpenConnections = async (url, count) => {
  const opened = await Promise.all(Array.from({ length: count }, () => openConnection(url)))
  return {
    connections: opened,
    close: async () => {
      for (const { close } of opened) close()
    },
  }
}

/** @returns the part of an error's text that is kept */
export function firstOf(text: string): string {
  return text.slice(0, TEXT_CHARS_MAX)
}

/** @returns undefined where the header is missing, or is a date */
export function secondsOf(header: string | readonly string[] | undefined): number | undefined {
  const seconds = Number.parseInt(String(header), 10)
  return seconds >= 0 ? seconds : undefined
}

async function openConnection(url: string): Promise<Connection & { close: () => void }> {
  const { protocol, hostname, host, port } = new URL(url)
  const isSecure = protocol === 'https:'
  const { Agent, request } = isSecure ? https : http
  const name = hostname.replace(/^\[(.*)\]$/, '$1')
  const server = { host: name, port: Number(port || (isSecure ? 443 : 80)) }
  const connect = () =>
    isSecure ? connectTls({ ...server, servername: isIP(name) ? '' : name }) : connectTcp(server)
  let opened = await openSocket(connect(), isSecure ? 'secureConnect' : 'connect')
  const agent = new Agent({ keepAlive: true, maxSockets: 1, timeout: IDLE_MS_MAX })
  agent.createConnection = () => {
    const socket = opened
    opened = undefined
    return socket?.destroyed === false ? socket : connect()
  }
  return {
    send({ method, path, headers, body }, onReply) {
      let reply = NO_REPLY
      const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))]
      const sent = request({
        ...server,
        agent,
        method,
        path,
        headers: ['Host', host, ...length, ...headers],
        timeout: ANSWER_MS_MAX,
      })
      sent.on('timeout', () => sent.destroy())
      // `close` follows, with no reply.
      sent.on('error', () => undefined)
      sent.on('close', () => onReply(reply))
      sent.on('response', (response) => {
        const { statusCode: status = 0, headers: received } = response
        let text = ''
        response.on('error', () => undefined)
        response.on('data', (chunk: Buffer) => {
          if (status >= 400) text = firstOf(text + chunk.toString())
        })
        response.on('end', () => {
          const limit = status >= 400 ? textOf(received['ratelimit-policy']) : undefined
          reply = { status, retryAfterSeconds: secondsOf(received['retry-after']), text, limit }
        })
      })
      sent.end(body)
    },
    close() {
      opened?.destroy()
      agent.destroy()
    },
  }
}

/** @returns the socket, or undefined where it did not open in time */
async function openSocket(socket: Socket, isOpen: 'connect' | 'secureConnect'): Promise<Socket | undefined> {
  // The server may reset the socket before its first request, which then opens another.
  socket.on('error', () => undefined)
  try {
    await once(socket, isOpen, { signal: AbortSignal.timeout(ANSWER_MS_MAX) })
    return socket
  } catch {
    socket.destroy()
    return undefined
  }
}

/** A header may be a list. */
export function textOf(header: string | string[] | undefined): string | undefined {
  return header === undefined ? undefined : [header].flat().join(', ')
}
