// The database may fail to read its own pages: fsck then reads the check again in smaller and smaller parts of its table, until a
// part that cannot be read is isolated and named, and everything else is checked. PostgreSQL's own switches (zero_damaged_pages,
// ignore_checksum_failure) skip nothing here: they would return data that are not there.
import { DatabaseError } from 'pg'
import type { Sql } from '../../store/postgres/sql.ts'
import type { Finding } from './check.ts'

/** How many parts a part that cannot be read whole is cut into. */
const PARTS = 8
/** How long a check may read around a damaged index, by reading other tables whole for each page of its own. */
const WITHOUT_INDEXES_MS_MAX = 60_000

/** Rows are found by index: a damaged row of another table then fails only the rows that name it. */
const BY_INDEX = `SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`
const WITHOUT_INDEXES = `SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off`

/** Reads the part of the table that `from` names, and keeps what it found. Rejects as the database does; then nothing is kept. */
type ReadPart = (from: string) => Promise<void>

/** Damage (class XX) and errors of the server's files (58), unlike a wrong statement or a lost server. */
export function isDamage(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && /^(XX|58)/.test(error.code ?? '')
}

/**
 * Runs `work` so that an error in it leaves the snapshot usable. Settings and cursors that it makes are undone afterwards.
 * @throws what `work` throws
 */
export async function guarded<T>(sql: Sql, work: () => Promise<T>): Promise<T> {
  await sql.query('SAVEPOINT fsck_part')
  try {
    return await work()
  } finally {
    // On a lost connection, the error of `work` says so.
    await sql.query('ROLLBACK TO SAVEPOINT fsck_part; RELEASE SAVEPOINT fsck_part').catch(() => undefined)
  }
}

/**
 * Reads a table part by part, around unreadable parts.
 *
 * @returns the unreadable parts: pages of the table, or rows of it that need a page of another; the whole table where it has no
 *   pages on this server, as a distributed table on the coordinator of Citus
 */
export async function readAround(
  table: string,
  cause: DatabaseError,
  { sql, read }: { sql: Sql; read: ReadPart },
): Promise<Finding[]> {
  const pages = await pagesOf(table, sql)
  if (pages === 0) return [await unreadableTable(table, cause, sql)]
  const key = await keyOf(table, sql)
  const findings: Finding[] = []
  let withoutIndexesMs = 0

  /** Returns undefined, or why the part cannot be read. */
  async function tryPart(where: string, settings: string): Promise<DatabaseError | undefined> {
    try {
      await guarded(sql, async () => {
        await sql.query(settings)
        await read(`(SELECT * FROM ${table} WHERE ${where})`)
      })
      return undefined
    } catch (error) {
      if (isDamage(error)) return error
      throw error
    }
  }

  async function tryWithoutIndexes(where: string): Promise<DatabaseError | undefined> {
    const startedMs = performance.now()
    const error = await tryPart(where, WITHOUT_INDEXES)
    withoutIndexesMs += performance.now() - startedMs
    return error
  }

  async function readPages(first: number, end: number): Promise<void> {
    const where = `ctid >= '(${first},0)'::tid AND ctid < '(${end},0)'::tid`
    const error = await tryPart(where, BY_INDEX)
    if (error === undefined) return
    if (end - first === 1) return readPage(first, where, error)
    const size = Math.ceil((end - first) / PARTS)
    for (let at = first; at < end; at += size) await readPages(at, Math.min(at + size, end))
  }

  async function readPage(page: number, where: string, error: DatabaseError): Promise<void> {
    const damaged = await describeDamage(error, sql)
    if (damaged.isIndex) {
      findings.push({ table: damaged.table, key: damaged.where, problem: 'is damaged: REINDEX it' })
      const other = withoutIndexesMs < WITHOUT_INDEXES_MS_MAX ? await tryWithoutIndexes(where) : error
      if (other === undefined) return
    }
    const rows = await rowsIn(table, where, key, sql)
    if (rows === undefined) {
      const [before, after] = [await neighbour(page, 'before'), await neighbour(page, 'after')]
      findings.push({
        table,
        key: `page ${page}`,
        problem: `rows cannot be read; they were stored after ${before} and before ${after}`,
      })
      return
    }
    for (const { ctid, key: rowKey } of rows) {
      const why = await tryPart(`ctid = '${ctid}'::tid`, BY_INDEX)
      if (why === undefined) continue
      const { text } = await describeDamage(why, sql)
      findings.push({ table, key: rowKey, problem: `cannot be checked: ${text} is damaged` })
    }
  }

  /** The key of the row that stands nearest to a page, as far as pages can be read. */
  async function neighbour(page: number, side: 'before' | 'after'): Promise<string> {
    const step = side === 'before' ? -1 : 1
    for (let at = page + step; at >= 0 && at < pages; at += step) {
      const rows = await rowsIn(table, `ctid >= '(${at},0)'::tid AND ctid < '(${at + 1},0)'::tid`, key, sql)
      const nearest = rows?.at(side === 'before' ? -1 : 0)
      if (nearest !== undefined) return nearest.key
    }
    return side === 'before' ? 'the beginning' : 'the end'
  }

  await readPages(0, pages)
  // Damage met in many pages is reported once.
  return [...new Map(findings.map((one) => [`${one.table} ${one.key}`, one])).values()]
}

