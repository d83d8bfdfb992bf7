// Looks into the embedded database of a service that runs, or has just been killed.
import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { Pool } from 'pg'

export async function look<T>(dataDir: string, into: (pool: Pool) => Promise<T>): Promise<T> {
  const folder = join(dataDir, 'postgres')
  const pool = new Pool({
    user: 'countersign',
    database: 'countersign',
    password: readFileSync(join(folder, 'password'), 'utf8'),
    host: realpathSync(join(folder, 'socket')),
  })
  pool.on('error', () => undefined)
  try {
    return await into(pool)
  } finally {
    await pool.end()
  }
}

export function postmasterPid(dataDir: string): number {
  return Number.parseInt(readFileSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8'), 10)
}
