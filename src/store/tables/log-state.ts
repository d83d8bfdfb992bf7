// log_state: one row for each log of the database. The holder of the open log's lock appends to it and signs its checkpoints.
import { randomBytes } from 'node:crypto'
import { joinHashes, splitHashes, type Frontier } from '../../formats/log/frontier.ts'
import { byteaText, type Sql } from '../postgres/sql.ts'
import type { Statement } from '../postgres/statement-batch.ts'

export interface LogState {
  /** From 1: the number in its origin. */
  readonly log: number
  /** `<LOG_ORIGIN>/log/<number>` */
  readonly origin: string
  readonly salt: Uint8Array
  readonly frontier: Frontier
  /** The tree that ends with the newest heads entry, which the next checkpoint signs. */
  readonly checkpointTree: TreeHead
  /** The statement whose hash its first entry will be: undefined once it has an entry, and for the first log. */
  readonly previous: string | undefined
}

interface TreeHead {
  readonly size: number
  /** Undefined for a log that has had no heads entry yet. */
  readonly root: Uint8Array | undefined
}

/** The state that a tick looks at before it does anything. */
export interface LogStatus {
  readonly log: number
  readonly origin: string
  readonly size: number
  /** Why the log is frozen; null: it is not. */
  readonly frozen: string | null
  readonly queued: boolean
  /** Seconds since the oldest row of the queue was written, by the clock of the database; 0 where the queue is empty. */
  readonly queuedSeconds: number
  /** An estimate of the rows of the queue, by the numbers of the first and the last: rows that were rolled back count too. */
  readonly queuedAbout: number
  /** The log was reopened, and has no entry yet. */
  readonly begins: boolean
  /** The size of the tree that ends with the newest heads entry; 0 where there is none. Its checkpoint may not be published yet. */
  readonly checkpointTreeSize: number
  /** The size of the newest checkpoint; 0 where there is none. */
  readonly publishedSize: number
  /** Milliseconds since 1970; 0 where there is none. */
  readonly publishedAtMs: number
  /** The clock of the database, in milliseconds since 1970. */
  readonly databaseNowMs: number
}

/** The newest log, by one cheap statement. Undefined: none was opened yet. */
export async function readLogStatus(sql: Sql): Promise<LogStatus | undefined> {
  const { rows } = await sql.query<{
    log: number
    origin: string
    size: string
    frozen: string | null
    begins: boolean
    seconds: number | null
    about: string | null
    checkpointTree: string
    published: string | null
    at: Date | null
    now: Date
  }>({
    name: 'log_status',
    text: `
      SELECT s.log, s.origin, s.size, s.frozen, s.checkpoint_size AS "checkpointTree", s.size = 0 AND s.previous IS NOT NULL AS begins,
        extract(epoch FROM clock_timestamp() - oldest.queued_at)::float8 AS seconds, newest.seq - oldest.seq + 1 AS about,
        c.size AS published, c.published_at AS at, clock_timestamp() AS now
      FROM (SELECT log, origin, size, frozen, checkpoint_size, previous FROM log_state ORDER BY log DESC LIMIT 1) AS s
      LEFT JOIN LATERAL (SELECT size, published_at FROM log_checkpoints WHERE log = s.log ORDER BY size DESC LIMIT 1) AS c ON true
      LEFT JOIN (SELECT seq, queued_at FROM log_queue ORDER BY seq LIMIT 1) AS oldest ON true
      LEFT JOIN (SELECT seq FROM log_queue ORDER BY seq DESC LIMIT 1) AS newest ON true`,
  })
  const [row] = rows
  if (row === undefined) return undefined
  const { log, origin, size, frozen, begins, seconds, about, checkpointTree, published, at, now } = row
  return {
    log,
    origin,
    size: Number(size),
    frozen,
    queued: seconds !== null,
    queuedSeconds: Math.max(seconds ?? 0, 0),
    queuedAbout: Number(about ?? 0),
    begins,
    checkpointTreeSize: Number(checkpointTree),
    publishedSize: Number(published ?? 0),
    publishedAtMs: at?.getTime() ?? 0,
    databaseNowMs: now.getTime(),
  }
}

