// The database of a command that works beside services: that of DATABASE_URL, or the embedded one of a service that runs.
import type { Pool } from 'pg'
import { dataDir } from '../core/config/folders.ts'
import { errorText } from '../formats/text/error-text.ts'
import { COMMAND_PATIENCE, openPool } from '../store/postgres/sql.ts'
import { isUnavailable } from '../store/postgres/sql-errors.ts'
import { runningDatabaseUrl } from '../server/embedded/postmaster.ts'
import { CannotCheck } from './cannot-check.ts'
import { requireSchema } from './fsck/schema.ts'

export type Env = Readonly<Record<string, string | undefined>>

/** @throws CannotCheck where there is none */
export function databaseUrl(env: Env): string {
  const url = env['DATABASE_URL'] || runningDatabaseUrl(dataDir(env))
  if (url !== undefined) return url
  throw new CannotCheck(
    `DATABASE_URL is not set, and the embedded database of ${dataDir(env)} is not running: it runs while its service does.`,
  )
}

/**
 * Runs `work` on the database.
 * @throws CannotCheck where there is none
 * @throws Error where its schema is not that of this release
 */
export async function onDatabase<T>(env: Env, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool(databaseUrl(env), 2, COMMAND_PATIENCE)
  try {
    await requireSchema(pool).catch(asCannotOpen)
    return await work(pool)
  } finally {
    await pool.end()
  }
}

function asCannotOpen(error: unknown): never {
  throw isUnavailable(error) ? new CannotCheck(`The database cannot be opened: ${errorText(error)}`) : error
}
