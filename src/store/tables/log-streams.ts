// log_streams: how many entries each stream of a log has, and where the newest are; log_stream_blocks: the indexes in the log of a stream's
// entries, by their numbers, 64 in a row.
import { toHex } from '../../formats/bytes.ts'
import { formatEntry } from '../../formats/log/entry.ts'
import { Heads, type StreamHead } from '../../formats/log/heads.ts'
import { sha256 } from '../sha256.ts'
import { readEntry } from './log-bundles.ts'
import { overRows } from '../postgres/rows.ts'
import { byteaText, type Sql } from '../postgres/sql.ts'
import { undamaged } from '../../formats/log/damaged.ts'

export interface StreamRow extends StreamHead {
  readonly log: number
  /** The indexes of the entries after the last full block. */
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
 * @param size of a tree that is in the log. A stream that has grown since is left out if its indexes were not kept then
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
 * Whether the streams, as of that tree, are those that an entry of kind `heads` states. If they are not, the next numbers that entries get
 * from them would contradict earlier ones.
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

/** The entries of a full block. */
const BLOCK_ENTRIES = 64
/** More than the entries that a log can have in a thousand years. */
const INDEX_BYTES = 6

export interface StreamBlockRow {
  readonly log: number
  /** 16 lowercase hex digits. */
  readonly tag: string
  /** The numbers from 64 · block + 1 on. */
  readonly block: number
  /** As `joinIndexes` makes them, up to that of number 64 · block + 64. */
  readonly indexes: Uint8Array
}

export const insertStreamBlocks = overRows<StreamBlockRow>({
  name: 'log_stream_blocks_insert',
  text: 'INSERT INTO log_stream_blocks ($columns) VALUES $rows',
  columns: {
    log: ['integer', ({ log }) => log],
    tag: ['bytea', ({ tag }) => `\\x${tag}`],
    block: ['bigint', ({ block }) => block],
    indexes: ['bytea', ({ indexes }) => byteaText(packIndexes(indexes))],
  },
})

/**
 * Indexes as a row keeps them: the first in 6 bytes, how many bytes a step to the next one takes, and the steps. In a busy stream that is one
 * byte an entry in place of 6. Fewer than 64, which only a log from before indexes were kept has, stay as they are.
 * @param indexes as `joinIndexes` makes them, in ascending order
 */
export function packIndexes(indexes: Uint8Array): Uint8Array {
  const all = Buffer.from(indexes.buffer, indexes.byteOffset, indexes.length)
  if (all.length !== BLOCK_ENTRIES * INDEX_BYTES) return all
  const indexAt = (i: number) => all.readUIntBE(i * INDEX_BYTES, INDEX_BYTES)
  const steps = Array.from({ length: STEPS }, (_, i) => indexAt(i + 1) - indexAt(i))
  const width = Math.ceil(Math.log2(Math.max(...steps) + 1) / 8)
  const packed = Buffer.allocUnsafe(STEPS_AT + STEPS * width)
  packed.set(all.subarray(0, INDEX_BYTES))
  packed.writeUInt8(width, INDEX_BYTES)
  steps.forEach((step, i) => packed.writeUIntBE(step, STEPS_AT + i * width, width))
  return packed
}

/**
 * @param stored as `packIndexes` makes them, or 6 bytes each as all rows were once: their length is a multiple of 6, which packed steps never
 *   have
 * @returns as `joinIndexes` makes them
 * @throws DamagedLog where they are cut off
 */
export function unpackIndexes(stored: Buffer): Buffer {
  if (stored.length % INDEX_BYTES === 0) return stored
  return undamaged('A block of a stream of the log', () => {
    const width = stored.readUInt8(INDEX_BYTES)
    const indexes = [stored.readUIntBE(0, INDEX_BYTES)]
    for (let at = STEPS_AT; at < stored.length; at += width)
      indexes.push(indexes.at(-1)! + stored.readUIntBE(at, width))
    return joinIndexes(new Uint8Array(0), indexes)
  })
}

const STEPS = BLOCK_ENTRIES - 1
const STEPS_AT = INDEX_BYTES + 1

/** Appends indexes to existing ones. */
export function joinIndexes(before: Uint8Array, indexes: readonly number[]): Buffer {
  const joined = Buffer.allocUnsafe(before.length + indexes.length * INDEX_BYTES)
  joined.set(before)
  indexes.forEach((index, i) => joined.writeUIntBE(index, before.length + i * INDEX_BYTES, INDEX_BYTES))
  return joined
}

/**
 * Cuts the indexes of a stream's newest entries where its blocks end.
 * @param n the number of the last of them
 */
export function cutBlocks(
  n: number,
  indexes: Uint8Array,
): { readonly blocks: readonly Pick<StreamBlockRow, 'block' | 'indexes'>[]; readonly recent: Uint8Array } {
  const blocks: Pick<StreamBlockRow, 'block' | 'indexes'>[] = []
  let end = Math.max(0, indexes.length - (n % BLOCK_ENTRIES) * INDEX_BYTES)
  // Copied, because it stays in memory: a view would keep all indexes of a large append there.
  const recent = new Uint8Array(indexes.subarray(end))
  for (let block = Math.floor(n / BLOCK_ENTRIES) - 1; end > 0; block--) {
    const start = Math.max(0, end - BLOCK_ENTRIES * INDEX_BYTES)
    blocks.push({ block, indexes: indexes.subarray(start, end) })
    end = start
  }
  return { blocks, recent }
}

/**
 * The indexes of entries of a stream.
 * @param stream its row, read in the same snapshot: `n` is the number of the last entry in `recent`
 * @param from the number of the first entry, from 1
 * @param to that of the last, `n` or less
 * @returns undefined for an entry from before indexes were kept
 */
export async function readStreamIndexes(
  sql: Sql,
  { log, tag, n, recent }: Pick<StreamBlockRow, 'log' | 'tag'> & { n: number; recent: Uint8Array },
  { from, to }: { readonly from: number; readonly to: number },
): Promise<(number | undefined)[]> {
  const { rows } = await sql.query<{ block: string; indexes: Buffer }>({
    name: 'log_stream_blocks_read',
    text: `
      SELECT block, indexes FROM log_stream_blocks
      WHERE log = $1::integer AND tag = $2::bytea AND block BETWEEN $3::bigint AND $4::bigint`,
    values: [log, `\\x${tag}`, blockOf(from), blockOf(to)],
  })
  const blocks = new Map(rows.map(({ block, indexes }) => [Number(block), unpackIndexes(indexes)]))
  const newest = { last: n, indexes: Buffer.from(recent) }
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => {
    const full = blocks.get(blockOf(from + i))
    const { last, indexes } =
      full === undefined ? newest : { last: (blockOf(from + i) + 1) * BLOCK_ENTRIES, indexes: full }
    const at = indexes.length - (last - (from + i) + 1) * INDEX_BYTES
    return at < 0 ? undefined : indexes.readUIntBE(at, INDEX_BYTES)
  })
}

