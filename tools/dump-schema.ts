// Writes schema.sql: what all migrations together make, read back from the catalogs, so that a change of schema shows in its diff.
// Run it after adding a migration: npm run schema
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { sessionOf } from '../src/store/postgres/session.ts'
import { startEmbeddedPostgres } from '../src/server/embedded/postgres.ts'
import { migrate } from '../src/store/postgres/migrate.ts'

export const SCHEMA_FILE = join(import.meta.dirname, '..', 'migrations', 'schema.sql')

/** The schema as text, the same for the same schema on any server: tables by name, columns in order, constraints and indexes by name. */
export async function dumpSchema(connectionString: string): Promise<string> {
  const client = new Client(sessionOf(connectionString))
  await client.connect()
  try {
    // The expressions of defaults and checks then name no schema.
    await client.query('SET search_path TO public')
    const { rows } = await client.query<Table>(TABLES)
    return (
      ['-- Made by tools/dump-schema.ts from all migrations; not to be edited.', ...rows.map(tableText)].join(
        '\n\n',
      ) + '\n'
    )
  } finally {
    await client.end()
  }
}

interface Table {
  readonly name: string
  readonly unlogged: boolean
  readonly columns: readonly string[]
  readonly constraints: readonly string[]
  readonly options: readonly string[]
  readonly indexes: readonly string[]
}

// PostgreSQL 18 keeps NOT NULL as constraints too, contype 'n'; the columns say it already, on every version.
const TABLES = `
  SELECT c.relname AS name, c.relpersistence = 'u' AS unlogged,
    ARRAY(
      SELECT format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod))
        || CASE WHEN a.attstorage <> t.typstorage
             THEN ' STORAGE ' || CASE a.attstorage WHEN 'p' THEN 'PLAIN' WHEN 'e' THEN 'EXTERNAL' WHEN 'm' THEN 'MAIN' ELSE 'EXTENDED' END
             ELSE '' END
        || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
        || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '')
      FROM pg_attribute AS a
      JOIN pg_type AS t ON t.oid = a.atttypid
      LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
    ) AS columns,
    ARRAY(
      SELECT format('CONSTRAINT %I %s', conname, pg_get_constraintdef(oid)) FROM pg_constraint
      WHERE conrelid = c.oid AND contype <> 'n' ORDER BY conname
    ) AS constraints,
    coalesce(c.reloptions, '{}') AS options,
    ARRAY(
      SELECT pg_get_indexdef(i.indexrelid) FROM pg_index AS i JOIN pg_class AS n ON n.oid = i.indexrelid
      WHERE i.indrelid = c.oid AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid) ORDER BY n.relname
    ) AS indexes
  FROM pg_class AS c
  WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
  ORDER BY c.relname`

function tableText({ name, unlogged, columns, constraints, options, indexes }: Table): string {
  const lines = [...columns, ...constraints].map((line) => `  ${line}`).join(',\n')
  const storage = options.length === 0 ? '' : ` WITH (${options.toSorted().join(', ')})`
  const table = `CREATE ${unlogged ? 'UNLOGGED ' : ''}TABLE ${name} (\n${lines}\n)${storage};`
  return [table, ...indexes.map((index) => `${index};`)].join('\n')
}

if (import.meta.main) {
  const dataDir = mkdtempSync(join(tmpdir(), 'countersign-schema-'))
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => undefined })
  try {
    await migrate(postgres.url)
    writeFileSync(SCHEMA_FILE, await dumpSchema(postgres.url))
  } finally {
    await postgres.stop()
    rmSync(dataDir, { recursive: true })
  }
}
