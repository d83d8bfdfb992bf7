// One keep-alive connection of the load generator, one request at a time; of a reply only the status is kept.
import { buildConnector, Client } from 'undici'
import type { Socket } from 'node:net'
import type { Message } from './request.ts'

export interface Connection {
  /** Calls back with the status, or with 0 where no whole reply came. */
  readonly send: (message: Message, onReply: (status: number) => void) => void
  readonly close: () => void
}

const ANSWER_MS_MAX = 10_000
/** Servers close idle connections, some after five seconds: a request on its way to one would be lost. */
const IDLE_MS_MAX = 3_000

const connect = buildConnector({ allowH2: false, timeout: ANSWER_MS_MAX })

/**
 * @param url of the service; its path is not used
 * @returns a connection that is open already, because callers keep theirs; where it could not be opened, `send` tries again
 */
export async function openConnection(url: string): Promise<Connection> {
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
      client.dispatch(
        { method, path, headers: [...headers], ...(body === undefined ? {} : { body }) },
        {
          onRequestStart: () => undefined,
          onResponseStart: (_controller, code) => void (status = code),
          onResponseData: () => undefined,
          onResponseEnd: () => onReply(status),
          onResponseError: () => onReply(0),
        },
      )
    },
    close() {
      opened?.destroy()
      void client.destroy()
    },
  }
}