/** Indexes of a stream, from the oldest on. */
interface StreamIndexes {
  /** The number of the last entry. */
  readonly last: number
  readonly indexes: Buffer
}

/**
 * The last of these entries that the tree of `size` entries has.
 * @returns undefined where none of them is in it
 */
export function headWithin(
  { last, indexes }: StreamIndexes,
  size: number,
): { readonly n: number; readonly lastIndex: number } | undefined {
  for (let at = indexes.length - INDEX_BYTES, n = last; at >= 0; at -= INDEX_BYTES, n--) {
    const lastIndex = indexes.readUIntBE(at, INDEX_BYTES)
    if (lastIndex < size) return { n, lastIndex }
  }
  return undefined
}

/** Reads the newest full block of each stream with an entry that the tree of `size` entries has; streams without one are left out. */
export async function readBlocksAt(
  sql: Sql,
  { log, tags, size }: { readonly log: number; readonly tags: readonly string[]; readonly size: number },
): Promise<(StreamIndexes & { readonly tag: string })[]> {
  if (tags.length === 0) return []
  const { rows } = await sql.query<{ tag: string; block: string; indexes: Buffer }>({
    name: 'log_stream_blocks_read_at',
    text: `
      SELECT encode(wanted.tag, 'hex') AS tag, found.block, found.indexes
      FROM unnest($2::bytea[]) AS wanted (tag) CROSS JOIN LATERAL (
        SELECT block, indexes FROM log_stream_blocks
        WHERE log = $1::integer AND tag = wanted.tag AND substring(indexes FROM 1 FOR ${INDEX_BYTES}) < $3::bytea
        ORDER BY block DESC LIMIT 1) AS found`,
    values: [log, tags.map((tag) => `\\x${tag}`), byteaText(joinIndexes(new Uint8Array(0), [size]))],
  })
  return rows.map(({ tag, block, indexes }) => ({
    tag,
    last: (Number(block) + 1) * BLOCK_ENTRIES,
    indexes: unpackIndexes(indexes),
  }))
}

const blockOf = (n: number) => Math.floor((n - 1) / BLOCK_ENTRIES)
