// PostgreSQL is restarted under load, cleanly and without a checkpoint: 503 while it is away, and nothing to be done afterwards.
import { Pool } from 'pg'
import { expect, test } from 'vitest'
import { describeWithPostgres } from '../debian-postgres.ts'
import { startServer } from './database-server.ts'
import { until } from '../service.ts'
import { answersOf, startLoaded } from './database-load.ts'

const RECOVERED_MS_MAX = 60_000
const REFUSED_MS_MAX = 10_000

describeWithPostgres('a restart of PostgreSQL under load', () => {
  // proves fault: PostgreSQL is restarted under load
  test.each(['fast', 'immediate'] as const)(
    'pg_ctl restart -m %s: callers get 503 at once, nothing is executed without its intent, and the service goes on by itself',
    async (mode) => {
      const server = await startServer()
      const loaded = await startLoaded({ databaseUrl: server.url })
      await loaded.answered('200', 10)
      const says = (what: string) => until(() => loaded.service.lines().some(({ msg }) => msg === what), what)

      await server.stop(mode)
      await loaded.answered('503 DATABASE_UNAVAILABLE', 4)
      await loaded.unready('The database cannot be used: no server listens there.')
      await says('the database cannot be read: policies and keys stay as they were read last')
      await server.start()
      expect(await loaded.recovered()).toBeLessThan(RECOVERED_MS_MAX)
      await says('the database is read again')

      const pool = new Pool({ connectionString: server.url, max: 1 })
      await loaded.finish(pool)
      await pool.end()
      const { '503 DATABASE_UNAVAILABLE': refused } = answersOf(loaded.seen)
      expect(refused?.slowestMs).toBeLessThan(REFUSED_MS_MAX)
    },
  )
})
