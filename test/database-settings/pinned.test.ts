// Every setting that a role or a database can change for a session is pinned, looked at, or harmless for a reason that stands here.
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { COMPARED_SETTINGS, PINNED_SETTINGS } from '../../src/store/postgres/session.ts'
import { openPool } from '../../src/store/postgres/sql.ts'
import { createDatabase, type TestDatabase } from '../database.ts'

/** Names and categories of pg_settings, by their beginning, and why no value of these changes a result. */
const HARMLESS: Readonly<Record<string, string>> = {
  'Query Tuning': 'how a plan is chosen, not what it returns',
  'Resource Usage': 'how much memory, disk and processes a statement takes',
  'Reporting and Logging': "what the server's own log says",
  Statistics: 'what the server counts',
  Vacuuming: 'when the server cleans up',
  'Write-Ahead Log': 'how commits are written; synchronous_commit is set after connecting',
  'Connections and Authentication': 'how a connection is opened and kept',
  'Replication / Sending Servers': 'for replication connections',
  'Client Connection Defaults / Shared Library Preloading':
    'code that an administrator loads into the server',
  vacuum_: 'when the server cleans up',
  deadlock_timeout: 'when a deadlock is looked for; it is answered as before',
  dynamic_library_path: 'no statement of ours loads a library',
  extension_destdir: 'no statement of ours makes an extension',
  extension_control_path: 'no statement of ours makes an extension',
  icu_validation_level: 'no statement of ours makes a collation',
  lc_messages: 'the words of errors and notices, which people read; errors are told apart by SQLSTATE',
  default_text_search_config: 'no text search',
  default_tablespace: 'where tables are kept',
  temp_tablespaces: 'where temporary files are kept',
  default_toast_compression: 'how large values are kept',
  default_transaction_deferrable: 'only for serializable transactions that read',
  default_transaction_read_only: 'refused at the start, see unfit.test.ts; later every write answers 503',
  transaction_isolation: 'of the transaction under way',
  transaction_deferrable: 'of the transaction under way',
  transaction_read_only: 'of the transaction under way',
  search_path: 'where the tables are; looked at at the start, see unfit.test.ts',
  row_security: 'the tables have no row policies',
  restrict_nonsystem_relation_kind: 'there are no views and no foreign tables',
  gin_pending_list_limit: 'how an index is kept',
  event_triggers: 'there are none of ours',
  check_function_bodies: 'when a mistake in a function is found',
  client_min_messages: 'notices, which nobody reads',
  createrole_self_grant: 'no statement of ours makes a role',
  xmlbinary: 'no bytes are made XML',
  composite_type_mismatch: 'no column is of a composite type',
  allow_in_place_tablespaces: 'no statement of ours makes a tablespace',
  allow_system_table_mods: 'no statement of ours changes system tables',
  backtrace_functions: "what the server's own log says",
  debug_discard_caches: 'slower, with the same results',
  debug_logical_replication_streaming: 'for replication',
  logical_replication_mode: 'for replication',
  debug_parallel_query: 'slower, with the same results',
  force_parallel_mode: 'slower, with the same results',
  ignore_checksum_failure: 'a superuser who repairs a damaged server',
  zero_damaged_pages: 'a superuser who repairs a damaged server',
  ignore_system_indexes: 'a superuser who repairs a damaged server',
  jit_debugging_support: 'how compiled code is shown',
  jit_dump_bitcode: 'how compiled code is shown',
  jit_profiling_support: 'how compiled code is shown',
  jit_expressions: 'nothing is compiled',
  jit_tuple_deforming: 'nothing is compiled',
  post_auth_delay: 'a pause when connecting',
  trace_notify: "what the server's own log says",
  trace_sort: "what the server's own log says",
  wal_consistency_checking: 'a check of the write-ahead log',
  synchronize_seqscans: 'the order of rows that no ORDER BY names, which nothing relies on',
  escape_string_warning: 'a warning',
  backslash_quote: 'only where a backslash escapes in literals',
  lo_compat_privileges: 'there are no large objects',
}

/** Set by `pinRest`. */
const AFTER_CONNECTING = ['synchronous_commit', 'transaction_timeout']

let database: TestDatabase
let pool: Pool
beforeAll(async () => {
  database = await createDatabase()
  pool = openPool(database.url, 1)
})
afterAll(async () => {
  await pool.end()
  await database.drop()
})

interface Row {
  readonly name: string
  readonly category: string
  readonly context: string
  readonly setting: string
  readonly extension: boolean
}

async function settings(): Promise<Row[]> {
  const { rows } = await pool.query<Row>(
    `SELECT name, category, context, current_setting(name) AS setting, strpos(name, '.') > 0 AS extension FROM pg_settings
     WHERE context IN ('user', 'superuser', 'backend', 'superuser-backend')`,
  )
  return rows
}

describe('settings of a session', () => {
  test('each is pinned, looked at, or harmless', async () => {
    const settled = new Set([
      ...[...PINNED_SETTINGS, ...COMPARED_SETTINGS].map(({ name }) => name),
      ...AFTER_CONNECTING,
    ])
    const open = (await settings())
      .filter(({ extension, name }) => !extension && !settled.has(name))
      .filter(
        ({ name, category }) =>
          !Object.keys(HARMLESS).some((key) => category.startsWith(key) || name.startsWith(key)),
      )
    expect(open.map(({ name, category }) => `${name} (${category})`)).toEqual([])
  })

  test('none that is pinned is called harmless by its name too', () => {
    const pinned = [...PINNED_SETTINGS, ...COMPARED_SETTINGS].map(({ name }) => name)
    expect([...pinned, ...AFTER_CONNECTING].filter((name) => name in HARMLESS)).toEqual([])
  })

  test('a pinned one has its value on a new connection, and that of the URL does not change it', async () => {
    const hostile = encodeURIComponent(
      '-c DateStyle=German -c default_transaction_isolation=serializable -c array_nulls=off',
    )
    for (const url of [
      database.url,
      `${database.url}${database.url.includes('?') ? '&' : '?'}options=${hostile}`,
    ]) {
      const one = openPool(url, 1)
      const { rows } = await one.query<{ name: string; value: string }>(
        'SELECT name, current_setting(name, true) AS value FROM unnest($1::text[]) AS asked (name)',
        [COMPARED_SETTINGS.map(({ name }) => name)],
      )
      await one.end()
      expect(rows).toEqual(COMPARED_SETTINGS.map(({ name, value }) => ({ name, value })))
    }
  })
})
