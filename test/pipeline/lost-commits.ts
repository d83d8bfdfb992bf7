// A connection to the database that breaks at COMMIT: before the server hears of it, or after it has committed and before we hear of that.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { Client } from 'pg'

/** What a server sends when it has done with a message. */
const READY_FOR_QUERY = Buffer.from('Z\0\0\0\x05')

export interface LostCommits {
  /** The same database, through here. */
  readonly url: string
  /** Decides what happens to commits from now on, the next one first; after the last of them they pass. */
  lose(...commits: ('pass' | 'before' | 'after')[]): void
  close(): Promise<void>
}

export async function loseCommits(databaseUrl: string): Promise<LostCommits> {
  const { host, port, user, database, password } = new Client({ connectionString: databaseUrl })
  const sockets = new Set<Socket>()
  let fates: ('pass' | 'before' | 'after')[] = []

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
    let deaf = false
    let unheard = Buffer.alloc(0)
    client.on('data', (bytes) => {
      // The name of the statement ends with a NUL.
      const fate = bytes.includes('COMMIT\0') ? fates.shift() : undefined
      deaf ||= fate === 'after'
      if (fate === 'before') drop()
      else postgres.write(bytes)
    })
    postgres.on('data', (bytes) => {
      if (deaf) unheard = Buffer.concat([unheard, bytes])
      else client.write(bytes)
      if (unheard.includes(READY_FOR_QUERY)) drop()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const through = (server.address() as AddressInfo).port
  return {
    url: `postgres://${user}:${password}@127.0.0.1:${through}/${database}?sslmode=disable`,
    lose: (...commits) => (fates = commits),
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
