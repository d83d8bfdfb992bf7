// Brings a database to the newest schema: the first instance to get the lock applies each file of migrations/ once, in order.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { errorText } from '../../formats/text/error-text.ts'
import { sha256Hex } from '../sha256.ts'
import { pinRest, sessionOf } from './session.ts'
import { whyUnfit } from './unfit.ts'

const MIGRATIONS_DIR = join(import.meta.dirname, '..', '..', '..', 'migrations')
// Any constant that nothing else locks: the ASCII of "csgnmigr".
const LOCK = '7166460030604961650'

/**
 * Applies all pending migrations in one transaction and returns their names.
 * @param warn called with a sentence about a database that a newer release has migrated further
 * @throws Error where the database cannot be opened, where a newer release has changed it so that this one must not run on it, and where an
 *   applied file was edited, since installations would then differ
 */
export async function migrate(
  connectionString: string,
  {
    dir = MIGRATIONS_DIR,
    signal,
    warn = () => undefined,
  }: { dir?: string; signal?: AbortSignal; warn?: (sentence: string) => void } = {},
): Promise<string[]> {
  const files = migrationFiles(dir)
  const client = new Client({
    ...sessionOf(connectionString),
    application_name: 'countersign-migrate',
    connectionTimeoutMillis: 5_000,
    // An instance that is cut off while it migrates must not keep the others from starting, nor wait for a reply that never comes.
    idle_in_transaction_session_timeout: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  })
  // A broken connection fails its statement. It also emits this event, which would end the process without a listener.
  client.on('error', () => undefined)
  // Another instance may hold the lock for as long as its migration takes.
  const giveUp = () => void client.end()
  signal?.addEventListener('abort', giveUp)
  try {
    await client.connect()
  } catch (cause) {
    throw new Error(`The database of DATABASE_URL cannot be opened: ${errorText(cause)}`, { cause })
  }
  try {
    await pinRest(client)
    const unfit = await whyUnfit(client, { write: true })
    if (unfit !== undefined) throw new Error(unfit)
    await client.query('BEGIN')
    // Twenty instances that start together queue here; each then reads the commit of the one before it.
    await client.query('SELECT pg_advisory_xact_lock($1::bigint)', [LOCK])
    await refuseOtherSchema(client)
    const made = client.query(`
      CREATE TABLE IF NOT EXISTS countersign_migrations (
        name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`)
    await made.catch((cause: unknown) => {
      throw new Error(
        `The role of DATABASE_URL must be able to make tables in its database: ${errorText(cause)}`,
        { cause },
      )
    })
    // By way of JSON: before its own migration has run, the table has no column `oldest_code`.
    const applied = await client.query<Applied>(
      `SELECT name, sha256, to_jsonb(m) ->> 'oldest_code' AS "oldestCode" FROM countersign_migrations AS m ORDER BY name`,
    )
    for (const row of applied.rows) refuseEdited(row, files)
    const unknown = applied.rows.filter((row) => !files.some((file) => file.name === row.name))
    refuseDowngrade(unknown, files)
    const pending = files.filter((file) => !applied.rows.some((row) => row.name === file.name))
    for (const file of pending) {
      await client.query(file.text).catch((cause: unknown) => {
        throw new Error(`Migration ${file.name} failed: ${errorText(cause)}`, { cause })
      })
      await client.query('INSERT INTO countersign_migrations (name, sha256) VALUES ($1::text, $2::text)', [
        file.name,
        sha256Hex(file.text),
      ])
    }
    for (const { name, text } of pending) {
      const oldestCode = OLDEST_CODE.exec(text)?.[1]
      if (oldestCode === undefined) continue
      await client.query('UPDATE countersign_migrations SET oldest_code = $2::text WHERE name = $1::text', [
        name,
        oldestCode,
      ])
    }
    await client.query('COMMIT')
    if (unknown.length > 0) warn(newerDatabase(unknown))
    return pending.map((file) => file.name)
  } finally {
    signal?.removeEventListener('abort', giveUp)
    await client.end()
  }
}

/** The migrations of this release, in their order. */
export function migrationFiles(dir = MIGRATIONS_DIR): { name: string; text: string }[] {
  return readdirSync(dir)
    .filter((name) => /^\d{4}_[a-z0-9-]+\.sql$/.test(name))
    .toSorted()
    .map((name) => ({ name, text: readFileSync(join(dir, name), 'utf8') }))
}

/** Throws where the tables exist in a schema that the search_path does not name: empty ones would be created and used instead. */
async function refuseOtherSchema(client: Client): Promise<void> {
  const { rows } = await client.query<{ schema: string }>(`
    SELECT relnamespace::regnamespace::text AS schema FROM pg_class
    WHERE relname = 'countersign_migrations' AND relkind = 'r' AND to_regclass('countersign_migrations') IS NULL`)
  const [elsewhere] = rows
  if (elsewhere === undefined) return
  throw new Error(
    `The tables of the database of DATABASE_URL are in the schema ${elsewhere.schema}, which the search_path of its role does not name. ` +
      `Set it: ALTER ROLE … SET search_path = ${elsewhere.schema}.`,
  )
}

interface Applied {
  readonly name: string
  readonly sha256: string
  /** The migration that a release must know to run on this one; null where none is named. */
  readonly oldestCode: string | null
}

/** The line in which a migration states `oldestCode`. */
const OLDEST_CODE = /^-- oldest code: (\d{4}_[a-z0-9-]+\.sql)$/m

/** Throws where a newer release applied migrations (`unknown`) that this release must not run on. */
function refuseDowngrade(unknown: readonly Applied[], files: readonly { name: string }[]): void {
  const { name, oldestCode } =
    unknown.find((row) => row.oldestCode !== null && !files.some((file) => file.name === row.oldestCode)) ??
    {}
  if (name === undefined) return
  throw new Error(
    `This release is too old for the database: ${name}, which a newer release applied, needs one that knows ${oldestCode}. ` +
      'Start the newer release, or restore a backup made before it.',
  )
}

function newerDatabase(unknown: readonly Applied[]): string {
  const names = unknown.map(({ name }) => name).join(', ')
  return (
    `The database is of a newer release than this one, which does not know ${names}. ` +
    'It may run beside the newer one during a rolling restart; what only that one checks is not checked here.'
  )
}

function refuseEdited(row: Applied, files: readonly { name: string; text: string }[]): void {
  const file = files.find((candidate) => candidate.name === row.name)
  // A database ahead of its code: an older instance beside a newer one during a rolling upgrade. It may run.
  if (file === undefined) return
  if (sha256Hex(file.text) !== row.sha256) {
    throw new Error(
      `Migration ${row.name} is not the one that was applied to this database: the file was edited, or the data was made by a ` +
        'version between releases. Restore the file; or export the records with the version that made them, and start with an empty database.',
    )
  }
}
