// The primary is lost and its synchronous standby is promoted, under load, behind one address: what was acknowledged is there.
import { Pool } from 'pg'
import { expect, test } from 'vitest'
import { describeWithPostgres } from '../debian-postgres.ts'
import { type Server } from './database-server.ts'
import { answersOf, startLoaded, type LoadedService } from './database-load.ts'
import { until } from '../service.ts'
import { startReplicated, type Replicated } from './replication.ts'

const RECOVERED_MS_MAX = 60_000
const REFUSED_MS_MAX = 10_000
/** A commit that is held is given up after twelve seconds; a request may wait for the batch before it. */
const HELD_MS_MAX = 30_000
/** How long what is only read may come from a server that was demoted. */
const STALE_MS_MAX = 40_000

/** Every answer agrees with the tables of the server that is the primary at the end. */
async function finish(loaded: LoadedService, server: Server, { address }: Replicated): Promise<void> {
  const pool = new Pool({ connectionString: server.url, max: 1 })
  await loaded.finish(pool)
  await pool.end()
  await address.cut()
}

function slowestRefusal({ seen }: LoadedService): number {
  return answersOf(seen)['503 DATABASE_UNAVAILABLE']?.slowestMs ?? Infinity
}

describeWithPostgres('a failover under load', () => {
  // proves fault: The primary crashes, and its
  test('to the promoted standby of a primary that crashed: no acknowledged execution is missing there, and the service goes on by itself', async () => {
    const replicated = await startReplicated()
    const { primary, standby, address } = replicated
    const loaded = await startLoaded({ databaseUrl: address.url })
    await loaded.answered('200', 10)

    await primary.stop('immediate')
    await loaded.answered('503 DATABASE_UNAVAILABLE', 4)
    await standby.promote()
    address.pointAt(standby.url)
    expect(await loaded.recovered()).toBeLessThan(RECOVERED_MS_MAX)
    await finish(loaded, standby, replicated)
    expect(slowestRefusal(loaded)).toBeLessThan(REFUSED_MS_MAX)
  })

  // proves fault: The primary is demoted to read-only
  test('from a primary that was demoted and still answers: 503 while nothing can be written, and no connection stays with it', async () => {
    const replicated = await startReplicated()
    const { primary, standby, address } = replicated
    const loaded = await startLoaded({ databaseUrl: address.url })
    await loaded.answered('200', 10)

    await primary.run('ALTER SYSTEM SET default_transaction_read_only = on')
    await primary.run('SELECT pg_reload_conf()')
    await loaded.answered('503 DATABASE_UNAVAILABLE', 4)
    await loaded.unready(
      'The database cannot be used: it is read-only, as a standby or a primary that was demoted.',
    )
    await standby.promote()
    // Open connections stay open: only those that are opened from now on reach the new primary.
    address.pointAt(standby.url)
    expect(await loaded.recovered()).toBeLessThan(RECOVERED_MS_MAX)
    await until(
      async () => {
        const [row] = await primary.run(
          `SELECT count(*)::integer AS left FROM pg_stat_activity WHERE application_name = 'countersign'`,
        )
        return row?.['left'] === 0
      },
      'the readers, too, to have left the old primary',
      STALE_MS_MAX,
    )
    await finish(loaded, standby, replicated)
    expect(slowestRefusal(loaded)).toBeLessThan(REFUSED_MS_MAX)
  })

  // proves fault: A synchronous standby is lost
  test('a synchronous standby that is lost: PostgreSQL holds every commit, callers get 503, and /ready says why', async () => {
    const replicated = await startReplicated()
    const { primary, standby, address } = replicated
    const loaded = await startLoaded({ databaseUrl: address.url })
    await loaded.answered('200', 10)

    const refused = loaded.answered('503 DATABASE_UNAVAILABLE')
    await standby.stop('immediate')
    await refused
    await loaded.unready(
      'The database cannot be used: its synchronous standby does not confirm what is written.',
    )
    await standby.start()
    expect(await loaded.recovered()).toBeLessThan(RECOVERED_MS_MAX)
    await finish(loaded, primary, replicated)
    expect(slowestRefusal(loaded)).toBeLessThan(HELD_MS_MAX)
  })
})
