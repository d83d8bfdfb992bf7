// A connection to the database that breaks inside of a message or of its answer, after so many bytes.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { Client } from 'pg'

export interface Cut {
  /** The message that is cut, counted from 1: those with a BEGIN, over all connections. */
  readonly message: number
  /** Whether the server gets the first bytes of the message, or we get those of the answer. */
  readonly of: 'message' | 'answer'
  readonly bytes: number
}

export interface CutMessages {
  /** The same database, through here. */
  readonly url: string
  /** The bytes of what was cut last, as far as they came: `bytes` is below it where anything was lost. */
  readonly size: () => number
  readonly cutNext: (cut: Cut) => void
  readonly close: () => Promise<void>
}

export async function cutMessages(databaseUrl: string): Promise<CutMessages> {
  const { host, port, user, database, password } = new Client({ connectionString: databaseUrl })
  const sockets = new Set<Socket>()
  let next: Cut | undefined
  let seen = 0
  let size = 0

  const server = createServer((client) => {
    const postgres = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    const drop = () => {
      client.destroy()
      postgres.destroy()
    }
    for (const socket of [client, postgres]) {
      sockets.add(socket)
      socket.on('error', drop).on('close', drop)
    }
    let cut: Cut | undefined
    let sent = 0
    /** Passes the bytes on up to the place of the cut, and breaks the connection there. */
    const pass = (bytes: Buffer, to: Socket) => {
      const rest = cut === undefined ? bytes.length : cut.bytes - sent
      sent += bytes.length
      size = sent
      if (rest >= bytes.length) to.write(bytes)
      else to.write(bytes.subarray(0, Math.max(rest, 0)), drop)
    }
    client.on('data', (bytes) => {
      const isCut = bytes.includes('BEGIN\0') && next !== undefined && ++seen === next.message
      if (isCut) {
        cut = next
        next = undefined
        sent = 0
      }
      // It came through whole: this is the next message.
      else if (cut?.of === 'answer') cut = undefined
      if (cut?.of === 'message') pass(bytes, postgres)
      else postgres.write(bytes)
    })
    postgres.on('data', (bytes) => {
      if (cut?.of === 'answer') return pass(bytes, client)
      cut = undefined
      client.write(bytes)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const through = (server.address() as AddressInfo).port
  return {
    url: `postgres://${user}:${password}@127.0.0.1:${through}/${database}?sslmode=disable`,
    size: () => size,
    cutNext(cut) {
      seen = 0
      size = 0
      next = cut
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
