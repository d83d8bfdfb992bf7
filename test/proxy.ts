// A proxy in front of a database that a test can cut, stall or point at another server, to see what a service does then.
import { EventEmitter, once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { Client } from 'pg'

export interface DatabaseProxy {
  /** Connection string of the same database through the proxy. */
  readonly url: string
  /** Breaks every connection and refuses new ones, until `mend`. */
  cut(): Promise<void>
  /** Cuts as soon as a client sends this text, which does not arrive. */
  cutAt(text: string): Promise<void>
  /**
   * Keeps every connection open, takes new ones, and passes no byte, until `mend`: a network that swallows packets. What was sent
   * meanwhile arrives then, as it does when TCP sends it again.
   */
  stall(): void
  mend(): Promise<void>
  /** For new connections, as a virtual IP does it. Those that are open stay where they are. */
  pointAt(databaseUrl: string): void
}

export async function openDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const { user, password, database } = new Client({ connectionString: databaseUrl })
  let target = targetOf(databaseUrl)
  /** Where what each socket brings goes to. */
  const ends = new Map<Socket, Socket>()
  let stalled = false
  const sent = new EventEmitter<{ data: [Buffer, Socket] }>()
  const server = createServer((client) => {
    const upstream = connect(target)
    // Before it is passed on.
    client.on('data', (bytes: Buffer) => sent.emit('data', bytes, upstream))
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      ends.set(from, to)
      if (stalled) from.pause()
      else from.pipe(to)
      from.on('error', () => undefined)
      from.on('close', () => {
        ends.delete(from)
        to.destroy()
      })
    }
  })
  const listen = async (at: number) => once(server.listen(at, '127.0.0.1'), 'listening')
  await listen(0)
  const { port: ownPort } = server.address() as AddressInfo
  async function cut(): Promise<void> {
    const closed = once(server, 'close')
    server.close()
    for (const socket of ends.keys()) socket.destroy()
    await closed
  }
  return {
    url: `postgres://${user}:${password}@127.0.0.1:${ownPort}/${database}?sslmode=disable`,
    cut,
    async cutAt(text) {
      await new Promise<void>((resolve) => {
        const look = (bytes: Buffer, upstream: Socket) => {
          if (!bytes.includes(text)) return
          sent.off('data', look)
          upstream.destroy()
          resolve()
        }
        sent.on('data', look)
      })
      await cut()
    },
    stall() {
      stalled = true
      for (const [from, to] of ends) from.unpipe(to).pause()
    },
    async mend() {
      if (stalled) for (const [from, to] of ends) from.pipe(to)
      stalled = false
      if (!server.listening) await listen(ownPort)
    },
    pointAt(another) {
      target = targetOf(another)
    },
  }
}

function targetOf(connectionString: string) {
  const { host, port } = new Client({ connectionString })
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
}
