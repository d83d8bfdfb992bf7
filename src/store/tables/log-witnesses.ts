// log_witnesses: the witnesses of the evidence log. Only the instance that moves `due_at` on asks a witness, so that no two ask at once.
import type { CheckpointRow } from './log-checkpoints.ts'
import { FAILED_AGAIN, LEASE, pauseSeconds } from './due.ts'
import type { Sql } from '../postgres/sql.ts'

/**
 * A witness is asked at most once in this many seconds, however often the log publishes. The times are multiples of it, the same for every
 * witness: witnesses that are asked together cosign one checkpoint, which a quorum needs.
 */
const ASK_EVERY_SECONDS = 5

/** SQL: the next of the common times after so many seconds. */
const nextTime = (afterSeconds: string) =>
  `date_bin('${ASK_EVERY_SECONDS} seconds', now() + ${afterSeconds} * interval '1 second', '2000-01-01 00:00:00Z') + interval '${ASK_EVERY_SECONDS} seconds'`

/** A witness that is to be asked now. */
interface DueWitness {
  readonly url: string
  /** The size of the tree that it has, as far as is known; 0: none. */
  readonly size: number
}

/** The witnesses that are to be asked now, all for one checkpoint. */
export interface TakenWitnesses {
  /** The newest checkpoint. */
  readonly checkpoint: CheckpointRow
  readonly due: readonly DueWitness[]
}

/** Adds the witnesses that are new, and forgets those that are no longer of the policy. */
export async function setWitnesses(sql: Sql, urls: readonly string[]): Promise<void> {
  await sql.query(
    `WITH gone AS (DELETE FROM log_witnesses WHERE url <> ALL ($1::text[]))
     INSERT INTO log_witnesses (url) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`,
    [urls],
  )
}

/**
 * Takes the witnesses that are due and have not cosigned the newest checkpoint as it was published last.
 * @returns that checkpoint and the witnesses to ask; undefined without any
 */
export async function takeDueWitnesses(
  sql: Sql,
  urls: readonly string[],
): Promise<TakenWitnesses | undefined> {
  const { rows } = await sql.query<{
    url: string
    known: string
    log: number
    size: string
    note: string
    at: Date
  }>({
    name: 'log_witnesses_take_due',
    text: `
      UPDATE log_witnesses AS w
      SET due_at = now() + ${LEASE}, log = newest.log, size = CASE WHEN w.log = newest.log THEN w.size ELSE 0 END
      FROM (
        SELECT log, size, note, published_at FROM log_checkpoints
        WHERE log = (SELECT max(log) FROM log_state) ORDER BY size DESC LIMIT 1
      ) AS newest
      WHERE w.url = ANY ($1::text[]) AND w.due_at <= now() AND w.published_at IS DISTINCT FROM newest.published_at
      RETURNING w.url, w.size AS known, newest.log, newest.size, newest.note, newest.published_at AS at`,
    values: [urls],
  })
  const [row] = rows
  if (row === undefined) return undefined
  return {
    checkpoint: { log: row.log, size: Number(row.size), note: row.note, publishedAtMs: row.at.getTime() },
    due: rows.map(({ url, known }) => ({ url, size: Number(known) })),
  }
}

/** Notes that a witness has cosigned a checkpoint. */
export async function noteCosigned(
  sql: Sql,
  url: string,
  { log, size, publishedAtMs }: CheckpointRow,
): Promise<void> {
  await sql.query({
    name: 'log_witnesses_cosigned',
    text: `
      UPDATE log_witnesses
      SET size = $3::bigint, published_at = $4::timestamptz, due_at = ${nextTime('0')}, failures = 0, failing_since = NULL, problem = NULL
      WHERE url = $1::text AND log = $2::integer`,
    values: [url, log, size, new Date(publishedAtMs).toISOString()],
  })
}

/**
 * Notes that a witness has not cosigned.
 * @param failed.size of the tree that it has, where it said so
 * @param failed.problem a sentence for the operator
 * @param failed.waitSeconds the pause that it asked for
 */
export async function noteNotCosigned(
  sql: Sql,
  url: string,
  {
    log,
    size,
    problem,
    waitSeconds,
  }: {
    readonly log: number
    readonly size: number
    readonly problem: string
    readonly waitSeconds: number
  },
): Promise<void> {
  await sql.query({
    name: 'log_witnesses_not_cosigned',
    text: `
      UPDATE log_witnesses
      SET size = $3::bigint, ${FAILED_AGAIN}, problem = $4::text,
        due_at = ${nextTime(pauseSeconds({ max: 300, asked: '$5::integer' }))}
      WHERE url = $1::text AND log = $2::integer`,
    values: [url, log, size, problem, waitSeconds],
  })
}

export interface WitnessStatus {
  readonly url: string
  /** When the newest checkpoint that it cosigned was published, milliseconds since 1970; undefined: it has cosigned none. */
  readonly cosignedMs: number | undefined
  /** Since when every request to it has failed, and why; undefined: the last one has not. */
  readonly failing: { readonly sinceMs: number; readonly problem: string } | undefined
}

export async function readWitnesses(sql: Sql): Promise<WitnessStatus[]> {
  const { rows } = await sql.query<{
    url: string
    at: Date | null
    since: Date | null
    problem: string | null
  }>({
    name: 'log_witnesses_read',
    text: 'SELECT url, published_at AS at, failing_since AS since, problem FROM log_witnesses ORDER BY url',
  })
  return rows.map(({ url, at, since, problem }) => ({
    url,
    cosignedMs: at?.getTime(),
    failing: since === null ? undefined : { sinceMs: since.getTime(), problem: problem ?? '' },
  }))
}
