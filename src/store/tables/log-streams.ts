// log_streams: how many entries each stream of a log has, and where the newest are.
import { toHex } from '../../formats/bytes.ts'
import { formatEntry } from '../../formats/log/entry.ts'
import { Heads, type StreamHead } from '../../formats/log/heads.ts'
import { sha256 } from '../sha256.ts'
import { readEntry } from './log-bundles.ts'
import { headWithin, readBlocksAt } from './log-stream-blocks.ts'
import { overRows } from '../postgres/rows.ts'
import { byteaText, type Sql } from '../postgres/sql.ts'

export interface StreamRow extends StreamHead {
  readonly log: number
  /** The indexes of the entries after the last full block, see log-stream-blocks.ts. */
  readonly recent: Uint8Array
}

export const upsertStreams = overRows<StreamRow>({
  name: 'log_streams_upsert',
  text: `
    INSERT INTO log_streams ($columns) VALUES $rows
    ON CONFLICT (log, tag) DO UPDATE SET n = excluded.n, last_index = excluded.last_index, recent = excluded.recent`,
  columns: {
    log: ['integer', ({ log }) => log],
    tag: ['bytea', ({ tag }) => `\\x${tag}`],
    n: ['bigint', ({ n }) => n],
    last_index: ['bigint', ({ lastIndex }) => lastIndex],
    recent: ['bytea', ({ recent }) => byteaText(recent)],
  },
})

/** All streams of a log. */
export async function readStreams(sql: Sql, log: number): Promise<StreamRow[]> {
  const { rows } = await sql.query<StoredStream>({
    name: 'log_streams_read',
    text: `SELECT ${COLUMNS} FROM log_streams WHERE log = $1::integer`,
    values: [log],
  })
  return rows.map((row) => rowOf(row, log))
}

/** Undefined where the log has no such stream. */
export async function readStream(
  sql: Sql,
  { log, tag }: { readonly log: number; readonly tag: string },
): Promise<StreamRow | undefined> {
  const { rows } = await sql.query<StoredStream>({
    name: 'log_streams_read_one',
    text: `SELECT ${COLUMNS} FROM log_streams WHERE log = $1::integer AND tag = $2::bytea`,
    values: [log, `\\x${tag}`],
  })
  return rows.map((row) => rowOf(row, log))[0]
}

/**
 * The heads as a checkpoint has them: as of the tree of its first `size` entries, whatever was appended since.
 * @param size of a tree that is in the log. Of streams that have grown since, those whose indexes were not kept then are left out
 * @param since only streams that have grown since the tree had this size, and maybe others
 */
export async function readHeads(
  sql: Sql,
  { log, size, since }: { readonly log: number; readonly size: number; readonly since: number },
): Promise<StreamHead[]> {
  const { rows } = await sql.query<{ tag: string; n: string; last: string; recent: Buffer | null }>({
    name: 'log_streams_read_heads',
    text: `
      SELECT encode(tag, 'hex') AS tag, n, last_index AS last, CASE WHEN last_index >= $2::bigint THEN recent END AS recent
      FROM log_streams WHERE log = $1::integer AND last_index >= $3::bigint`,
    values: [log, size, since],
  })
  const heads: StreamHead[] = []
  const older: string[] = []
  for (const { tag, n, last, recent } of rows) {
    const head =
      recent === null
        ? { n: Number(n), lastIndex: Number(last) }
        : headWithin({ last: Number(n), indexes: recent }, size)
    if (head === undefined) older.push(tag)
    else heads.push({ tag, ...head })
  }
  for (const { tag, ...block } of await readBlocksAt(sql, { log, tags: older, size }))
    heads.push({ tag, ...headWithin(block, size)! })
  return heads
}

/**
 * Whether the streams, as they were then, are those that an entry of kind `heads` states. Where they are not, the next numbers that entries
 * get from them would contradict those before.
 *
 * @param size of the tree that ends with the entry
 */
export async function areStreamsStated(
  sql: Sql,
  { log, size }: { readonly log: number; readonly size: number },
): Promise<boolean> {
  const entry = await readEntry(sql, { log, index: size - 1 })
  const heads = await readHeads(sql, { log, size, since: 0 })
  const hash = toHex(new Heads(heads, sha256).root())
  return entry?.toString('latin1') === formatEntry({ kind: 'heads', hash, streams: [] })
}

const COLUMNS = `encode(tag, 'hex') AS tag, n, last_index AS last, recent`

interface StoredStream {
  tag: string
  n: string
  last: string
  recent: Buffer
}

function rowOf({ n, last, ...row }: StoredStream, log: number): StreamRow {
  return { ...row, log, n: Number(n), lastIndex: Number(last) }
}
