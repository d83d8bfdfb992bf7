// The connections that routes read by, shared among clients: a client that reads much waits for its own reads, and others do not wait for it.
import type { Pool, PoolClient, QueryConfig, QueryResultRow } from 'pg'
import type { Sql } from '../../../store/postgres/sql.ts'
import { openPerClient } from '../../../core/concurrency/per-client.ts'
import { bounds } from './index.ts'

/** A client has waited too long for its own other reads. */
export class TooManyReads extends Error {}

/** The connections that a route reads by. */
export type Reads = Sql & Pick<Pool, 'connect'>

/**
 * @param atOnce connections that one client may use or wait for, fewer than the pool has
 * @returns the reads of a client, as in `RouteRequest`; they throw `TooManyReads`
 */
export function openReads(pool: Reads, atOnce: number): (client: string) => Reads {
  const perClient = openPerClient(atOnce)

  function inTurn<T>(client: string, read: () => Promise<T>): Promise<T> {
    const untilMs = performance.now() + bounds.readWaitMs
    return perClient(client, async () => {
      if (performance.now() > untilMs) throw new TooManyReads('the client has too many other reads')
      return read()
    })
  }

  return (client) => ({
    query: <Row extends QueryResultRow>(statement: string | QueryConfig, values?: unknown[]) =>
      inTurn(client, () => pool.query<Row>(statement, values)),
    connect: () =>
      new Promise<PoolClient>((resolve, reject) => {
        const held = async () => {
          const connection = await pool.connect()
          const released = Promise.withResolvers<void>()
          const release = connection.release.bind(connection)
          connection.release = (error) => {
            release(error)
            released.resolve()
          }
          resolve(connection)
          await released.promise
        }
        inTurn(client, held).catch(reject)
      }),
  })
}
