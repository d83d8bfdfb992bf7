// The main thread's connections to the database, a pool for each purpose (docs/handbook/scaling.md says how many they are).
import type { Pool } from 'pg'
import { openPool, READERS_PATIENCE } from '../../store/postgres/sql.ts'

const READ_CONNECTIONS_MAX = 4

/** Connections to the replica, where one is configured. */
const EXPORT_CONNECTIONS_MAX = 4

/** A client of GET /ready gives up soon, and should get the reason before. */
const READY_PATIENCE = { statementMs: 1_500, lockMs: 1_000 }

interface Pools {
  /** For the routes. */
  readonly read: Pool
  /** For the bulk export: the pool of the replica, or `read`. */
  readonly export: Pool
  /** GET /ready uses a separate connection: it must not wait behind the load that it reports. */
  readonly ready: Pool
  readonly authority: Pool
}

/** @param replica connection string, undefined where there is no replica */
export function openPools(database: string, replica: string | undefined): Pools {
  const read = openPool(database, READ_CONNECTIONS_MAX, READERS_PATIENCE)
  return {
    read,
    export: replica === undefined ? read : openPool(replica, EXPORT_CONNECTIONS_MAX),
    ready: openPool(database, 1, READY_PATIENCE),
    authority: openPool(database, 1, READERS_PATIENCE),
  }
}

export async function endPools(pools: Pools): Promise<void> {
  await Promise.all(Array.from(new Set(Object.values<Pool>({ ...pools })), (pool) => pool.end()))
}
