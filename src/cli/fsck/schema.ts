// Checks whether this release knows the database's schema, and whether the constraints and indexes of the schema are still there.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '../../store/sha256.ts'
import { migrationFiles } from '../../store/postgres/migrate.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import { whyUnfit } from '../../store/postgres/unfit.ts'
import { CannotCheck } from '../cannot-check.ts'
import type { Finding } from './check.ts'

const SCHEMA_FILE = join(import.meta.dirname, '..', '..', '..', 'migrations', 'schema.sql')

/** @throws CannotCheck where the database cannot be used, or is not at exactly the schema of this release */
export async function requireSchema(sql: Sql): Promise<void> {
  const unfit = await whyUnfit(sql, { write: false })
  if (unfit !== undefined) throw new CannotCheck(unfit)
  const { rows: found } = await sql.query<{ any: boolean }>(
    `SELECT to_regclass('countersign_migrations') IS NOT NULL AS any`,
  )
  if (found[0]?.any !== true)
    throw new CannotCheck('The database holds no Countersign: nothing was ever migrated in it.')
  const { rows } = await sql.query<{ name: string; sha256: string }>(
    'SELECT name, sha256 FROM countersign_migrations ORDER BY name',
  )
  const files = migrationFiles()
  const pending = files.find(({ name }) => !rows.some((row) => row.name === name))
  if (pending !== undefined)
    throw new CannotCheck(
      `The schema is older than this release: ${pending.name} is not applied. Run: countersign migrate`,
    )
  for (const row of rows) {
    const file = files.find(({ name }) => name === row.name)
    if (file === undefined)
      throw new CannotCheck(
        `The schema is newer than this release: ${row.name} is not known. Use the release that runs on it.`,
      )
    if (sha256Hex(file.text) !== row.sha256)
      throw new CannotCheck(`Migration ${row.name} is not the one that was applied to this database.`)
  }
}

/**
 * Constraints and unique indexes that were dropped, or that an interrupted statement left invalid. The other checks rest on them:
 * nothing else ensures that an id is used only once.
 */
export async function schemaFindings(sql: Sql): Promise<Finding[]> {
  const { rows } = await sql.query<{ name: string }>(`
    SELECT conname AS name FROM pg_constraint AS c LEFT JOIN pg_index AS i ON i.indexrelid = c.conindid
    WHERE connamespace = current_schema()::regnamespace AND coalesce(i.indisvalid AND i.indisready, true)
    UNION ALL
    SELECT c.relname FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
    WHERE c.relnamespace = current_schema()::regnamespace AND i.indisunique AND i.indisvalid AND i.indisready`)
  const standing = new Set(rows.map(({ name }) => name))
  return promised()
    .filter((name) => !standing.has(name))
    .map((name) => ({ table: 'schema', key: name, problem: 'is missing or not valid' }))
}

/** Lists the parts of the schema that all migrations make together. */
function promised(): string[] {
  const text = readFileSync(SCHEMA_FILE, 'utf8')
  const names = text.matchAll(/^ {2}CONSTRAINT (\w+) |^CREATE UNIQUE INDEX (\w+) /gm)
  return Array.from(names, ([, constraint, index]) => constraint ?? index ?? '')
}
