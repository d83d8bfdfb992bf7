// A database of an earlier release, with every kind of change in every state (make.ts).
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { migrate } from '../../../src/store/postgres/migrate.ts'
import type { TestDatabase } from '../../database.ts'
import { makeKeys } from '../../signing-keys.ts'
import type { Stored } from './make.ts'

const MIGRATIONS = join(import.meta.dirname, '..', '..', '..', 'migrations')

export const stored = JSON.parse(
  gunzipSync(readFileSync(join(import.meta.dirname, 'bfa9ad5.json.gz'))).toString(),
) as Stored

/** A row as JSON; where a column is no text, no test looks into it. */
export type Row = { readonly [column: string]: string | null }

/** @returns the rows of a table of the earlier release */
export function rowsIn(table: string): readonly Row[] {
  return (stored.tables[table] ?? []) as readonly Row[]
}

/**
 * Restores the database as the earlier release left it: a start of this one migrates it.
 * @param database an empty one
 */
export async function restore(database: TestDatabase): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'countersign-migrations-'))
  try {
    cpSync(MIGRATIONS, dir, { recursive: true })
    for (const file of readdirSync(dir))
      if (/^\d/.test(file) && file > stored.migration) rmSync(join(dir, file))
    await migrate(database.url, { dir })
  } finally {
    rmSync(dir, { recursive: true })
  }
  for (const [table, rows] of Object.entries(stored.tables)) {
    await database.pool.query(`DELETE FROM ${table}`)
    await database.pool.query(
      `INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::${table}, $1)`,
      [JSON.stringify(rows)],
    )
  }
  // The rows brought their numbers with them.
  await database.pool.query('ALTER TABLE caller_keys ALTER COLUMN number RESTART WITH 100')
}

/** @returns a folder with new keys and the earlier public ones */
export function keysBeside(): string {
  const dir = mkdtempSync(join(tmpdir(), 'countersign-test-keys-'))
  makeKeys(dir)
  for (const [name, text] of Object.entries(stored.keys)) writeFileSync(join(dir, name), text)
  return dir
}
