// A database of its own for a test file, cloned from the migrated template or empty.
import { randomBytes } from 'node:crypto'
import { Client, DatabaseError, Pool } from 'pg'
import { inject } from 'vitest'
import { sessionOf } from '../src/store/postgres/session.ts'
import { until } from './service.ts'

export interface TestDatabase {
  readonly url: string
  /** For looking at what was stored. */
  readonly pool: Pool
  /** Takes the database from under whoever uses it. */
  drop(): Promise<void>
  /** Makes it anew after a drop, as it was at the start, for the service: `pool` is gone for good. */
  recreate(): Promise<void>
}

/** @param template PostgreSQL's `template0` makes an empty database */
export async function createDatabase(template = inject('templateName')): Promise<TestDatabase> {
  const serverUrl = inject('serverUrl')
  // A clone of the template is a database on every node of a cluster, because the template is; an empty one knows no cluster.
  const nodeUrls = template === inject('templateName') ? inject('nodeUrls') : [serverUrl]
  const name = `test_${randomBytes(6).toString('hex')}`
  // FILE_COPY: the default writes a copy of the template to the log as well.
  const onNodes = async (statement: string) => {
    await Promise.all(nodeUrls.map((url) => onServer(url, statement)))
  }
  const create = () => onNodes(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`)
  await create()
  const url = databaseUrl(serverUrl, name)
  // As the pools of the service, for those tests that give it to code of the service. What a test reads does not depend on the server's settings.
  const pool = new Pool({ ...sessionOf(url), max: 2, pipeline: true })
  pool.on('error', () => undefined)
  return {
    url,
    pool,
    async drop() {
      if (!pool.ended) await pool.end()
      await until(() => isDropped(nodeUrls, name), `database ${name} to be dropped`)
    },
    recreate: create,
  }
}

/** Citus connects to a database by itself, and `FORCE` ends what was connected when it looked. */
async function isDropped(nodeUrls: readonly string[], name: string): Promise<boolean> {
  try {
    for (const url of nodeUrls) await onServer(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    return true
  } catch (error) {
    const OBJECT_IN_USE = '55006'
    if (error instanceof DatabaseError && error.code === OBJECT_IN_USE) return false
    throw error
  }
}

/**
 * Ends all connections to a database: whoever is connected to a template is in the way.
 * @returns its name, of which `createDatabase` makes copies
 */
export async function asTemplate({ pool }: Pick<TestDatabase, 'pool'>): Promise<string> {
  const { rows } = await pool.query<{ name: string }>('SELECT current_database() AS name')
  const { name } = rows[0]!
  await onServer(
    inject('serverUrl'),
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
  )
  return name
}

/** Waits for the database to be done with what a killed program had sent: its connections end when that is carried out. */
export async function withoutServices({ pool }: TestDatabase): Promise<void> {
  await until(async () => {
    const { rowCount } = await pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'countersign'`,
    )
    return rowCount === 0
  }, 'the connections of what was killed to end')
}

const EXECUTION_TABLES = [
  'business_transactions',
  'trust_records',
  'verifications',
  'receipts',
  'refusal_records',
]

/** How many rows each table of the execution path holds, and how many intents there are: of one transaction, or of all. */
export async function rowsOf(database: TestDatabase, id?: string): Promise<Record<string, number>> {
  const counts = EXECUTION_TABLES.map(
    (table) =>
      `(SELECT count(*)::integer FROM ${table} WHERE business_transaction_id = $1::uuid OR $1 IS NULL) AS ${table}`,
  )
  counts.splice(
    1,
    0,
    `(SELECT count(execution_authorization)::integer FROM business_transactions WHERE business_transaction_id = $1::uuid OR $1 IS NULL)
     AS execution_intents`,
  )
  const { rows } = await database.pool.query<Record<string, number>>(`SELECT ${counts.join(', ')}`, [id])
  return rows[0] ?? {}
}

/** How many rows every table holds, whatever tables there are, once the evidence log has published all that was stored. */
export async function rowsOfEveryTable(database: TestDatabase): Promise<Record<string, number>> {
  await untilLogRests(database)
  const { rows } = await database.pool.query<{ name: string; rows: number }>(`
    SELECT tablename AS name,
      (xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM %I', tablename), true, true, '')))[1]::text::integer AS rows
    FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('catalogue_entries', 'catalogue_sums')`)
  // The catalogue is no evidence, and is filled behind it at a time of its own.
  return Object.fromEntries(rows.map(({ name, rows: count }) => [name, count]))
}

/** Until everything that was committed is under a checkpoint. */
export async function untilLogRests({ pool }: TestDatabase): Promise<void> {
  await until(async () => {
    const { rows } = await pool.query<{ rests: boolean }>(`
      SELECT NOT EXISTS (SELECT FROM log_queue) AND NOT EXISTS (
        SELECT FROM log_state WHERE size > coalesce((SELECT max(size) FROM log_checkpoints), 0)) AS rests`)
    return rows[0]?.rests
  }, 'the evidence log to rest')
}

/** The connection string of another database on the same server. */
export function databaseUrl(serverUrl: string, name: string): string {
  return serverUrl.replace(/^(postgres(?:ql)?:\/\/[^/]*\/)[^?]*/, `$1${name}`)
}

/** Runs one statement on a connection of its own. */
export async function onServer(url: string, statement: string): Promise<void> {
  const client = new Client(sessionOf(url))
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
