// The embedded PostgreSQL as somebody else runs it: for commands that look into its database and start nothing.
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { findPostmaster, urlOf } from './postmaster.ts'

/** The connection string of the database of a service that runs on this data folder; undefined where none runs. */
export function runningDatabaseUrl(dataDir: string): string | undefined {
  const path = join(dataDir, 'postgres')
  if (!existsSync(path)) return undefined
  const folder = realpathSync(path)
  if (findPostmaster(folder) === undefined) return undefined
  const password = readFileSync(join(folder, 'password'), 'utf8')
  return urlOf({ password, socketDir: realpathSync(join(folder, 'socket')) })
}