export interface OpenedLog {
  readonly log: number
  readonly origin: string
  readonly openedAt: Date
  /** As in `LogState`. */
  readonly salt: Uint8Array
  /** The statement whose SHA-256 its first entry is; null for the first log. */
  readonly previous: string | null
  /** Why it is frozen; null: it is not. */
  readonly frozen: string | null
  /** How many entries it has, signed or not. */
  readonly size: number
}

/** All logs of the database, from the first. */
export async function readLogs(sql: Sql): Promise<OpenedLog[]> {
  const { rows } = await sql.query<Omit<OpenedLog, 'size'> & { size: string }>({
    name: 'log_state_list',
    text: 'SELECT log, origin, opened_at AS "openedAt", salt, previous, frozen, size FROM log_state ORDER BY log',
  })
  return rows.map((row) => ({ ...row, size: Number(row.size) }))
}

/** A log by its name. */
export type NamedLog = Pick<OpenedLog, 'log' | 'origin' | 'salt'>

/**
 * @param log its number; null: the newest
 * @returns undefined where there is none
 */
export async function readLog(sql: Sql, log: number | null): Promise<NamedLog | undefined> {
  const { rows } = await sql.query<NamedLog>({
    name: 'log_state_read',
    text: `
      SELECT log, origin, salt FROM log_state WHERE $1::integer IS NULL OR log = $1::integer ORDER BY log DESC LIMIT 1`,
    values: [log],
  })
  return rows[0]
}

const SALT_BYTES = 32

/**
 * Starts the first log of a database that has none, whichever instance comes first.
 * @param name the part before `/log/1` in its origin
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
 * Locks the open log until the transaction ends, without waiting. Read its other rows by later statements: this one may have begun
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
    checkpointTree: string
    root: Buffer | null
    previous: string | null
  }>({
    name: 'log_state_lock',
    text: `
      SELECT log, origin, salt, size, peaks, checkpoint_size AS "checkpointTree", checkpoint_root AS root,
        CASE WHEN size = 0 THEN previous END AS previous
      FROM log_state WHERE frozen IS NULL FOR UPDATE SKIP LOCKED`,
  })
  const [row] = rows
  if (row === undefined) return undefined
  const { log, origin, salt, size, peaks, checkpointTree, root, previous } = row
  return {
    log,
    origin,
    salt,
    frontier: { size: Number(size), peaks: splitHashes(peaks) },
    checkpointTree: { size: Number(checkpointTree), root: root ?? undefined },
    previous: previous ?? undefined,
  }
}

/** Stores the tree after an append. */
export function updateLogState({
  log,
  frontier,
  checkpointTree: head,
}: Pick<LogState, 'log' | 'frontier' | 'checkpointTree'>): Statement[] {
  const { root } = head
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
          head.size,
          root === undefined ? null : byteaText(root),
        ],
      ],
    },
  ]
}

/**
 * Freezes a log: from now on no instance appends to it, or signs for it. By its number: a late discovery of its damage must not freeze the log
 * that was opened after it.
 */
export async function freezeLog(
  sql: Sql,
  { log, why }: { readonly log: number; readonly why: string },
): Promise<void> {
  await sql.query({
    name: 'log_state_freeze',
    text: 'UPDATE log_state SET frozen = $2::text WHERE log = $1::integer AND frozen IS NULL',
    values: [log, why],
  })
}

export interface NewestLog {
  readonly log: number
  readonly origin: string
  readonly size: number
  /** As `LogState` has them; they may be damaged. */
  readonly peaks: Uint8Array
  readonly frozen: string | null
}

/** Locks the newest log, frozen or not, until the transaction ends. Undefined: there is none. */
export async function lockNewestLog(sql: Sql): Promise<NewestLog | undefined> {
  const { rows } = await sql.query<Omit<NewestLog, 'size'> & { size: string }>(
    'SELECT log, origin, size, peaks, frozen FROM log_state ORDER BY log DESC LIMIT 1 FOR UPDATE',
  )
  return rows.map((row) => ({ ...row, size: Number(row.size) }))[0]
}

/** Opens a log after another one. @param previous see `previousText` */
export async function insertLog(
  sql: Sql,
  { log, origin, previous }: { readonly log: number; readonly origin: string; readonly previous: string },
): Promise<void> {
  await sql.query({
    text: `
      INSERT INTO log_state (log, origin, salt, previous) VALUES ($1::integer, $2::text, $3::bytea, $4::text)`,
    values: [log, origin, randomBytes(SALT_BYTES), previous],
  })
}
