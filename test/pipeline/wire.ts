// Between the service and its database: every byte of a connection passes through here, and a test says what becomes of it.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { Client } from 'pg'

/** The ends of one connection. */
export interface Ends {
  readonly client: Socket
  readonly postgres: Socket
  /** Breaks it. */
  readonly drop: () => void
}

/** Handlers of the bytes of one connection. */
export interface Passing {
  readonly fromClient: (bytes: Buffer) => void
  readonly fromServer: (bytes: Buffer) => void
}

export interface Wire {
  /** The same database, through here. */
  readonly url: string
  readonly close: () => Promise<void>
}

/** @param onConnection is called for each connection that the service makes */
export async function openWire(databaseUrl: string, onConnection: (ends: Ends) => Passing): Promise<Wire> {
  const { host, port, user, database, password } = new Client({ connectionString: databaseUrl })
  const sockets = new Set<Socket>()
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
    const { fromClient, fromServer } = onConnection({ client, postgres, drop })
    client.on('data', fromClient)
    postgres.on('data', fromServer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const through = (server.address() as AddressInfo).port
  return {
    url: `postgres://${user}:${password}@127.0.0.1:${through}/${database}?sslmode=disable`,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
