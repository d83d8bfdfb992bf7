// migrations/citus.sql against the schema that it distributes.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '../database.ts'
import { distributed, local } from './distributed.ts'

const KEY = 'business_transaction_id'
const names = [...distributed.keys()]

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

test('every table is distributed by its transaction or named as local, and never both', async () => {
  expect(new Set(distributed.values())).toEqual(new Set([KEY]))
  const { rows } = await database.pool.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
  )
  expect([...names, ...local].toSorted()).toEqual(rows.map(({ name }) => name).toSorted())
})

test('every unique key of a distributed table contains the column that it is distributed by', async () => {
  const { rows } = await database.pool.query<{ table: string; index: string; holds: boolean }>(
    `SELECT c.relname AS table, x.indexrelid::regclass::text AS index,
       EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = $2 AND a.attnum = ANY(x.indkey)) AS holds
     FROM pg_index AS x JOIN pg_class AS c ON c.oid = x.indrelid
     WHERE (x.indisunique OR x.indisexclusion) AND c.relname = ANY($1)`,
    [names, KEY],
  )
  expect(new Set(rows.map(({ table }) => table))).toEqual(new Set(names))
  expect(rows.filter(({ holds }) => !holds)).toEqual([])
})

test('nothing about a distributed table is of a kind that stays on one node: foreign keys, triggers, identities, sequences', async () => {
  const { rows } = await database.pool.query<{ what: string }>(
    `SELECT conname AS what FROM pg_constraint
       WHERE contype = 'f' AND (conrelid::regclass::text = ANY($1) OR confrelid::regclass::text = ANY($1))
     UNION ALL SELECT tgname FROM pg_trigger
       WHERE NOT tgisinternal AND tgrelid::regclass::text = ANY($1) AND tgname NOT LIKE 'truncate%'
     UNION ALL SELECT s.relname FROM pg_class AS s LEFT JOIN pg_depend AS d ON d.objid = s.oid AND d.deptype IN ('a', 'i')
       WHERE s.relkind = 'S' AND s.relnamespace = 'public'::regnamespace
         AND (d.refobjid IS NULL OR d.refobjid::regclass::text = ANY($1))
     UNION ALL SELECT attname FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
       WHERE (attidentity <> '' OR attgenerated <> '') AND relname = ANY($1)
     UNION ALL SELECT relname FROM pg_class WHERE relpersistence <> 'p' AND relname = ANY($1)`,
    [names],
  )
  expect(rows).toEqual([])
})
