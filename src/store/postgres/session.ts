// The settings that every connection of ours makes for itself. A setting of the role, the database or the server (ALTER ROLE … SET, ALTER DATABASE … SET,
// postgresql.conf) must not change a result: a database whose DateStyle is German once made sound rows look forged.
import type { ClientBase } from 'pg'

interface PinnedSetting {
  readonly name: string
  /** As `current_setting` shows it. */
  readonly value: string
  /** The result that another value would change. */
  readonly why: string
}

/**
 * Sent in the start packet, and set again where the packet's options did not reach the server. Some are not pinned: `search_path`, which says where
 * the tables are; `default_transaction_read_only`, by which operators and hosts protect a full disk; and those that
 * test/database-settings/pinned.test.ts lists as harmless. `whyUnfit` checks the first two.
 */
export const PINNED_SETTINGS: readonly PinnedSetting[] = [
  { name: 'DateStyle', value: 'ISO, MDY', why: 'the text of times, of which the driver reads ISO alone' },
  { name: 'IntervalStyle', value: 'postgres', why: 'the text of intervals' },
  { name: 'TimeZone', value: 'UTC', why: 'times without a zone, and the calendar day of a time' },
  { name: 'timezone_abbreviations', value: 'Default', why: 'how abbreviated time zones are read' },
  { name: 'bytea_output', value: 'hex', why: 'the text of bytes' },
  { name: 'extra_float_digits', value: '1', why: 'floating point numbers would be rounded' },
  { name: 'lc_numeric', value: 'C', why: 'the decimal point and the digit groups of to_char' },
  { name: 'lc_time', value: 'C', why: 'the names of months and days of to_char' },
  { name: 'lc_monetary', value: 'C', why: 'the text of amounts' },
  { name: 'standard_conforming_strings', value: 'on', why: 'a backslash in a literal would escape' },
  { name: 'array_nulls', value: 'on', why: 'NULL in an array parameter would be the text "NULL"' },
  { name: 'transform_null_equals', value: 'off', why: '= NULL would mean IS NULL' },
  {
    name: 'quote_all_identifiers',
    value: 'off',
    why: 'names that are read from the catalog would be quoted',
  },
  { name: 'xmloption', value: 'content', why: 'which text is taken for XML' },
  { name: 'gin_fuzzy_search_limit', value: '0', why: 'an index would return a random part of the rows' },
  { name: 'plpgsql.extra_errors', value: 'none', why: 'more statements of a function would fail' },
  { name: 'exit_on_error', value: 'off', why: 'a duplicate id would end the connection' },
  {
    name: 'default_transaction_isolation',
    value: 'read committed',
    why: 'a statement must see what was committed before it; a stricter level would refuse executions',
  },
  { name: 'default_table_access_method', value: 'heap', why: 'tables of another kind may not be updated' },
  // Each pool replaces these with its own limits; a migration may take as long as it needs.
  { name: 'statement_timeout', value: '0', why: 'a short one would cancel sound statements' },
  { name: 'lock_timeout', value: '0', why: 'likewise' },
  {
    name: 'idle_in_transaction_session_timeout',
    value: '0',
    why: 'a short one would end sound transactions',
  },
  { name: 'idle_session_timeout', value: '0', why: 'a short one would end connections that wait in a pool' },
  // A prepared statement keeps its plan: one made while the table was empty reads all of it until ANALYZE has run. Without sequential scans
  // unindexed statements look so dear that PostgreSQL before version 18 would compile them at each execution.
  { name: 'enable_seqscan', value: 'off', why: 'plans that are made for an empty table' },
  { name: 'jit', value: 'off', why: 'compilation at each execution' },
  // A read takes only one core from executions. Starting parallel processes also takes longer than they save over some 100,000 rows.
  {
    name: 'max_parallel_workers_per_gather',
    value: '0',
    why: 'one reader would take several cores from those who execute',
  },
]

/** Settings that change plans and no result: `DATABASE_URL?options=…` may change them. */
const OF_PLANS = new Set(['enable_seqscan', 'jit', 'max_parallel_workers_per_gather'])

/** Limits that each pool sets for itself, or whose absence only lets a statement take longer. */
const TIME_LIMITS = new Set([
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'idle_session_timeout',
])

const optionsOf = (settings: readonly PinnedSetting[]): string =>
  settings.map(({ name, value }) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`).join(' ')

/** Encodes only spaces: where the URL has a raw space, the driver decodes encoded spaces and no other character. */
const encoded = (options: string): string => options.replaceAll(' ', '%20')

const PLAN_OPTIONS = optionsOf(PINNED_SETTINGS.filter(({ name }) => OF_PLANS.has(name)))
const RESULT_OPTIONS = optionsOf(PINNED_SETTINGS.filter(({ name }) => !OF_PLANS.has(name)))

/** How to reach the database, for a pool or a client. */
export interface Session {
  readonly connectionString: string
  readonly options: string
}

/**
 * A connection string with our settings. `DATABASE_URL?options=…`, which the driver would use in place of `options`, may add settings and change
 * plans. Our settings of results come last, because the last value of a name counts.
 */
export function sessionOf(connectionString: string): Session {
  return {
    connectionString: connectionString.replace(
      /([?&]options=)([^&]*)/,
      (_all, name: string, given: string) =>
        `${name}${encoded(PLAN_OPTIONS)}%20${given}%20${encoded(RESULT_OPTIONS)}`,
    ),
    options: `${PLAN_OPTIONS} ${RESULT_OPTIONS}`,
  }
}

const OF_RESULTS = PINNED_SETTINGS.filter(({ name }) => !OF_PLANS.has(name) && !TIME_LIMITS.has(name))

/** Settings that a start packet cannot hold. */
const SET_LATER: readonly (PinnedSetting & { readonly insteadOf?: string })[] = [
  // PostgreSQL before version 17 does not know it, and would refuse the packet.
  { name: 'transaction_timeout', value: '0', why: 'a short one would end sound transactions' },
  // A stricter value than `on` stays.
  {
    name: 'synchronous_commit',
    value: 'on',
    insteadOf: 'off',
    why: 'a crash of the server would lose executions that callers were told of',
  },
]

/** Sets nothing on most connections: the packet has set everything, unless a pooler has dropped the options. */
const AFTER_CONNECTING = `
  SELECT set_config(name, value, false)
  FROM (VALUES ${[...OF_RESULTS, ...SET_LATER].map(rowOf).join(', ')}) AS pinned (name, value, instead_of)
  WHERE current_setting(name, true) <> value AND current_setting(name, true) = coalesce(instead_of, current_setting(name, true))`

function rowOf({ name, value, insteadOf }: (typeof SET_LATER)[number]): string {
  return `('${name}', '${value}', ${insteadOf === undefined ? 'NULL' : `'${insteadOf}'`})`
}

/** Sets the missing settings on a new connection, before anything else runs on it. */
export async function pinRest(client: ClientBase): Promise<void> {
  await client.query(AFTER_CONNECTING)
}

/** The settings that a connection must have in the end. Only a superuser and the driver change the last two, so they can only be checked. */
export const COMPARED_SETTINGS: readonly PinnedSetting[] = [
  ...OF_RESULTS,
  { name: 'session_replication_role', value: 'origin', why: 'triggers and references would not be checked' },
  { name: 'client_encoding', value: 'UTF8', why: 'the driver reads UTF-8 alone' },
]
