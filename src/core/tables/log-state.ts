// log_state: one row for each log of the database. Who holds the lock of the open one appends to it and signs its checkpoints.
import { randomBytes } from 'node:crypto'
import { joinHashes, splitHashes, type Frontier } from '../log/frontier.ts'
import { byteaText, type Sql } from './sql.ts'
import type { Step } from './statement-batch.ts'

export interface LogState {
  /** From 1: the number in its origin. */
  readonly log: number
  /** `<LOG_ORIGIN>/log/<number>` */
  readonly origin: string
  readonly salt: Uint8Array
  readonly frontier: Frontier
  /** The tree that ends with the newest heads entry. */
  readonly checkpoint: TreeHead
}

export interface TreeHead {
  readonly size: number
  /** Undefined for a log that has had no heads entry yet. */
  readonly root: Uint8Array | undefined
}

/** What a tick looks at before it does anything. */
export interface LogStatus {
  readonly log: number
  readonly origin: string
  readonly size: number
  /** Why the log is frozen; null: it is not. */
  readonly frozen: string | null
  readonly queued: boolean
  /** The tree that ends with the newest heads entry, and the newest checkpoint; 0 where there is none. */
  readonly headedSize: number
  readonly publishedSize: number
  /** Milliseconds since 1970; 0 where there is none. */
  readonly publishedAtMs: number
}

/** The newest log, by one cheap statement. Undefined: none was opened yet. */
export async function readLogStatus(sql: Sql): Promise<LogStatus | undefined> {
  const { rows } = await sql.query<{
    log: number
    origin: string
    size: string
    frozen: string | null
    queued: boolean
    headed: string
    published: string | null
    at: Date | null
  }>({
    name: 'log_status',
    text: `
      SELECT s.log, s.origin, s.size, s.frozen, s.checkpoint_size AS headed, EXISTS (SELECT FROM log_queue) AS queued, c.size AS published,
        c.published_at AS at
      FROM log_state AS s
      LEFT JOIN LATERAL (SELECT size, published_at FROM log_checkpoints WHERE log = s.log ORDER BY size DESC LIMIT 1) AS c ON true
      ORDER BY s.log DESC LIMIT 1`,
  })
  const [row] = rows
  if (row === undefined) return undefined
  const { log, origin, size, frozen, queued, headed, published, at } = row
  return {
    log,
    origin,
    size: Number(size),
    frozen,
    queued,
    headedSize: Number(headed),
    publishedSize: Number(published ?? 0),
    publishedAtMs: at?.getTime() ?? 0,
  }
}

const SALT_BYTES = 32

/**
 * Starts the first log of a database that has none, whichever instance comes first.
 * @param name what stands before `/log/1` in its origin
 * @returns the origin of the newest log
 */
export async function openNewestLog(sql: Sql, name: string): Promise<string> {
  await sql.query({
    text: `INSERT INTO log_state (log, origin, salt) VALUES (1, $1::text, $2::bytea) ON CONFLICT DO NOTHING`,
    values: [`${name}/log/1`, randomBytes(SALT_BYTES)],
  })
  const { rows } = await sql.query<{ origin: string }>(
    'SELECT origin FROM log_state ORDER BY log DESC LIMIT 1',
  )
  if (rows[0] === undefined) throw new Error('log_state has no row')
  return rows[0].origin
}

/**
 * Locks the open log until the transaction ends, without waiting. Read what belongs to it by later statements: this one may have begun
 * before the last holder committed.
 * @returns undefined where another transaction holds it, and where none is open
 */
export async function lockOpenLog(sql: Sql): Promise<LogState | undefined> {
  const { rows } = await sql.query<{
    log: number
    origin: string
    salt: Buffer
    size: string
    peaks: Buffer
    headed: string
    root: Buffer | null
  }>({
    name: 'log_state_lock',
    text: `
      SELECT log, origin, salt, size, peaks, checkpoint_size AS headed, checkpoint_root AS root
      FROM log_state WHERE frozen IS NULL FOR UPDATE SKIP LOCKED`,
  })
  const [row] = rows
  if (row === undefined) return undefined
  const { log, origin, salt, size, peaks, headed, root } = row
  return {
    log,
    origin,
    salt,
    frontier: { size: Number(size), peaks: splitHashes(peaks) },
    checkpoint: { size: Number(headed), root: root ?? undefined },
  }
}

/** Stores the tree after an append. */
export function updateLogState({ log, frontier, checkpoint }: Omit<LogState, 'origin' | 'salt'>): Step[] {
  const { root } = checkpoint
  return [
    {
      name: 'log_state_update',
      text: `
        UPDATE log_state SET size = $2::bigint, peaks = $3::bytea, checkpoint_size = $4::bigint, checkpoint_root = $5::bytea
        WHERE log = $1::integer`,
      rows: [
        [
          log,
          frontier.size,
          byteaText(joinHashes(frontier.peaks)),
          checkpoint.size,
          root === undefined ? null : byteaText(root),
        ],
      ],
    },
  ]
}

/** From now on nothing is appended to the log that is open, or signed for it, by any instance. */
export async function freezeOpenLog(sql: Sql, why: string): Promise<void> {
  await sql.query({
    name: 'log_state_freeze',
    text: 'UPDATE log_state SET frozen = $1::text WHERE frozen IS NULL',
    values: [why],
  })
}
