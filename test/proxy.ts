// A proxy in front of a database that a test can cut, to see what a service does without one.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { Client } from 'pg'

export interface DatabaseProxy {
  /** Connection string of the same database through the proxy. */
  readonly url: string
  /** Breaks every connection and refuses new ones, until `mend`. */
  cut(): Promise<void>
  mend(): Promise<void>
}

export async function openDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const { host, port, user, password, database } = new Client({ connectionString: databaseUrl })
  const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(target)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.pipe(to)
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  const listen = async (at: number) => once(server.listen(at, '127.0.0.1'), 'listening')
  await listen(0)
  const { port: ownPort } = server.address() as AddressInfo
  return {
    url: `postgres://${user}:${password}@127.0.0.1:${ownPort}/${database}?sslmode=disable`,
    async cut() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
    async mend() {
      await listen(ownPort)
    },
  }
}
