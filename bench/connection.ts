// Keep-alive connections of the bench's own load generator, one request at a time; of a right reply only the status is kept.
import { buildConnector, Client } from 'undici'
import type { Socket } from 'node:net'
import type { Message } from './request.ts'

export interface Connection {
  readonly send: (message: Message, onReply: (reply: Reply) => void) => void
}

export interface Reply {
  /** 0 where no whole reply came. */
  readonly status: number
  /** What the header Retry-After says. */
  readonly retryAfterSeconds: number | undefined
  /** The first part of what an error says. */
  readonly text: string
  /** What the header RateLimit-Policy of an error says. */
  readonly limit?: string | undefined
}

export const NO_REPLY: Reply = { status: 0, retryAfterSeconds: undefined, text: '' }

/**
 * @param url of the service; its path is not used
 * @returns connections that are open already, because callers keep theirs; where one could not be opened, `send` tries again
 */
export type OpenConnections = (
  url: string,
  count: number,
) => Promise<{
  readonly connections: readonly Connection[]
  /** @throws Error where the replies were counted otherwise on the way */
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
    close: async () => void (await Promise.all(opened.map(({ close }) => close()))),
  }
}

/** @returns as much of an error's text as is kept */
export function firstOf(text: string): string {
  return text.slice(0, TEXT_CHARS_MAX)
}

/** @returns undefined where the header is left out, or is a date */
export function secondsOf(header: string | readonly string[] | undefined): number | undefined {
  const seconds = Number.parseInt(String(header), 10)
  return seconds >= 0 ? seconds : undefined
}

const connect = buildConnector({ allowH2: false, timeout: ANSWER_MS_MAX })

async function openConnection(url: string): Promise<Connection & { close: () => Promise<void> }> {
  const { origin, protocol, hostname, host, port } = new URL(url)
  let opened = await new Promise<Socket | undefined>((resolve) =>
    connect({ protocol, host, port, hostname: hostname.replace(/^\[(.*)\]$/, '$1') }, (_error, socket) =>
      resolve(socket ?? undefined),
    ),
  )
  const client = new Client(origin, {
    headersTimeout: ANSWER_MS_MAX,
    bodyTimeout: ANSWER_MS_MAX,
    keepAliveTimeout: IDLE_MS_MAX,
    keepAliveMaxTimeout: IDLE_MS_MAX,
    connect: (options, callback) => {
      const socket = opened
      opened = undefined
      if (socket === undefined || socket.destroyed) connect(options, callback)
      // The client ignores an answer within its own call.
      else queueMicrotask(() => callback(null, socket))
    },
  })
  return {
    send({ method, path, headers, body }, onReply) {
      let status = 0
      let retryAfterSeconds: number | undefined
      let text = ''
      let limit: string | undefined
      client.dispatch(
        { method, path, headers: [...headers], ...(body === undefined ? {} : { body }) },
        {
          onRequestStart: () => undefined,
          onResponseStart(_controller, code, received) {
            status = code
            retryAfterSeconds = secondsOf(received['retry-after'])
            if (status >= 400) limit = textOf(received['ratelimit-policy'])
          },
          onResponseData(_controller, chunk) {
            if (status >= 400) text = firstOf(text + chunk.toString())
          },
          onResponseEnd: () => onReply({ status, retryAfterSeconds, text, limit }),
          onResponseError: () => onReply(NO_REPLY),
        },
      )
    },
    close() {
      opened?.destroy()
      return client.destroy()
    },
  }
}

/** Of a header, which may be a list. */
export function textOf(header: string | string[] | undefined): string | undefined {
  return header === undefined ? undefined : [header].flat().join(', ')
}
