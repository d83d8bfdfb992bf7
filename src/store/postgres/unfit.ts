// Checks whether a database can be used at all, before anything is read from it or written to it.
import { COMPARED_SETTINGS } from './session.ts'
import type { Sql } from './sql.ts'

const VERSION_MIN = 150_000

interface Look {
  readonly version: string
  readonly versionNumber: number
  readonly encoding: string
  readonly isStandby: boolean
  readonly isReadOnly: boolean
  /** The schemas in which names are looked up, the first one first. */
  readonly schemas: readonly string[]
  /** The values of `COMPARED_SETTINGS`, in their order; null where the server does not know the name. */
  readonly settings: readonly (string | null)[]
}

/**
 * @param sql one connection, or a pool
 * @param to.write whether tables are to be written, which a standby refuses
 * @returns a sentence that names DATABASE_URL; undefined where the database can be used
 */
export async function whyUnfit(sql: Sql, to: { readonly write: boolean }): Promise<string | undefined> {
  const { rows } = await sql.query<Look>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::integer AS "versionNumber",
      current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS "isStandby",
      current_setting('transaction_read_only')::boolean AS "isReadOnly", to_json(current_schemas(true)) AS schemas,
      (SELECT json_agg(current_setting(name, true) ORDER BY at) FROM unnest($1::text[]) WITH ORDINALITY AS asked (name, at)) AS settings`,
    [COMPARED_SETTINGS.map(({ name }) => name)],
  )
  return problemOf(rows[0]!, to)
}

function problemOf(look: Look, { write }: { readonly write: boolean }): string | undefined {
  const { version, versionNumber, encoding, isStandby, isReadOnly, schemas } = look
  if (versionNumber < VERSION_MIN)
    return `PostgreSQL ${version} of DATABASE_URL is too old: 15 or newer is needed.`
  if (encoding !== 'UTF8')
    return (
      `The database of DATABASE_URL has the encoding ${encoding}, which cannot hold every text: UTF8 is needed. ` +
      `Make another one: CREATE DATABASE countersign ENCODING 'UTF8' TEMPLATE template0.`
    )
  if (write && isStandby)
    return 'The database of DATABASE_URL is a standby, or still recovers: name the primary, which can be written.'
  if (write && isReadOnly)
    return (
      'The database of DATABASE_URL is read-only: default_transaction_read_only is on for its role, its database or its server, ' +
      'as some hosts set it when a disk is full.'
    )
  const searched = schemas.filter((schema) => !schema.startsWith('pg_temp'))
  if (searched[0] !== 'pg_catalog')
    return `The search_path of DATABASE_URL names ${searched[0]} before pg_catalog, so that its functions would replace those of PostgreSQL: leave pg_catalog out.`
  const at = look.settings.findIndex((value, i) => value !== null && value !== COMPARED_SETTINGS[i]!.value)
  if (at === -1) return undefined
  const { name, value, why } = COMPARED_SETTINGS[at]!
  return (
    `The setting ${name} is '${look.settings[at]}' on connections to DATABASE_URL and must be '${value}' (${why}). ` +
    'A superuser has set it, or a pooler leaves out what is set: set it back on the role (docs/handbook/scaling.md "PgBouncer").'
  )
}
