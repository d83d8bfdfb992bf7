// Connections of the load generator autocannon. It writes, reads, times out and counts. bench/pace.ts decides when a request is sent,
// because autocannon sends a rate as a burst at the start of each second (docs/design-notes.md "The bench").
import type { Socket } from 'node:net'
import tls from 'node:tls'
import autocannon from 'autocannon'
import {
  ANSWER_MS_MAX,
  firstOf,
  IDLE_MS_MAX,
  NO_REPLY,
  secondsOf,
  textOf,
  type Connection,
  type OpenConnections,
  type Reply,
} from './connection.ts'
import type { Message } from './request.ts'

// oxlint-disable eslint/no-underscore-dangle -- members of autocannon's Client

/** Members of autocannon's Client that it does not document; the version is pinned. */
interface Client extends autocannon.Client {
  conn: Socket
  readonly parser: { initialize: (type: 'RESPONSE') => void }
  _connect: () => void
  _doRequest: () => void
  _destroyConnection: () => void
  destroy: () => void
}

/** A run ends when its connections are closed, never by autocannon's clock, which would cut off the requests in flight. */
const NEVER_SECONDS = 1_000_000

// autocannon accepts every certificate, but the API key must go only to a server that proves its name, which is Node's default.
const { connect: connectTls } = tls as { connect: (...args: unknown[]) => tls.TLSSocket }
const rejectUnauthorized = process.env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0'
tls.connect = (...args: unknown[]) =>
  connectTls(
    ...args.map((arg) => (typeof arg === 'object' && arg !== null ? { ...arg, rejectUnauthorized } : arg)),
  )

export const openAutocannon: OpenConnections = async (url, count) => {
  const clients: Client[] = []
  const opened: (Connection & { opened: Promise<void> })[] = []
  const answered: Record<string, number> = {}
  const result = autocannon({
    url,
    connections: count,
    duration: NEVER_SECONDS,
    timeout: ANSWER_MS_MAX / 1000,
    sampleInt: 50,
    setupClient(client) {
      clients.push(client as Client)
      opened.push(openConnection(client as Client, new URL(url).protocol === 'https:', answered))
    },
  })
  await Promise.all(opened.map((connection) => connection.opened))
  return {
    connections: opened,
    async close() {
      for (const client of clients) client.destroy()
      const { statusCodeStats = {} } = await result
      const counts = Object.entries(statusCodeStats).map(([status, { count: n = 0 }]) => [status, n])
      const [mine, its] = [answered, Object.fromEntries(counts)].map((by) => JSON.stringify(by))
      if (mine !== its) throw new Error(`autocannon counted the replies ${its}, and the bench ${mine}`)
    },
  }
}

/** @param answered takes the count of replies by status */
function openConnection(client: Client, isSecure: boolean, answered: Record<string, number>) {
  const connect = client._connect.bind(client)
  const write = client._doRequest.bind(client)
  const { promise: opened, resolve: isOpened } = Promise.withResolvers<void>()
  let isOpen = false
  let idleSinceMs = 0
  let onReply: ((reply: Reply) => void) | undefined

  const open = () => {
    // Otherwise a reply that broke off would be taken for the beginning of the next reply.
    client.parser.initialize('RESPONSE')
    isOpen = true
    idleSinceMs = performance.now()
    connect()
  }
  const drop = () => {
    client._destroyConnection()
    isOpen = false
  }
  const answer = (reply: Reply) => {
    const pending = onReply
    onReply = undefined
    idleSinceMs = performance.now()
    // The parser is still in its call.
    if (pending !== undefined) process.nextTick(pending, reply)
  }

  // autocannon calls this as soon as it could send.
  client._doRequest = () => undefined
  // autocannon calls this to begin, and whenever a connection has ended: then the next request opens another connection.
  client._connect = () => {
    client._connect = () => {
      drop()
      isOpened()
      answer(NO_REPLY)
    }
    open()
    client.conn.once(isSecure ? 'secureConnect' : 'connect', isOpened)
  }

  return {
    opened,
    send(message, reply) {
      onReply = reply
      if (isOpen && performance.now() - idleSinceMs > IDLE_MS_MAX) drop()
      if (!isOpen) open()
      const onResponse: autocannon.Request['onResponse'] = (status, text, _context, received = {}) => {
        answered[status] = (answered[status] ?? 0) + 1
        const header = (name: string) =>
          Object.entries(received).find(([key]) => key.toLowerCase() === name)?.[1]
        if (String(header('connection')).toLowerCase() === 'close') drop()
        if (status < 400) return answer({ status, retryAfterSeconds: undefined, text: '' })
        answer({
          status,
          retryAfterSeconds: secondsOf(header('retry-after')),
          text: firstOf(text),
          limit: textOf(header('ratelimit-policy')),
        })
      }
      client.setRequests([{ ...requestOf(message), onResponse }])
      write()
    },
  } satisfies Connection & { opened: Promise<void> }
}

/** @returns a message as autocannon takes it */
function requestOf({ method, path, headers, body }: Message): autocannon.Request {
  const pairs = Array.from({ length: headers.length / 2 }, (_, i) => headers.slice(2 * i, 2 * i + 2))
  return { method, path, headers: Object.fromEntries(pairs), ...(body === undefined ? {} : { body }) }
}