/** The finding that a table cannot be read at all. */
export async function unreadableTable(table: string, error: DatabaseError, sql: Sql): Promise<Finding> {
  const { text } = await describeDamage(error, sql)
  return { table, key: '-', problem: `cannot be read: ${text} is damaged` }
}

async function pagesOf(table: string, sql: Sql): Promise<number> {
  const { rows } = await sql.query<{ pages: number }>(
    `SELECT (pg_relation_size('${table}') / current_setting('block_size')::integer)::integer AS pages`,
  )
  return rows[0]?.pages ?? 0
}

/** SQL of a row's primary key as text. */
async function keyOf(table: string, sql: Sql): Promise<string> {
  const { rows } = await sql.query<{ column: string }>(`
    SELECT format('%I', a.attname) AS column
    FROM pg_index AS i, unnest(i.indkey::smallint[]) WITH ORDINALITY AS k (number, place)
    JOIN pg_attribute AS a ON a.attnum = k.number
    WHERE i.indrelid = '${table}'::regclass AND i.indisprimary AND a.attrelid = i.indrelid ORDER BY k.place`)
  return `concat_ws(' ', ${rows.map(({ column }) => column).join(', ')})`
}

interface RowPlace {
  readonly ctid: string
  readonly key: string
}

/** Returns the rows in the order of their places; undefined where they cannot be read. */
async function rowsIn(
  table: string,
  where: string,
  key: string,
  sql: Sql,
): Promise<readonly RowPlace[] | undefined> {
  try {
    return await guarded(sql, async () => {
      const { rows } = await sql.query<RowPlace>(
        `SELECT ctid::text, ${key} AS key FROM ${table} WHERE ${where} ORDER BY ${table}.ctid`,
      )
      return rows
    })
  } catch (error) {
    if (isDamage(error)) return undefined
    throw error
  }
}

interface Damaged {
  /** The damaged table, or the table of the damaged index. */
  readonly table: string
  readonly isIndex: boolean
  /** Within the table. */
  readonly where: string
  /** Where, in words. */
  readonly text: string
}

/** Names the table or index and the page, in place of PostgreSQL's file names. It must not run in an aborted transaction. */
export async function describeDamage(error: DatabaseError, sql: Sql): Promise<Damaged> {
  const { message } = error
  const page = /\bblock (\d+)/.exec(message)?.[1]
  // `invalid page in block 3 of relation "base/16384/16421"`, with a segment's number behind a dot where the table has several.
  const file = /(?:base\/\d+|pg_tblspc\/(\d+)\/[^/"]+\/\d+|global)\/(\d+)/.exec(message)
  const index = /index "([^"]+)"/.exec(message)?.[1]
  const found = await sql.query<{ name: string; kind: string; owner: string | null }>({
    text: `
      SELECT c.relname AS name, c.relkind AS kind,
        coalesce(i.indrelid::regclass, t.oid::regclass)::text AS owner
      FROM pg_class AS c LEFT JOIN pg_index AS i ON i.indexrelid = c.oid LEFT JOIN pg_class AS t ON t.reltoastrelid = c.oid
      WHERE c.oid = coalesce(pg_filenode_relation($1::oid, $2::oid), to_regclass($3::text))`,
    values: [file?.[1] ?? 0, file?.[2] ?? 0, index ?? null],
  })
  const [relation] = found.rows
  if (relation === undefined) return { table: 'database', isIndex: false, where: message, text: message }
  const { name, kind, owner } = relation
  const at = page === undefined ? '' : `page ${page} of `
  if (kind === 'i') {
    const where = `${at}index ${name}`
    return { table: owner ?? name, isIndex: true, where, text: where }
  }
  const table = owner ?? name
  const text = owner === null ? `${at}${name}` : `${at}the long values of ${owner}`
  return { table, isIndex: false, where: text, text }
}
