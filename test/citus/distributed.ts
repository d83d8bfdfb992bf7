// The file migrations/citus.sql says this of each table.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const CITUS_SQL = readFileSync(
  join(import.meta.dirname, '..', '..', 'migrations', 'citus.sql'),
  'utf8',
)

/** The distribution column of each distributed table. */
export const distributed: ReadonlyMap<string, string> = new Map(
  Array.from(
    CITUS_SQL.matchAll(/^SELECT create_distributed_table\('(\w+)', '(\w+)'/gm),
    ([, table = '', column = '']) => [table, column],
  ),
)

/** The tables of the coordinator that Citus knows of. */
export const known: ReadonlySet<string> = new Set(
  Array.from(CITUS_SQL.matchAll(/citus_add_local_table_to_metadata\('(\w+)'\)/g), ([, table = '']) => table),
)

/** The tables that stay on the coordinator. */
export const local = Array.from(CITUS_SQL.matchAll(/^-- local (\w+)/gm), ([, name = '']) => name)
