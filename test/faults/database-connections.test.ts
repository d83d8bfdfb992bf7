// Somebody else has taken every connection that PostgreSQL gives: 503 at once, and the service comes back when some are free.
import { Client, Pool } from 'pg'
import { expect, test } from 'vitest'
import { databaseUrl } from '../database.ts'
import { until } from '../service.ts'
import { describeWithPostgres } from '../debian-postgres.ts'
import { startServer, type Server } from './database-server.ts'
import { answersOf, startLoaded } from './database-load.ts'

const RECOVERED_MS_MAX = 60_000
const REFUSED_MS_MAX = 10_000
const CONNECTIONS_MAX = 30

/** An ordinary role that owns its database: the connections that are reserved for superusers are not for the service. */
async function anOrdinaryUrl(server: Server): Promise<string> {
  await server.run('CREATE ROLE service LOGIN')
  await server.run('CREATE DATABASE service OWNER service')
  return databaseUrl(server.url, 'service').replace('//countersign@', '//service@')
}

/** Takes the service's connections and all free ones, until none is left for it. Returns a function that gives them back. */
async function takeAllConnections(server: Server): Promise<() => Promise<void>> {
  const taken: Client[] = []
  // Opened while there is room: for a moment the service's attempts hold even those that are reserved for superusers.
  const superuser = new Client({ connectionString: server.url })
  await superuser.connect()
  await until(async () => {
    await superuser.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'countersign'`,
    )
    for (;;) {
      const client = new Client({
        connectionString: databaseUrl(server.url, 'service').replace('//countersign@', '//service@'),
      })
      client.on('error', () => undefined)
      const refused = await client.connect().then(
        () => undefined,
        (error: unknown) => (error as { code?: string }).code,
      )
      if (refused === '53300') break
      expect(refused).toBeUndefined()
      taken.push(client)
    }
    const { rows } = await superuser.query<{ left: number }>(
      `SELECT count(*)::integer AS left FROM pg_stat_activity WHERE application_name = 'countersign'`,
    )
    return rows[0]?.left === 0
  }, 'every connection to be taken')
  return async () => {
    await Promise.all([superuser, ...taken].map((client) => client.end()))
  }
}

describeWithPostgres('a PostgreSQL without a free connection', () => {
  // proves fault: Somebody else has taken every
  test('callers get 503 at once with Retry-After, /ready says why, and the service goes on when connections are free', async () => {
    const server = await startServer({ max_connections: String(CONNECTIONS_MAX) })
    const url = await anOrdinaryUrl(server)
    const loaded = await startLoaded({ databaseUrl: url })
    await loaded.answered('200', 10)

    const giveBack = await takeAllConnections(server)
    await loaded.answered('503 DATABASE_UNAVAILABLE', 8)
    await loaded.unready('The database cannot be used: it has too many connections.')
    await giveBack()
    expect(await loaded.recovered()).toBeLessThan(RECOVERED_MS_MAX)

    // A superuser's, which has a connection of its own.
    const pool = new Pool({ connectionString: databaseUrl(server.url, 'service'), max: 1 })
    await loaded.finish(pool)
    await pool.end()
    const { '503 DATABASE_UNAVAILABLE': refused } = answersOf(loaded.seen)
    expect(refused?.slowestMs).toBeLessThan(REFUSED_MS_MAX)
  })
})
