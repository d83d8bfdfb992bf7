// log_bundles: full bundles of 256 entries, compressed with gzip; log_tail: the entries after the last of them, a row for each append.
import { gunzipSync } from 'node:zlib'
import { undamaged } from '../../formats/log/damaged.ts'
import { bundleOf, decodeBundle, encodeBundle, TILE_WIDTH } from '../../formats/log/tiles.ts'
import { rowsInto, type RowOf } from '../postgres/rows.ts'
import { type Sql, byteaText } from '../postgres/sql.ts'
import type { Statement } from '../postgres/statement-batch.ts'

const columns = {
  log: 'integer',
  n: 'bigint',
  /** Compressed. */
  entries: 'bytea',
} as const
export type BundleRow = RowOf<typeof columns>

export const insertBundles = rowsInto('log_bundles', columns)

/** SQL of a bundle as `entriesOfBundle` takes it. As subqueries, so that each uses its index whatever the planner estimates. */
export const bundleColumns = (log: string, n: string) => `
  (SELECT entries FROM log_bundles WHERE log = ${log} AND n = ${n}) AS whole,
  (SELECT string_agg(entries, ''::bytea ORDER BY start) FROM log_tail
   WHERE log = ${log} AND start >= ${n} * ${TILE_WIDTH} AND start < (${n} + 1) * ${TILE_WIDTH}) AS tail`

/** A bundle as it is sent: a full one is sent as it is stored. */
interface Bundle {
  readonly bytes: Buffer
  readonly encoding: 'gzip' | 'identity'
}

/**
 * The first entries of a bundle, read as of one moment.
 * @param width 1 to 256
 * @returns undefined where there are fewer entries
 */
export async function readEntryBundle(
  sql: Sql,
  { log, n, width }: { readonly log: number; readonly n: number; readonly width: number },
): Promise<Bundle | undefined> {
  const { rows } = await sql.query<{ whole: Buffer | null; tail: Buffer | null }>({
    name: 'log_bundles_read',
    text: `SELECT ${bundleColumns('$1::integer', '$2::bigint')}`,
    values: [log, n],
  })
  const { whole = null, tail = null } = rows[0] ?? {}
  if (whole !== null && width === TILE_WIDTH) return { bytes: whole, encoding: 'gzip' }
  const bytes = whole === null ? tail : unzipped(whole)
  if (bytes === null) return undefined
  const entries = decodeBundle(bytes)
  if (entries.length < width) return undefined
  const first = width === entries.length ? bytes : Buffer.from(encodeBundle(entries.slice(0, width)))
  return { bytes: first, encoding: 'identity' }
}

/** The entry at an index; undefined where there is none. */
export async function readEntry(
  sql: Sql,
  { log, index }: { readonly log: number; readonly index: number },
): Promise<Buffer | undefined> {
  const [entry] = await readEntries(sql, { log, indexes: [index] })
  return entry
}

/**
 * The entries at some indexes, read by one statement and so as of one moment.
 * @returns in the order of the indexes; undefined for one that is not there
 */
export async function readEntries(
  sql: Sql,
  { log, indexes }: { readonly log: number; readonly indexes: readonly number[] },
): Promise<(Buffer | undefined)[]> {
  const { rows } = await sql.query<{ n: string; whole: Buffer | null; tail: Buffer | null }>({
    name: 'log_bundles_read_entries',
    text: `SELECT wanted.n, ${bundleColumns('$1::integer', 'wanted.n')} FROM unnest($2::bigint[]) AS wanted (n)`,
    values: [log, [...new Set(indexes.map(bundleOf))]],
  })
  const bundles = new Map(rows.map((row) => [Number(row.n), entriesOfBundle(row.n, row)]))
  return indexes.map((index) => {
    const entry = bundles.get(bundleOf(index))?.[index % TILE_WIDTH]
    return entry && Buffer.from(entry)
  })
}

/**
 * The entries of a bundle as it is stored: whole and compressed, or the part that the tail has.
 * @throws DamagedLog where they cannot be read
 */
export function entriesOfBundle(
  n: string | number,
  { whole, tail }: { readonly whole: Buffer | null; readonly tail: Buffer | null },
): Uint8Array[] {
  return undamaged(`Bundle ${n} of the log`, () =>
    decodeBundle(whole === null ? (tail ?? Buffer.alloc(0)) : unzipped(whole)),
  )
}

/** Decompresses in one piece, which takes three quarters of the time of several pieces. */
const unzipped = (bundle: Buffer): Buffer => gunzipSync(bundle, { chunkSize: 64 * 1024 })

/** Full bundles from `n` on, uncompressed and in order; those that are not stored are left out. */
export async function readFullBundles(
  sql: Sql,
  { log, n, count }: { readonly log: number; readonly n: number; readonly count: number },
): Promise<{ n: number; entries: Buffer }[]> {
  const { rows } = await sql.query<{ n: string; entries: Buffer }>({
    name: 'log_bundles_read_full',
    text: `
      SELECT n, entries FROM log_bundles
      WHERE log = $1::integer AND n >= $2::bigint AND n < $2::bigint + $3::integer ORDER BY n`,
    values: [log, n, count],
  })
  return rows.map((row) => ({
    n: Number(row.n),
    entries: undamaged(`Bundle ${row.n} of the log`, () => unzipped(row.entries)),
  }))
}

export interface TailRow {
  readonly log: number
  /** The index of the first entry. */
  readonly start: number
  /** As in a bundle. */
  readonly entries: Uint8Array
}

export function insertTail({ log, start, entries }: TailRow): Statement[] {
  return [
    {
      name: 'log_tail_insert',
      text: 'INSERT INTO log_tail (log, start, entries) VALUES ($1::integer, $2::bigint, $3::bytea)',
      rows: [[log, start, byteaText(entries)]],
    },
  ]
}

/** Deletes the rows of bundles that are full: they are in log_bundles. */
export function deleteTailBefore(log: number, end: number): Statement[] {
  return [
    {
      name: 'log_tail_delete',
      text: 'DELETE FROM log_tail WHERE log = $1::integer AND start < $2::bigint',
      rows: [[log, end]],
    },
  ]
}

/** All entries after the last full bundle, as in a bundle; empty where there are none. */
export async function readTail(sql: Sql, log: number): Promise<Buffer> {
  const { rows } = await sql.query<{ entries: Buffer | null }>({
    name: 'log_tail_read',
    text: `SELECT string_agg(entries, ''::bytea ORDER BY start) AS entries FROM log_tail WHERE log = $1::integer`,
    values: [log],
  })
  return rows[0]?.entries ?? Buffer.alloc(0)
}
